"""The log in memory under the contract, and what it offers simulations beyond it."""

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from remit.errors import FencedError, StepAbortedError
from remit.log.memory import MemoryLog, MemorySession
from remit.log.memory.group import range_share
from remit.log.memory.store import Fate, Transaction
from remit.log.protocols import Message, Partition, Session
from remit.topics import Topic
from tests.log.contract import RESULTS, LogContract
from tests.log.rig import Undecided, committed, message, serve, settle, take, values, visible


class MemoryRig:
    """Binds the log in memory."""

    def __init__(self) -> None:
        """Four shards."""
        self.log = MemoryLog(4)
        self._count = 0

    def prepare(self, session: Session, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> Undecided:
        """The session's own half step."""
        assert isinstance(session, MemorySession)
        return session.prepare(messages, offsets)

    def transaction(self, messages: Sequence[Message]) -> Undecided:
        """A transaction straight in the store."""
        self._count += 1
        with self.log._store.changed:
            transaction = self.log._store.begin(f"foreign-{self._count}")
            self.log._store.append(messages, transaction)
        return _Foreign(self.log, transaction)

    def delete_before(self, partition: Partition, offset: int) -> None:
        """The log's own."""
        self.log.delete_before(partition, offset)


class _Foreign:
    def __init__(self, log: MemoryLog, transaction: Transaction) -> None:
        self._store = log._store
        self._transaction = transaction

    def commit(self) -> None:
        self._end(Fate.COMMITTED)

    def abort(self) -> None:
        self._end(Fate.ABORTED)

    def _end(self, fate: Fate) -> None:
        with self._store.changed:
            self._store.end(self._transaction, fate)


@pytest.fixture
def rig() -> MemoryRig:
    """A fresh log."""
    return MemoryRig()


class TestMemoryContract(LogContract):
    """The contract."""


def test_controllable_clock() -> None:
    """Append times are the given clock's, cut to milliseconds and turned to UTC."""
    now = datetime(2027, 3, 1, 12, 0, 0, 123456, tzinfo=UTC).astimezone(None)
    log = MemoryLog(2, clock=lambda: now)
    (record,) = log.writer().append([message(Topic.RESULTS, "x")])
    assert record.appended_at == datetime(2027, 3, 1, 12, 0, 0, 123000, tzinfo=UTC)
    now += timedelta(hours=1)
    (record,) = log.writer().append([message(Topic.RESULTS, "x")])
    assert record.appended_at.hour == 13


@pytest.mark.parametrize("members", [1, 2, 3, 5, 9])
def test_range_shares(members: int) -> None:
    """Ranges are contiguous, cover every shard once and differ by at most one."""
    names = [f"s{n}" for n in range(members)]
    shares = [range_share(names, name, 8) for name in names]
    assert sorted(shard for share in shares for shard in share) == list(range(8))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_zombie_past_its_session() -> None:
    """A session that was dropped while it held a step open can't finish it once the step timed out (KTXN-1, KTXN-2)."""
    log = MemoryLog(2)
    zombie, heir = log.session("a"), log.session("b")
    settle(log, zombie, heir)
    serve(zombie)
    undecided = zombie.prepare([message(Topic.TRANSITIONS, "zombie")], {RESULTS: 1})
    log.expire_session("a")
    settle(log, heir)
    assert heir.committed([RESULTS]) is None
    log.expire_transaction("a")
    assert committed(heir, [RESULTS]) == {RESULTS: -1}
    with pytest.raises(FencedError):
        undecided.commit()
    assert visible(log) == []


def test_zombie_before_its_step() -> None:
    """A session that was dropped before its step is aborted, rejoins at its next poll and must take over anew."""
    log = MemoryLog(2)
    zombie, heir = log.session("a"), log.session("b")
    settle(log, zombie, heir)
    serve(zombie)
    log.expire_session("a")
    settle(log, heir)
    with pytest.raises(StepAbortedError):
        zombie.step([message(Topic.TRANSITIONS, "zombie")], {RESULTS: 1})
    before = zombie.epoch
    settle(log, zombie, heir)
    assert zombie.epoch > before
    assert visible(log) == []


def test_undecided_predecessor_may_still_commit() -> None:
    """Offsets that were sent before the rebalance count once their transaction is decided."""
    log = MemoryLog(2)
    first, second = log.session("a"), log.session("b")
    settle(log, first, second)
    serve(first)
    undecided = first.prepare([message(Topic.TRANSITIONS, "in time")], {RESULTS: 4})
    log.expire_session("a")
    settle(log, second)
    undecided.commit()
    assert committed(second, [RESULTS]) == {RESULTS: 4}
    assert visible(log) == ["in time"]


def test_leaving_hands_over() -> None:
    """When a session leaves, the others get its shards at their next polls."""
    log = MemoryLog(4)
    first, second = log.session("a"), log.session("b")
    settle(log, first, second)
    first.close()
    settle(log, second)


def test_poll_wakes_for_a_record() -> None:
    """A poll that waits in one thread returns what another thread writes."""
    log = MemoryLog(2)
    reader = log.reader()
    reader.assign({RESULTS: 0})
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(values(take(reader, 1))))
    thread.start()
    log.writer().append([message(Topic.RESULTS, "woken")])
    thread.join(30)
    assert found == ["woken"]


def test_busy_partition_starves_no_other() -> None:
    """With more waiting than a poll may take, every partition gets its turn."""
    log = MemoryLog(2)
    log.writer().append([message(Topic.RESULTS, "busy", 0) for _ in range(50)])
    log.writer().append([message(Topic.RESULTS, "quiet", 1)])
    reader = log.reader()
    reader.assign({RESULTS: 0, Partition(Topic.RESULTS, 1): 0})
    assert "quiet" in values(reader.poll(10, 0) + reader.poll(10, 0))
