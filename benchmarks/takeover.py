"""A takeover in a process of its own: prints the bytes of memory that it added, and how many states it holds.

`python -m benchmarks.takeover BOOTSTRAP PREFIX`
"""

import gc
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import psutil

from benchmarks.floor.connection import PARTITIONS
from remit.log.kafka.log import KafkaLog
from remit.log.protocols import Message, Partition, Recorded
from supervisor.shard import Shards
from supervisor.takeover import take_over


def whole(log: KafkaLog) -> Shards:
    """The folded state of every shard; RuntimeError for a history that conflicts with itself."""
    shards = take_over(log, AllShards(log), lambda: datetime.now(UTC))
    if shards.frozen:
        raise RuntimeError("the history conflicts with itself")
    return shards


def main() -> None:
    """Take over what lies under the prefix."""
    bootstrap, prefix = sys.argv[1:]
    log = KafkaLog(bootstrap, prefix, PARTITIONS)
    before = psutil.Process().memory_info().rss
    shards = whole(log)
    gc.collect()
    sys.stdout.write(f"{psutil.Process().memory_info().rss - before} {len(shards.states)}\n")


class AllShards:
    """As much of `Session` as a takeover asks for: every shard is owned, nothing was committed."""

    epoch = 0

    def __init__(self, log: KafkaLog) -> None:
        """Of that log."""
        self._log = log
        self.shards = frozenset(range(log.partitions))

    def poll(self, limit: int, timeout: float) -> list[Recorded]:  # noqa: ARG002 - the protocol
        """Nothing: no inputs are read."""
        return []

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """None."""
        return dict.fromkeys(partitions, -1)

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """High watermarks."""
        reader = self._log.reader()
        try:
            return reader.ends(partitions)
        finally:
            reader.close()

    def resume(self, positions: Mapping[Partition, int]) -> None:
        """Nothing is consumed here."""

    def position(self, partition: Partition) -> int:
        """Nothing is consumed here."""
        raise NotImplementedError(partition)

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        """Nothing is written here."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""


if __name__ == "__main__":
    main()
