"""Runs git by argument lists, never a shell. Only this role imports it."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from remit.errors import WorkspaceError

TIMEOUT_S = 120
_FOREIGN = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
)  # fmt: skip
_HARMLESS = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "core.fsmonitor=false")
# Refs as files: the runner reads those of a workspace itself.
_ALWAYS = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_DEFAULT_REF_FORMAT": "files"}


def git(folder: Path, *words: str, stdin: bytes | None = None, variables: Mapping[str, str] | None = None) -> bytes:
    """What `git words` in a folder prints; raises WorkspaceError that names the command and the last line of its fault.

    Hooks and other commands that a repository's own files could name are switched off.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    environment |= _ALWAYS | dict(variables or {})
    try:
        done = subprocess.run(
            ["git", *_HARMLESS, *words],  # noqa: S607 - git is found on the PATH, as for the user
            cwd=folder,
            env=environment,
            input=b"" if stdin is None else stdin,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkspaceError(f"git {words[0]}: {type(error).__name__}") from None
    if done.returncode != 0:
        raise WorkspaceError(f"git {words[0]}: {_last_line(done.stderr)}")
    return done.stdout


def line(folder: Path, *words: str) -> str:
    """What a git command prints, as one stripped text."""
    return git(folder, *words).decode(errors="replace").strip()


def _last_line(text: bytes) -> str:
    lines = [each for each in text.decode(errors="replace").splitlines() if each.strip()]
    return lines[-1][:300] if lines else "failed without a word"
