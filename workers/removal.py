"""Removes what a command left, whatever rights and depth it gave its folders. Only this role imports it."""

import contextlib
import logging
import os
import shutil
import subprocess
from pathlib import Path

log = logging.getLogger("remit.worker")


def remove(path: Path) -> None:
    """Remove a file, link or folder with all below it, where there is one; a warning names what stays."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except (OSError, RecursionError):  # read-only folders, as of a module cache; folders in folders by the thousand
        _remove_all_the_same(path)
    if os.path.lexists(path):
        log.warning("what an attempt left can't be removed, and stays: %s", path)


def _remove_all_the_same(path: Path) -> None:
    _command("chmod", "u+rwx", "--", str(path.parent))
    if path.is_dir() and not path.is_symlink():
        _command("chmod", "-R", "u+rwX", "--", str(path))
    _command("rm", "-rf", "--", str(path))


def _command(*argv: str) -> None:
    with contextlib.suppress(OSError):
        subprocess.run(argv, check=False, capture_output=True)
