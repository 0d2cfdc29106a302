"""The log as the roles see it: three small protocols and the two moments of a record. Pure; anyone may import it.

Topics are named without prefix. `Message` is what one writes (no position yet); `Recorded` is what one reads.
The in-memory log and the Kafka log implement these and pass the same contract tests.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import msgspec


class Partition(NamedTuple):
    """One partition of a topic; `topic` without prefix."""

    topic: str
    number: int


class Message(msgspec.Struct, frozen=True):
    """A record to be written; `partition` None = by the key's murmur2 over the agreed count."""

    topic: str
    key: bytes
    value: bytes
    partition: int | None = None
    headers: tuple[tuple[str, bytes], ...] = ()


class Recorded(msgspec.Struct, frozen=True):
    """A record as it lies in the log; `appended_at` aware UTC, from the log's own clock."""

    topic: str
    partition: int
    offset: int
    appended_at: datetime
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()

    @property
    def source(self) -> Partition:
        """The partition it lies in."""
        return Partition(self.topic, self.partition)


class Reader(Protocol):
    """Reads committed records from explicit positions, without a group. One thread owns it."""

    def assign(self, positions: Mapping[Partition, int]) -> None:
        """Read these partitions from these offsets from now on; replaces what was assigned.

        A position below the earliest held raises HistoryGapError (at the latest from the next `poll`).
        """

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """Up to `limit` records; waits at most `timeout` seconds for the first, then takes what is there."""

    def position(self, partition: Partition) -> int:
        """Next offset to be read, commit markers and aborted records passed; the start offset before any poll."""

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """High watermark of each, open transactions included: the pin of a catch-up. LogError if not known."""

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Earliest offset held of each. LogError if not known."""

    def close(self) -> None:
        """Leave; idempotent."""


class Writer(Protocol):
    """Writes records outside any transaction, idempotently, acks=all."""

    def append(self, messages: Sequence[Message], timeout: float = 30.0) -> list[Recorded]:
        """Write all and wait until the log has acknowledged each; LogError otherwise (outcome then unknown).

        A message over the size limit raises LogError at once and names size and limit. Returns where each lies.
        """

    def close(self) -> None:
        """Flush and leave; idempotent."""


class Session(Protocol):
    """One supervisor's membership of its group and its transactions, under one stable name.

    The main loop alone calls it. Shards come and go inside `poll`; every change raises `epoch`.
    """

    @property
    def epoch(self) -> int:
        """Raised by every revoke and assign; a batch or state of an older epoch must be dropped."""

    @property
    def shards(self) -> frozenset[int]:
        """Shards owned now; empty while not a member."""

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """Records of the assigned inputs, as `Reader.poll`; serves the group. Never called inside a step.

        Raises FencedError once when another process took this name (the next poll joins again: on Kafka an outage
        can look the same, so the caller counts), TopologyError when partitions are misaligned.
        """

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """Committed offset of each (-1 = none); None while a predecessor's offsets are undecided: ask again."""

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """High watermark of each; None while not known: ask again."""

    def resume(self, positions: Mapping[Partition, int]) -> None:
        """Start to consume the owned partitions at these explicit offsets; purges what was prefetched."""

    def position(self, partition: Partition) -> int:
        """Next offset to be read of an owned partition."""

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        """Write messages and offsets (next to read, at least one) in ONE transaction, with the metadata of the epoch.

        Raises StepAbortedError or FencedError; the state must then be dropped and the shards be taken over anew.
        """

    def close(self) -> None:
        """Leave the group; idempotent."""


class Log(Protocol):
    """A connection to one log."""

    @property
    def partitions(self) -> int:
        """The agreed partition count of the sharded topics."""

    def reader(self) -> Reader:
        """A new reader."""

    def writer(self) -> Writer:
        """A new writer; raises TopologyError when the partition count is not as agreed."""

    def session(self, name: str) -> Session:
        """Join the supervisors' group under this stable name; fences a predecessor of the same name."""

    def close(self) -> None:
        """Close the connection; idempotent."""
