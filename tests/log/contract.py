"""The contract of every log: one body of tests, bound to each log by a `rig` fixture of the module that imports it."""

import datetime as dt

import pytest

from remit.errors import FencedError, HistoryGapError, LogError, StepAbortedError
from remit.log.catch_up import replay
from remit.log.protocols import Message, Partition, Session
from remit.topics import MAX_MESSAGE_BYTES, Topic, partition_of
from tests.log.rig import Rig, committed, inputs_of, message, serve, settle, take, values, visible

TRANSITIONS = Partition(Topic.TRANSITIONS, 0)
RESULTS = Partition(Topic.RESULTS, 0)


class ReadAndWriteContract:
    """Readers and writers."""

    def test_order_and_positions(self, rig: Rig) -> None:
        """Records of a partition are read in the order written, at the positions the writer was told."""
        written = rig.log.writer().append([message(Topic.CONTRACTS, str(n)) for n in range(20)])
        reader = rig.log.reader()
        reader.assign({Partition(Topic.CONTRACTS, 0): 0})
        read = take(reader, 20)
        assert values(read) == [str(n) for n in range(20)]
        assert [(record.source, record.offset) for record in written] == [(r.source, r.offset) for r in read]

    def test_append_time(self, rig: Rig) -> None:
        """A record carries the log's own time, aware and in UTC, alike for its writer and its readers."""
        (written,) = rig.log.writer().append([message(Topic.CONTRACTS, "x")])
        reader = rig.log.reader()
        reader.assign({written.source: 0})
        (read,) = take(reader, 1)
        assert read.appended_at.tzinfo is dt.UTC
        assert read.appended_at == written.appended_at

    def test_record_is_whole(self, rig: Rig) -> None:
        """Key, value and headers come back byte for byte."""
        sent = Message(Topic.RESULTS, b"acme/w", b"\x00\xff", 0, (("ce_id", b"1"), ("ce_id", b"2")))
        (record,) = rig.log.writer().append([sent])
        reader = rig.log.reader()
        reader.assign({RESULTS: record.offset})
        (read,) = take(reader, 1)
        assert (read.key, read.value, read.headers) == (sent.key, sent.value, sent.headers)

    def test_placement(self, rig: Rig) -> None:
        """A key's partition is murmur2's; a single topic has one; an explicit partition wins."""
        messages = [
            message(Topic.CONTRACTS, "by key", None, "acme/w7"),
            message(Topic.LIVENESS, "single", None, "worker-7"),
            message("dispatches.coders", "to a pool", None, "worker-7"),
            message(Topic.CONTRACTS, "misplaced", 3, "acme/w7"),
        ]
        placed = [record.partition for record in rig.log.writer().append(messages)]
        by_key = [partition_of(key, rig.log.partitions) for key in (b"acme/w7", b"worker-7")]
        assert placed == [by_key[0], 0, by_key[1], 3]

    def test_size_limit(self, rig: Rig) -> None:
        """A message over the limit is refused with size and limit, and its batch with it."""
        large = Message(Topic.TRANSITIONS, b"k", bytes(MAX_MESSAGE_BYTES), 0)
        with pytest.raises(LogError, match=rf"\d{{7}} bytes is over the limit of {MAX_MESSAGE_BYTES}"):
            rig.log.writer().append([message(Topic.TRANSITIONS, "small"), large])
        assert visible(rig.log) == []

    def test_largest_message(self, rig: Rig) -> None:
        """What the size rule lets through, the log takes."""
        (record,) = rig.log.writer().append([Message(Topic.TRANSITIONS, b"k", bytes(MAX_MESSAGE_BYTES - 200), 0)])
        reader = rig.log.reader()
        reader.assign({TRANSITIONS: record.offset})
        assert len(take(reader, 1)[0].value or b"") == MAX_MESSAGE_BYTES - 200

    def test_missing_partition(self, rig: Rig) -> None:
        """A partition that isn't there is a LogError for writer and reader alike."""
        with pytest.raises(LogError):
            rig.log.writer().append([message(Topic.CONTRACTS, "x", 99)])
        with pytest.raises(LogError):
            rig.log.reader().ends([Partition(Topic.CONTRACTS, 99)])

    def test_start_at_the_end(self, rig: Rig) -> None:
        """A reader may start at the very end, and gets what comes then."""
        writer = rig.log.writer()
        writer.append([message(Topic.CONTRACTS, "old")])
        reader = rig.log.reader()
        ends = reader.ends([Partition(Topic.CONTRACTS, 0)])
        reader.assign(ends)
        assert reader.poll(10, 0.3) == []
        assert reader.position(Partition(Topic.CONTRACTS, 0)) == 1
        writer.append([message(Topic.CONTRACTS, "new")])
        assert values(take(reader, 1)) == ["new"]

    def test_gap(self, rig: Rig) -> None:
        """A start below the earliest offset held is an error that names all four coordinates (KOPS-1)."""
        rig.log.writer().append([message(Topic.TRANSITIONS, str(n)) for n in range(5)])
        rig.delete_before(TRANSITIONS, 3)
        reader = rig.log.reader()
        assert reader.starts([TRANSITIONS]) == {TRANSITIONS: 3}
        reader.assign({TRANSITIONS: 1})
        with pytest.raises(HistoryGapError, match=r"transitions\[0\].* 1 .* 3"):
            take(reader, 1)


