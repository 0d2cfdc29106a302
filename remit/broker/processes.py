"""Which processes of this machine are embedded brokers of ours, and which of them nobody knows any more.

Only `remit.doctor` imports it.
"""

from collections.abc import Sequence
from pathlib import Path

import psutil

from remit.broker.record import process_of, properties_path, read_record, running
from remit.errors import BrokerError

MAIN = "kafka.Kafka"


def embedded_processes() -> tuple[tuple[int, Path], ...]:
    """Pid and home of the embedded brokers of our user that their home's record does not name."""
    us = psutil.Process().uids().real
    found = []
    for process in psutil.process_iter(["cmdline", "uids"]):
        uids, home = process.info["uids"], home_in(process.info["cmdline"] or ())
        if home and uids and uids.real == us and _recorded(home) != process.pid:
            found.append((process.pid, home))
    return tuple(found)


def stale_pid(home: Path) -> int | None:
    """The pid that the record of `home` names although no broker of it runs under it."""
    record = read_record(home)
    return record.pid if record and record.pid is not None and process_of(home, record) is None else None


def home_in(command: Sequence[str]) -> Path | None:
    """The home folder of an embedded broker, from its command line; None for any other process. Pure."""
    if MAIN not in command:
        return None
    properties = Path(command[-1])
    home = properties.parent.parent
    return home if properties == properties_path(home) else None


def _recorded(home: Path) -> int | None:
    try:
        broker = running(home)
    except BrokerError:
        return None
    return broker.pid if broker else None
