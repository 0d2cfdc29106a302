"""A supervisor's session on the log in memory. The log makes it; simulations drive its halves by themselves."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from remit.errors import FencedError, LogError, StepAbortedError
from remit.log.memory.group import Group, Member
from remit.log.memory.store import Cursor, Fate, Store, Transaction
from remit.log.outgoing import refuse_oversize
from remit.log.protocols import Message, Partition, Recorded
from remit.log.step import foreign, refuse_foreign, refuse_unfenced


class PreparedStep:
    """A step whose records and offsets are written, and that is not decided yet: where a process may die."""

    def __init__(self, store: Store, transaction: Transaction, drop: Callable[[], None]) -> None:
        """Hold the open transaction; `MemorySession.prepare` makes it."""
        self._store = store
        self._transaction = transaction
        self._drop = drop

    def commit(self) -> None:
        """Make it visible; FencedError if another ended it meanwhile."""
        with self._store.changed:
            if self._transaction.fate is not Fate.OPEN:
                self._drop()
                raise FencedError(f"the transaction of {self._transaction.owner} was ended by another")
            self._store.end(self._transaction, Fate.COMMITTED)

    def abort(self) -> None:
        """Undo it, if it is still open; the session must take its shards over anew."""
        with self._store.changed:
            self._drop()
            if self._transaction.fate is Fate.OPEN:
                self._store.end(self._transaction, Fate.ABORTED)


class MemorySession:
    """Implements `Session`; `prepare` is `step` without its commit."""

    def __init__(self, store: Store, group: Group, name: str) -> None:
        """Join under `name`: a predecessor is fenced and its open transaction aborted."""
        self._store = store
        self._group = group
        self._cursor = Cursor(store)
        self._member = Member(name)
        self._serving = False
        self._closed = False
        with store.changed:
            store.abort_of(name)
            group.join(self._member)
            store.changed.notify_all()

    @property
    def epoch(self) -> int:
        """Raised by every revoke and assign."""
        return self._member.epoch

    @property
    def shards(self) -> frozenset[int]:
        """Shards owned now."""
        return self._member.shards

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """Serve the group, then read; nothing is returned from the poll in which shards changed hands.

        FencedError is raised once; the next poll joins again and takes the name back.
        """
        deadline = time.monotonic() + timeout
        with self._store.changed:
            while True:
                if self._moved():
                    return []
                taken = self._cursor.take(limit)
                left = deadline - time.monotonic()
                if taken or left <= 0:
                    return taken
                self._store.changed.wait(left)

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """Committed offsets, -1 for none; None while undecided."""
        with self._store.changed:
            found = {partition: self._store.committed(partition) for partition in partitions}
        known = {partition: offset for partition, offset in found.items() if offset is not None}
        return known if len(known) == len(found) else None

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """High watermarks; always known here."""
        with self._store.changed:
            return {partition: self._store.high_watermark(partition) for partition in partitions}

    def resume(self, positions: Mapping[Partition, int]) -> None:
        """Consume from these offsets; ValueError for a partition that isn't owned."""
        refuse_foreign(positions, self.shards)
        with self._store.changed:
            self._cursor.assign(positions)
            self._serving = True

    def position(self, partition: Partition) -> int:
        """Next offset to be read of a partition that was resumed."""
        with self._store.changed:
            return self._cursor.position(partition)

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        """Write messages and offsets in one transaction."""
        self.prepare(messages, offsets).commit()

    def prepare(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> PreparedStep:
        """Write messages and offsets and leave the transaction open; raises as `step` does."""
        refuse_unfenced(messages, offsets, self._store.partitions)
        refuse_oversize(messages)
        with self._store.changed:
            self._refuse_unserved(offsets)
            self._store.targets(messages)
            transaction = self._store.begin(self._member.name)
            prepared = PreparedStep(self._store, transaction, self._drop)
            self._store.append(messages, transaction)
            if not self._group.accepts(self._member):
                prepared.abort()
                raise StepAbortedError(f"{self._member.name} lost its membership before the step")
            transaction.offsets.update(offsets)
        return prepared

    def close(self) -> None:
        """Leave the group at once and abort what is open; idempotent."""
        with self._store.changed:
            if not self._closed and not self._member.fenced:
                self._store.abort_of(self._member.name)
                self._group.leave(self._member)
                self._store.changed.notify_all()
            self._closed = True
            self._drop()

    def _moved(self) -> bool:
        if self._closed:
            raise LogError("the session is closed")
        before = self.epoch
        if not self._group.holds(self._member) and not self._member.fenced:
            self._store.abort_of(self._member.name)
        try:
            self._group.serve(self._member)
        finally:
            if self.epoch != before:
                self._drop()
                self._store.changed.notify_all()
        return self.epoch != before

    def _refuse_unserved(self, offsets: Mapping[Partition, int]) -> None:
        self._member.refuse_fenced()
        if self._closed or not self._serving or foreign(offsets, self.shards):
            self._drop()
            raise StepAbortedError("the shards changed hands since they were taken over; nothing was written")

    def _drop(self) -> None:
        self._serving = False
        self._cursor.assign({})