class CatchUpContract:
    """Readers meet transactions."""

    @pytest.mark.parametrize("tail", ["marker", "aborted", "only aborted", "empty"])
    def test_tails(self, rig: Rig, tail: str) -> None:
        """A catch-up ends at every kind of tail, with no lag and nothing aborted shown (KTXN-5)."""
        if tail in {"marker", "aborted"}:
            rig.transaction([message(Topic.TRANSITIONS, "kept")]).commit()
        if tail in {"aborted", "only aborted"}:
            rig.transaction([message(Topic.TRANSITIONS, str(n)) for n in range(5)]).abort()
        reader = rig.log.reader()
        pins = reader.ends([TRANSITIONS])
        batches = list(replay(reader, {TRANSITIONS: 0}, pins, timeout=30))
        assert values(record for batch in batches for record in batch) == ["kept"] * (tail in {"marker", "aborted"})
        # Not equal: a commit may be acknowledged, and the end pinned, before its marker lies in the partition.
        assert reader.position(TRANSITIONS) >= pins[TRANSITIONS]

    def test_many_partitions(self, rig: Rig) -> None:
        """A catch-up ends when the last of several partitions is there."""
        numbers = range(rig.log.partitions)
        rig.log.writer().append([message(Topic.TRANSITIONS, f"{n}", n) for n in numbers for _ in range(30)])
        reader = rig.log.reader()
        pins = reader.ends(Partition(Topic.TRANSITIONS, n) for n in numbers)
        records = [record for batch in replay(reader, dict.fromkeys(pins, 0), pins, timeout=30) for record in batch]
        assert len(records) == 30 * rig.log.partitions

    def test_hanging_transaction(self, rig: Rig) -> None:
        """A transaction that stays open is an error with position and pin, never an end that was reached."""
        rig.log.writer().append([message(Topic.TRANSITIONS, "before")])
        undecided = rig.transaction([message(Topic.TRANSITIONS, "open")])
        reader = rig.log.reader()
        pins = reader.ends([TRANSITIONS])
        assert pins == {TRANSITIONS: 2}
        with pytest.raises(LogError, match=r"transitions\[0\] at 1 of 2"):
            list(replay(reader, {TRANSITIONS: 0}, pins, timeout=1))
        undecided.abort()


