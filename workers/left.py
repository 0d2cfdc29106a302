"""Opens what a handler left: plain files alone, without waiting.

It may have put a pipe, a device or a link there: the runner waits at none, and follows none, since it may reach what
the handler may not. Only this role imports it.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """The open file and what is known of it; raises OSError where there is none, or one that is no plain file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "no plain file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file, about
    finally:
        os.close(descriptor)


def read_left(path: Path, most: int) -> bytes | None:
    """Its first `most` bytes; None where there is no plain file that can be read."""
    try:
        with opened(path) as (file, _):
            return file.read(most)
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None
