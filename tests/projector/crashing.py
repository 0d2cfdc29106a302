"""A projector process that kills itself: `crashing.py DATABASE SEEDS STATEMENT` dies at that SQL statement, or ends.

It is run by the crash test as a process of its own; the log is made anew from the seeds, the same each time.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from projector import store
from tests.projector.driving import project
from tests.projector.histories import mixed_log

BATCH = 7


class Deadly:
    """A connection that dies, as by kill -9, just before or just after its nth statement."""

    def __init__(self, connection: Any, statement: int) -> None:
        self._connection = connection
        self._left = statement

    def execute(self, *arguments: Any) -> Any:
        """One statement fewer to live."""
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._connection.execute(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def main(database: str, seeds: str, statement: str) -> None:
    """Project the log of the seeds until done or dead."""
    real = store._connected
    store._connected = lambda path: Deadly(real(path), int(statement))  # type: ignore[assignment, return-value]
    project(mixed_log(range(int(seeds))), Path(database), BATCH)


if __name__ == "__main__":
    main(*sys.argv[1:])