class StepContract:
    """A session's steps."""

    def test_atomic(self, rig: Rig) -> None:
        """Nothing of a step is seen before its commit, everything after, offsets included."""
        session = _serving(rig, "s1")
        messages = [message(Topic.TRANSITIONS, "a", 0), message("dispatches.coders", "b", 1)]
        undecided = rig.prepare(session, messages, {RESULTS: 7})
        reader = rig.log.reader()
        reader.assign({TRANSITIONS: 0, Partition("dispatches.coders", 1): 0})
        assert reader.poll(10, 0.3) == []
        assert session.committed([RESULTS]) is None
        undecided.commit()
        assert sorted(values(take(reader, 2))) == ["a", "b"]
        assert committed(session, [RESULTS]) == {RESULTS: 7}

    def test_input_to_output(self, rig: Rig) -> None:
        """Inputs are polled from where the session resumed, and a step commits what it was told."""
        rig.log.writer().append([message(Topic.RESULTS, "in")])
        session = _serving(rig, "s1")
        (record,) = take(session, 1)
        assert session.position(record.source) == 1
        session.step([message(Topic.TRANSITIONS, "out")], {record.source: record.offset + 1})
        assert visible(rig.log) == ["out"]
        assert committed(session, [RESULTS]) == {RESULTS: 1}

    def test_offsets_per_partition(self, rig: Rig) -> None:
        """Each of several partitions keeps its own offset, and a successor reads nothing again (KTXN-7, KTXN-4)."""
        sources = [Partition(topic, n) for topic in (Topic.CONTRACTS, Topic.RESULTS) for n in range(3)]
        for round_ in range(3):
            rig.log.writer().append([message(each.topic, f"{round_}", each.number) for each in sources])
        session = _serving(rig, "s1")
        assert len(take(session, 18)) == 18
        offsets = {each: session.position(each) for each in sources}
        session.step([message(Topic.TRANSITIONS, "x", n) for n in range(3)], offsets)
        successor = _serving(rig, "s1")
        assert committed(successor, sources) == dict.fromkeys(sources, 3)
        rig.log.writer().append([message(Topic.RESULTS, "next", 1)])
        assert values(take(successor, 1)) == ["next"]

    def test_redelivery_after_abort(self, rig: Rig) -> None:
        """After an abort the same records come again once the session resumes at the committed offsets."""
        rig.log.writer().append([message(Topic.RESULTS, str(n)) for n in range(3)])
        session = _serving(rig, "s1")
        first = take(session, 3)
        rig.prepare(session, [message(Topic.TRANSITIONS, "undone")], {RESULTS: 3}).abort()
        serve(session)
        assert take(session, 3) == first
        session.step([message(Topic.TRANSITIONS, "done")], {RESULTS: 3})
        assert visible(rig.log) == ["done"]

    def test_step_needs_resume(self, rig: Rig) -> None:
        """A session that hasn't taken its shards over can't write, and polls nothing."""
        rig.log.writer().append([message(Topic.RESULTS, "in")])
        session = rig.log.session("s1")
        settle(rig.log, session)
        assert session.poll(10, 0.3) == []
        with pytest.raises(StepAbortedError):
            session.step([message(Topic.TRANSITIONS, "x")], {RESULTS: 0})
        assert visible(rig.log) == []

    @pytest.mark.parametrize("offsets", [{}, {RESULTS: -1}, {RESULTS: -1001}, {Partition(Topic.RESULTS, 1): 0}])
    def test_unfenced_step(self, rig: Rig, offsets: dict[Partition, int]) -> None:
        """A step without a known offset of each shard it writes to is refused: nothing would fence a zombie's."""
        session = _serving(rig, "s1")
        with pytest.raises(ValueError, match="offset"):
            session.step([message(Topic.TRANSITIONS, "x")], offsets)
        assert visible(rig.log) == []

    def test_oversize_step(self, rig: Rig) -> None:
        """A step with a message over the limit writes nothing, and the session goes on."""
        session = _serving(rig, "s1")
        large = Message(Topic.TRANSITIONS, b"k", bytes(MAX_MESSAGE_BYTES), 0)
        with pytest.raises(LogError, match="over the limit"):
            session.step([message(Topic.TRANSITIONS, "small"), large], {RESULTS: 0})
        session.step([message(Topic.TRANSITIONS, "next")], {RESULTS: 0})
        assert visible(rig.log) == ["next"]


