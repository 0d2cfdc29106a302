"""Publishes a consistent, read-only copy of the database by atomic rename. The service and the rebuild import it.

A child process copies: this one must never open its own database file beside DuckDB, since closing any descriptor
of it would drop the lock, and another writer could come in.
"""

import logging
import subprocess
import sys
import time
from pathlib import Path

from .store import Store

EVERY_S = 1.0
"""At most so often, however little is new: each time costs as much as thousands of records."""
SHARE = 20
"""While records keep coming, publishing takes at most about one twentieth of the time."""

_COPY = """
import os, shutil, sys
source, target = sys.argv[1:]
shutil.copyfile(source, target)
with open(target, "rb+") as copy:
    os.fsync(copy.fileno())
"""
_logger = logging.getLogger(__name__)


class Publisher:
    """Decides when to publish, and does it."""

    def __init__(self, store: Store, published: Path) -> None:
        """Publish what `store` holds as the file `published`."""
        self._store = store
        self._published = published
        self._dirty = True
        self._idle_from = self._busy_from = 0.0

    def note(self, *, changed: bool) -> None:
        """Tell that something was committed."""
        self._dirty = self._dirty or changed

    def publish_when_due(self, *, idle: bool) -> bool:
        """Publish what is new if the last time is long enough ago; longer while records keep coming."""
        due = time.monotonic() >= (self._idle_from if idle else self._busy_from)
        return due and self.publish_rest()

    def publish_rest(self) -> bool:
        """Publish what is new, whenever the last time was."""
        return self._dirty and self.publish()

    def publish(self) -> bool:
        """Publish now; false, and a warning, if it could not be written (a full disk): the old copy stays."""
        began = time.monotonic()
        try:
            self._store.checkpoint()
            copy_whole(self._store.path, self._published)
        except (OSError, subprocess.SubprocessError):
            _logger.warning("the views could not be published at %s; the last copy stays", self._published)
            return False
        finally:
            ended = time.monotonic()
            self._idle_from = ended + EVERY_S
            self._busy_from = ended + max(EVERY_S, SHARE * (ended - began))
        self._dirty = False
        return True


def copy_whole(source: Path, target: Path) -> None:
    """Copy a database file that nobody writes to meanwhile; `target` has the old or the new bytes, never a part.

    Raises OSError or subprocess.SubprocessError, and leaves `target` as it was.
    """
    partial = target.with_name(target.name + ".partial")
    copy_by_child(source, partial)
    partial.replace(target)


def copy_by_child(source: Path, target: Path) -> None:
    """Copy a file without opening it in this process; Ctrl-C in the terminal does not reach the child."""
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", _COPY, str(source), str(target)],
        check=True,
        capture_output=True,
        start_new_session=True,
    )
