"""Partitions and transactions in memory, markers included.

Only `remit.log.memory` imports it; the caller holds `changed`. As in Kafka a transaction ends with a marker in each
partition it touched, which takes an offset and is never delivered, and an open one hides itself and what follows it.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto

from remit.errors import HistoryGapError, LogError
from remit.instants import aware
from remit.log.outgoing import partitions_in, placed
from remit.log.protocols import Message, Partition, Recorded
from remit.topics import DISPATCHES, Topic

_FIXED = frozenset(str(topic) for topic in Topic)


class Fate(Enum):
    """How far a transaction has come."""

    OPEN = auto()
    COMMITTED = auto()
    ABORTED = auto()


@dataclass(slots=True, eq=False)
class Transaction:
    """Records and offsets that become visible together or never."""

    owner: str
    fate: Fate = Fate.OPEN
    touched: dict[Partition, int] = field(default_factory=dict)
    """First offset in each partition."""
    offsets: dict[Partition, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Entry:
    record: Recorded | None
    """None is a marker."""
    transaction: Transaction | None

    @property
    def visible(self) -> bool:
        if self.record is None:
            return False
        return self.transaction is None or self.transaction.fate is Fate.COMMITTED


@dataclass(slots=True)
class _Held:
    start: int = 0
    entries: list[_Entry] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.start + len(self.entries)


class Store:
    """What the cluster holds: records, open transactions, committed offsets."""

    def __init__(self, partitions: int, clock: Callable[[], datetime]) -> None:
        """Begin empty; `clock` gives the append time, cut to milliseconds as Kafka does."""
        self.partitions = partitions
        self.changed = threading.Condition(threading.RLock())
        self._clock = clock
        self._held: dict[Partition, _Held] = {}
        self._open: list[Transaction] = []
        self._committed: dict[Partition, int] = {}

    def append(self, messages: Sequence[Message], transaction: Transaction | None = None) -> list[Recorded]:
        """Lay all down and return where each lies; LogError, and nothing laid, if a partition doesn't exist."""
        targets = self.targets(messages)
        return [self._lay(message, target, transaction) for message, target in zip(messages, targets, strict=True)]

    def targets(self, messages: Sequence[Message]) -> list[Partition]:
        """Where each goes; LogError if a partition doesn't exist."""
        return [self._existing(placed(message, self.partitions)) for message in messages]

    def begin(self, owner: str) -> Transaction:
        """Open a transaction; one that the same owner left open is aborted."""
        self.abort_of(owner)
        transaction = Transaction(owner)
        self._open.append(transaction)
        return transaction

    def end(self, transaction: Transaction, fate: Fate) -> None:
        """Commit or abort: offsets and records take effect, a marker goes to each partition touched."""
        transaction.fate = fate
        self._open.remove(transaction)
        if fate is Fate.COMMITTED:
            self._committed.update(transaction.offsets)
        for partition in transaction.touched:
            self._held[partition].entries.append(_Entry(None, transaction))
        self.changed.notify_all()

    def abort_of(self, owner: str) -> None:
        """Abort what this owner left open."""
        for transaction in [each for each in self._open if each.owner == owner]:
            self.end(transaction, Fate.ABORTED)

    def committed(self, partition: Partition) -> int | None:
        """Committed offset, -1 for none; None while an open transaction holds another."""
        if any(partition in transaction.offsets for transaction in self._open):
            return None
        return self._committed.get(partition, -1)

    def forget(self) -> None:
        """Let no offset be committed any more."""
        self._committed.clear()

    def rewind(self) -> None:
        """Let every committed offset be zero."""
        self._committed = dict.fromkeys(self._committed, 0)

    def start(self, partition: Partition) -> int:
        """Earliest offset held."""
        return self._of(partition).start

    def high_watermark(self, partition: Partition) -> int:
        """Offset after the last record or marker, open transactions included."""
        return self._of(partition).end

    def visible(self, partition: Partition, position: int, limit: int) -> tuple[list[Recorded], int]:
        """Up to `limit` committed records from `position`, and the next position, hidden entries passed."""
        held = self._of(partition)
        if not held.start <= position <= held.end:
            raise HistoryGapError(
                f"{partition.topic}[{partition.number}]: offset {position} is not held; "
                f"the earliest is {held.start}, the end is {held.end}"
            )
        found: list[Recorded] = []
        stable = self._last_stable(partition, held)
        while position < stable and len(found) < limit:
            entry = held.entries[position - held.start]
            if entry.visible and entry.record is not None:
                found.append(entry.record)
            position += 1
        return found, position

    def delete_before(self, partition: Partition, offset: int) -> None:
        """Let retention take what lies before `offset`."""
        held = self._of(partition)
        kept = min(max(offset, held.start), held.end)
        del held.entries[: kept - held.start]
        held.start = kept

    def _lay(self, message: Message, target: Partition, transaction: Transaction | None) -> Recorded:
        held = self._of(target)
        now = aware(self._clock(), "clock").astimezone(UTC)
        record = Recorded(
            target.topic,
            target.number,
            held.end,
            now.replace(microsecond=now.microsecond // 1000 * 1000),
            message.key,
            message.value,
            message.headers,
        )
        if transaction is not None:
            transaction.touched.setdefault(target, held.end)
        held.entries.append(_Entry(record, transaction))
        self.changed.notify_all()
        return record

    def _last_stable(self, partition: Partition, held: _Held) -> int:
        firsts = (each.touched[partition] for each in self._open if partition in each.touched)
        return min(firsts, default=held.end)

    def _of(self, partition: Partition) -> _Held:
        return self._held.setdefault(self._existing(partition), _Held())

    def _existing(self, partition: Partition) -> Partition:
        known = partition.topic in _FIXED or partition.topic.startswith(f"{DISPATCHES}.")
        if not known or not 0 <= partition.number < partitions_in(partition.topic, self.partitions):
            raise LogError(f"{partition.topic}[{partition.number}] does not exist")
        return partition


class Cursor:
    """Positions of one reader or session in the store."""

    def __init__(self, store: Store) -> None:
        """Begin with nothing assigned."""
        self._store = store
        self._positions: dict[Partition, int] = {}

    def assign(self, positions: Mapping[Partition, int]) -> None:
        """Read from here on; replaces what was assigned."""
        self._positions = dict(positions)

    def position(self, partition: Partition) -> int:
        """Next offset to be read; LogError if not assigned."""
        if partition not in self._positions:
            raise LogError(f"{partition.topic}[{partition.number}] is not assigned")
        return self._positions[partition]

    def take(self, limit: int) -> list[Recorded]:
        """Up to `limit` records; a partition that gave some goes to the end of the queue."""
        taken: list[Recorded] = []
        for partition in tuple(self._positions):
            position = self._positions[partition]
            found, self._positions[partition] = self._store.visible(partition, position, limit - len(taken))
            if found:
                # To the end of the queue, so that a busy partition can't starve the others.
                self._positions[partition] = self._positions.pop(partition)
            taken += found
        return taken