class GroupContract:
    """Sessions come, go and fence each other."""

    def test_shards_are_shared(self, rig: Rig) -> None:
        """Two sessions own disjoint ranges; the epoch rises, and records of the old ownership are dropped."""
        first = _serving(rig, "s1")
        before = first.epoch
        rig.log.writer().append([message(Topic.RESULTS, "late")])
        second = rig.log.session("s2")
        settle(rig.log, first, second)
        assert first.epoch > before
        assert len(first.shards) == len(second.shards) == rig.log.partitions // 2
        for session in (first, second):
            serve(session)
        owner = first if 0 in first.shards else second
        assert values(take(owner, 1)) == ["late"]

    def test_lost_shard(self, rig: Rig) -> None:
        """A step over a shard that went to another is aborted, and so is one of an epoch that wasn't taken over."""
        first = _serving(rig, "s1")
        second = rig.log.session("s2")
        settle(rig.log, first, second)
        lost = min(second.shards)
        with pytest.raises(StepAbortedError):
            first.step([message(Topic.TRANSITIONS, "x", lost)], {Partition(Topic.RESULTS, lost): 0})
        serve(first)
        with pytest.raises(StepAbortedError):
            first.step([message(Topic.TRANSITIONS, "x", lost)], {Partition(Topic.RESULTS, lost): 0})
        assert visible(rig.log, partition=lost) == []

    def test_resume_of_foreign_partition(self, rig: Rig) -> None:
        """Only owned partitions can be resumed."""
        session = rig.log.session("s1")
        with pytest.raises(ValueError, match="not owned"):
            session.resume({RESULTS: 0})

    def test_fenced_predecessor(self, rig: Rig) -> None:
        """A new session of a name gets the shards; the old one can't write any more and learns it."""
        old = _serving(rig, "s1")
        undecided = rig.prepare(old, [message(Topic.TRANSITIONS, "zombie")], {RESULTS: 5})
        new = _serving(rig, "s1")
        with pytest.raises(FencedError):
            undecided.commit()
        assert committed(new, [RESULTS]) == {RESULTS: -1}
        new.step([message(Topic.TRANSITIONS, "new")], {RESULTS: 1})
        with pytest.raises(FencedError):
            take(old, 1)
        assert visible(rig.log) == ["new"]
        assert committed(new, [RESULTS]) == {RESULTS: 1}

    def test_fenced_step(self, rig: Rig) -> None:
        """The old session's next step raises, and leaves nothing."""
        old = _serving(rig, "s1")
        old.step([message(Topic.TRANSITIONS, "old")], {RESULTS: 1})
        new = _serving(rig, "s1")
        with pytest.raises((FencedError, StepAbortedError)):
            old.step([message(Topic.TRANSITIONS, "zombie")], {RESULTS: 2})
        new.step([message(Topic.TRANSITIONS, "new")], {RESULTS: 2})
        assert visible(rig.log) == ["old", "new"]

    def test_name_taken_back(self, rig: Rig) -> None:
        """A fenced session that goes on polling joins again and fences in its turn: whoever counts, stops."""
        old = _serving(rig, "s1")
        new = _serving(rig, "s1")
        with pytest.raises(FencedError):
            take(old, 1)
        assert old.shards == frozenset()
        settle(rig.log, old)
        serve(old)
        old.step([message(Topic.TRANSITIONS, "old")], {RESULTS: 1})
        with pytest.raises(FencedError):
            take(new, 1)
        assert visible(rig.log) == ["old"]

    def test_ends_show_open_transactions(self, rig: Rig) -> None:
        """A session's pins count what is not decided yet."""
        session = _serving(rig, "s1")
        undecided = rig.transaction([message(Topic.TRANSITIONS, "open")])
        assert session.ends([TRANSITIONS]) == {TRANSITIONS: 1}
        undecided.commit()

    def test_close_twice(self, rig: Rig) -> None:
        """Closing is idempotent, for all four."""
        for each in (rig.log.session("s1"), rig.log.reader(), rig.log.writer(), rig.log):
            each.close()
            each.close()


class LogContract(ReadAndWriteContract, CatchUpContract, StepContract, GroupContract):
    """All of it."""


def _serving(rig: Rig, name: str) -> Session:
    session = rig.log.session(name)
    settle(rig.log, session)
    assert {each.number for each in inputs_of(session)} == set(range(rig.log.partitions))
    serve(session)
    return session
