"""The log in memory as roles and simulations see it. Re-exported by `remit.log.memory`."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from remit.log.memory.group import Group
from remit.log.memory.session import MemorySession
from remit.log.memory.store import Cursor, Store
from remit.log.outgoing import refuse_oversize
from remit.log.protocols import Message, Partition, Recorded
from remit.topics import PARTITIONS_ONE_MACHINE


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MemoryLog:
    """One cluster; implements `Log`, and lets a simulation do what brokers and time do to a log."""

    def __init__(self, partitions: int = PARTITIONS_ONE_MACHINE, clock: Callable[[], datetime] = _utc_now) -> None:
        """Begin empty; `clock` gives aware datetimes, from which append times are taken."""
        self._store = Store(partitions, clock)
        self._group = Group(partitions)

    @property
    def partitions(self) -> int:
        """Partition count of the sharded topics."""
        return self._store.partitions

    def reader(self) -> "MemoryReader":
        """A new reader."""
        return MemoryReader(self._store)

    def writer(self) -> "MemoryWriter":
        """A new writer."""
        return MemoryWriter(self._store)

    def session(self, name: str) -> MemorySession:
        """Join the group under this stable name; fences a predecessor of the same name."""
        return MemorySession(self._store, self._group, name)

    def close(self) -> None:
        """Nothing to close; what was written stays readable."""

    def expire_session(self, name: str) -> None:
        """Let the group drop a member, as after a pause longer than its session timeout."""
        with self._store.changed:
            self._group.expire(name)
            self._store.changed.notify_all()

    def expire_transaction(self, name: str) -> None:
        """Abort what a session of this name left open, as after its transaction timeout."""
        with self._store.changed:
            self._store.abort_of(name)

    def forget_offsets(self) -> None:
        """Let the group's committed offsets be gone, as after they expired or were reset."""
        with self._store.changed:
            self._store.forget()

    def rewind_offsets(self) -> None:
        """Let the group's committed offsets be zero, as after somebody set them back."""
        with self._store.changed:
            self._store.rewind()

    def delete_before(self, partition: Partition, offset: int) -> None:
        """Let retention take the records before `offset`."""
        with self._store.changed:
            self._store.delete_before(partition, offset)


class MemoryReader:
    """Implements `Reader`."""

    def __init__(self, store: Store) -> None:
        """Begin with nothing assigned."""
        self._store = store
        self._cursor = Cursor(store)

    def assign(self, positions: Mapping[Partition, int]) -> None:
        """Read from here on; replaces what was assigned."""
        self._cursor.assign(positions)

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """Up to `limit` records; waits for the first."""
        deadline = time.monotonic() + timeout
        with self._store.changed:
            while True:
                taken = self._cursor.take(limit)
                left = deadline - time.monotonic()
                if taken or left <= 0:
                    return taken
                self._store.changed.wait(left)

    def position(self, partition: Partition) -> int:
        """Next offset to be read."""
        return self._cursor.position(partition)

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """High watermarks."""
        with self._store.changed:
            return {partition: self._store.high_watermark(partition) for partition in partitions}

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Earliest offsets held."""
        with self._store.changed:
            return {partition: self._store.start(partition) for partition in partitions}

    def close(self) -> None:
        """Read nothing more."""
        self._cursor.assign({})


class MemoryWriter:
    """Implements `Writer`."""

    def __init__(self, store: Store) -> None:
        """Write to `store`."""
        self._store = store

    def append(self, messages: Sequence[Message], timeout: float = 30.0) -> list[Recorded]:  # noqa: ARG002 - protocol
        """Write all at once."""
        refuse_oversize(messages)
        with self._store.changed:
            return self._store.append(messages)

    def close(self) -> None:
        """Nothing is pending, ever."""
