"""The state of a whole log as a takeover would hold it, by one who joins no group and decides nothing."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from remit.log.protocols import Log, Message, Partition, Recorded

from .shard import Shards
from .takeover import take_over


def look(source: Log, *, from_checkpoints: bool = True) -> Shards:
    """Fold every shard, from the checkpoints where these may be used or from history's start."""
    return take_over(source, Onlooker(source), lambda: datetime.now(UTC), from_checkpoints=from_checkpoints)


class Onlooker:
    """As much of `Session` as a takeover asks for: it holds every shard and consumes nothing."""

    epoch = 0

    def __init__(self, source: Log) -> None:
        """Of that log."""
        self._log = source
        self.shards = frozenset(range(source.partitions))

    def poll(self, limit: int, timeout: float) -> list[Recorded]:  # noqa: ARG002 - the protocol
        """Nothing."""
        return []

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Nothing was committed by anyone that it knows of."""
        return dict.fromkeys(partitions, -1)

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """High watermarks."""
        reader = self._log.reader()
        try:
            return reader.ends(partitions)
        finally:
            reader.close()

    def resume(self, positions: Mapping[Partition, int]) -> None:
        """Nothing is consumed."""

    def position(self, partition: Partition) -> int:
        """It has none."""
        raise NotImplementedError(partition)

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        """It writes nothing."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""
