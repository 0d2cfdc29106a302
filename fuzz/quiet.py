"""Keeps a role's log from the terminal while its inputs are judged, and leaves the log as it was."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class _Alarms(logging.Handler):
    """Keeps what a role cries out with an exception, and prints nothing."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.heard.append(record)


@contextmanager
def quietly(name: str = "remit.supervisor") -> Iterator[_Alarms]:
    """Keep a role's log from the terminal; what it caught of our own faults can be asked for."""
    log = logging.getLogger(name)
    alarms, before = _Alarms(), (log.propagate, log.level)
    log.addHandler(alarms)
    log.propagate = False
    log.setLevel(logging.ERROR)
    try:
        yield alarms
    finally:
        log.removeHandler(alarms)
        log.propagate, log.level = before
