"""The waits of a takeover, which serve the group meanwhile and give up when the shards change hands."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from remit.errors import HistoryGapError
from remit.log.catch_up import replay
from remit.log.protocols import Log, Partition, Recorded, Session

HUNG_AFTER = 30.0  # seconds: transaction timeout and 20 s more
T = TypeVar("T")


class MovedError(Exception):
    """The shards changed hands meanwhile: begin again. Never leaves the service."""


class Handover:
    """One takeover of what the session owns now."""

    def __init__(self, source: Log, session: Session) -> None:
        """Of the session's epoch."""
        self.source, self.session = source, session
        self.owned = sorted(session.shards)
        self._epoch = session.epoch

    def serve(self, timeout: float = 0.0) -> None:
        """Stay a member; MovedError when the shards changed hands."""
        self.session.poll(1, timeout)
        if self.session.epoch != self._epoch:
            raise MovedError

    def insist(self, ask: Callable[[], T | None]) -> T:
        """Ask until it is known."""
        while (answer := ask()) is None:
            self.serve(0.05)
        return answer

    def of_owned(self, topic: str) -> list[Partition]:
        """The topic's partitions that it owns."""
        return [Partition(topic, shard) for shard in self.owned]

    def firsts(self, partitions: list[Partition]) -> dict[Partition, int]:
        """The earliest offset held of each."""
        reader = self.source.reader()
        try:
            return reader.starts(partitions)
        finally:
            reader.close()

    def refuse_gaps(self, partitions: list[Partition]) -> None:
        """HistoryGapError if one of them no longer begins at its first record."""
        for each, first in self.firsts(partitions).items():
            if first > 0:
                raise HistoryGapError(f"{each.topic}[{each.number}]: offset 0 is not held; the earliest is {first}")

    def read(self, begun: Mapping[Partition, int], pins: Mapping[Partition, int]) -> Iterator[Recorded]:
        """What lies between the two; LogError when a pin is not reached."""
        reader = self.source.reader()
        try:
            for batch in replay(reader, begun, pins, timeout=HUNG_AFTER):
                yield from batch
                self.serve()
        finally:
            reader.close()
