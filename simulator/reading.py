"""Reads what lies in the log, without waiting. Only this package imports it."""

from collections.abc import Iterable, Iterator

from remit.log.memory import MemoryLog
from remit.log.protocols import Partition, Recorded

ALL = 10_000


def read(log: MemoryLog, partitions: Iterable[Partition]) -> Iterator[Recorded]:
    """Everything that is committed there, each partition in its order."""
    reader = log.reader()
    reader.assign(dict.fromkeys(partitions, 0))
    while batch := reader.poll(ALL, 0.0):
        yield from batch


def record_at(log: MemoryLog, topic: str, partition: int, offset: int) -> Recorded:
    """The record that lies there."""
    reader = log.reader()
    reader.assign({Partition(topic, partition): offset})
    return reader.poll(1, 0.0)[0]
