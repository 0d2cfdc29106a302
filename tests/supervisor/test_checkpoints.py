"""Checkpoints on the log in memory: a takeover that begins from them holds what one from history's start holds."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid5

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.codec import decode
from remit.errors import HistoryGapError, LogError
from remit.events.envelope import message
from remit.events.service import Checkpoint, CheckpointKind
from remit.events.transitions import TransitionKind, WorkflowStatus, Writer
from remit.log.protocols import Message, Partition, Recorded
from remit.topics import Topic, partition_of, shard_key, workflow_key
from supervisor import checkpoint, checkpointer, packed, states
from supervisor.state import STATE_SCHEMA, State, Workflow
from tests.supervisor.test_takeover import NAMES, RARE, check_equivalent, folded, moves
from tests.supervisor.world import World, completed, two_tasks

KEY = ("default", "w1")
SHARD = partition_of(workflow_key(*KEY), 2)


def checkpoints(world: World) -> list[Checkpoint]:
    every = [decode(Topic.CHECKPOINTS, each.value) for each in world.read(Topic.CHECKPOINTS)]
    return [each for each in every if isinstance(each, Checkpoint)]


def save(world: World) -> None:
    """Let a pass run to its end, now."""
    running = world.supervisor._checkpointer
    assert running is not None
    running.due = world.clock()
    world.settle()


def begin_a_pass(world: World) -> None:
    """Let a pass begin, one checkpoint in each turn, and no more than one turn."""
    running = world.supervisor._checkpointer
    if running is not None:
        running.due = world.clock()
        world.supervisor.turn(0.0)


def finished(world: World) -> None:
    world.worker()
    world.submit(two_tasks())
    world.settle()
    for _ in range(2):
        world.run(world.offer())
    assert world.workflow().status.value == "accepted"


def again(world: World) -> None:
    """Take over anew, and hold what a fold from history's start holds."""
    world.restart()
    world.settle()
    check_equivalent(world)


def lay(world: World, event: Checkpoint) -> None:
    world.writer.append([message(event, Topic.CHECKPOINTS)])


def read_whole(world: World) -> bool:
    """Whether the last takeover folded the workflow's transitions from the first one."""
    return world.counts()["folded"] >= len({each.sequence for each in world.history()})


@pytest.fixture
def saved(world: World) -> World:
    """A world with a finished workflow and its checkpoint."""
    finished(world)
    save(world)
    return world


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from([*NAMES, *RARE, "restart", "save", "begin", "begin"]), max_size=24))
def test_a_takeover_from_checkpoints_holds_what_one_from_zero_holds(played: list[str]) -> None:
    """FLOW-3, law 4: whenever checkpoints were written, whole passes or torn ones, checkpoint + tail = from zero."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(checkpointer, "PART", 1)
        world = World(Path(folder))
        world.worker()
        world.submit(two_tasks())
        world.settle()
        every = moves(world) | {"save": lambda: save(world), "begin": lambda: begin_a_pass(world)}
        for name in played:
            every[name]()
            if name != "begin":
                world.settle()
                check_equivalent(world)
            assert (world.supervisor.shards is None) or world.counts()["position_alarm"] == 0
        again(world)
        world.close()


def test_a_takeover_reads_only_what_follows_the_marker(saved: World) -> None:
    """FLOW-3: after a pass, nothing of a finished workflow is folded again, and its state is there all the same."""
    again(saved)
    assert saved.counts()["folded"] == 0
    assert saved.shards.state(KEY) == saved.state()


def test_a_closed_workflow_leaves_what_answers_a_repeated_submission(saved: World) -> None:
    """STATE-5: after a takeover from checkpoints the same content is a duplicate, other content is refused."""
    [closed] = [each for each in checkpoints(saved) if each.kind is CheckpointKind.CLOSED]
    workflow = saved.workflow()
    assert (closed.content_digest, closed.outcome) == (workflow.content_digest, "accepted")
    assert closed.sequence == workflow.sequence
    saved.restart()
    saved.submit(two_tasks())
    saved.submit(two_tasks(objective="another"))
    saved.settle()
    assert saved.kinds()[-2:] == ["duplicate", "contract_rejected"]
    assert len(saved.sent()) == 2
    check_equivalent(saved)


def test_a_late_result_is_booked_to_a_workflow_that_is_known_from_its_checkpoint(world: World) -> None:
    """STATE-7: what a closed workflow's attempt used is booked although its state came packed from a checkpoint."""
    offer = world.begun()
    world.cancel()
    world.settle()
    world.forward(3600)
    world.settle()
    save(world)
    again(world)
    world.result(offer, completed(offer, world))
    world.settle()
    assert world.kinds()[-1] == "late_usage"
    check_equivalent(world)


def test_a_shard_s_own_notes_and_positions_come_from_its_marker(world: World) -> None:
    """RETRY-4: with the bad record last, a takeover from checkpoints writes no second dead letter, raises no alarm."""
    finished(world)
    world.raw(Topic.RESULTS, b"?")
    world.settle()
    save(world)
    again(world)
    assert (len(world.dead_letters()), world.counts()["position_alarm"]) == (1, 0)
    world.raw(Topic.RESULTS, b"?")
    world.settle()
    assert [each.source_offset for each in world.dead_letters()][-1] > 0
    check_equivalent(world)


def sealed(each: Checkpoint, **changed: Any) -> Checkpoint:
    """Another checkpoint, as a writer of ours would seal it."""
    return checkpoint._sealed(replace(each, state=(each.state or b"")[checkpoint.SEAL :], **changed))


def damaged(each: Checkpoint) -> Checkpoint:
    return replace(each, state=(each.state or b"")[:-1])


def of_another_sequence(each: Checkpoint) -> Checkpoint:
    return replace(each, sequence=each.sequence - 3)


def of_another_kind(each: Checkpoint) -> Checkpoint:
    return replace(each, kind=CheckpointKind.WORKFLOW)


def with_other_positions(each: Checkpoint) -> Checkpoint:
    return replace(each, positions=tuple(replace(one, next_offset=one.next_offset + 1) for one in each.positions))


def of_another_fold(each: Checkpoint) -> Checkpoint:
    """As a build would write it whose states or transitions are others."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(checkpoint, "STATE_SCHEMA", STATE_SCHEMA + 1)
        return sealed(each)


def of_an_older_writer(each: Checkpoint) -> Checkpoint:
    return sealed(each, writer=Writer(instance="s0", generation=0))


def of_a_writer_without_end(each: Checkpoint) -> Checkpoint:
    return replace(each, writer=Writer(instance="s0", generation=2**63 - 1))


def from_before_the_marker(each: Checkpoint) -> Checkpoint:
    return sealed(each, transitions_offset=(each.transitions_offset or 0) - 1)


def in_another_shard(each: Checkpoint) -> Checkpoint:
    return sealed(each, shard=1 - each.shard)


def without_its_place(each: Checkpoint) -> Checkpoint:
    return sealed(each, transitions_offset=None)


def beyond_the_end(each: Checkpoint) -> Checkpoint:
    return sealed(each, transitions_offset=(each.transitions_offset or 0) + 100)


HARM: list[tuple[CheckpointKind, Callable[[Checkpoint], Checkpoint]]] = [
    *(
        (CheckpointKind.CLOSED, harm)
        for harm in (of_another_sequence, of_another_kind, of_an_older_writer, from_before_the_marker)
    ),
    (CheckpointKind.SHARD, with_other_positions),
    *(
        (kind, harm)
        for kind in (CheckpointKind.CLOSED, CheckpointKind.SHARD)
        for harm in (
            damaged,
            of_another_fold,
            of_a_writer_without_end,
            in_another_shard,
            without_its_place,
            beyond_the_end,
        )
    ),
]


@pytest.mark.parametrize(("kind", "harm"), HARM)
def test_a_checkpoint_in_doubt_is_not_used(
    saved: World, kind: CheckpointKind, harm: Callable[[Checkpoint], Checkpoint]
) -> None:
    """FLOW-3: a corrupt one, one of an unknown state schema, an older supervisor's: history is read, it is mended."""
    [last] = [each for each in checkpoints(saved) if each.kind is kind and each.shard == SHARD][-1:]
    if harm is in_another_shard and kind is CheckpointKind.SHARD:
        laid = message(replace(last, shard=1 - SHARD), Topic.CHECKPOINTS)
        saved.writer.append([Message(laid.topic, shard_key(SHARD), laid.value, SHARD)])
    else:
        lay(saved, harm(last))
    again(saved)
    assert read_whole(saved)
    save(saved)
    again(saved)
    assert saved.counts()["folded"] == 0


def unreadable(world: World, value: bytes | None) -> None:
    world.raw(Topic.CHECKPOINTS, value)
    again(world)


@pytest.mark.parametrize("value", [b"?", b"", None])
def test_bytes_that_are_no_checkpoint_take_none_away_silently(saved: World, value: bytes | None) -> None:
    """FLOW-3: garbage or nothing under a workflow's key means that history is read; the next pass mends it."""
    unreadable(saved, value)
    assert read_whole(saved)
    save(saved)
    again(saved)
    assert saved.counts()["folded"] == 0


def test_garbage_under_a_key_that_can_be_no_workflow_s_harms_nothing(saved: World) -> None:
    """FLOW-3: one bad record doesn't make every restart slow for ever."""
    saved.raw(Topic.CHECKPOINTS, b"?", key=b"\xff", partition=SHARD)
    again(saved)
    assert saved.counts()["folded"] == 0


def _beside() -> Iterator[str]:
    """Other workflow ids of the same shard."""
    return (f"x{number}" for number in count() if partition_of(workflow_key("default", f"x{number}"), 2) == SHARD)


def test_a_lost_tail_is_not_topped_by_what_still_has_it(world: World) -> None:
    """A log that lost its tail in a crash of the machine, and has grown again: its old checkpoints are of no use."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    held = world.log._store._held[Partition(Topic.TRANSITIONS, SHARD)]
    kept = len(held.entries)
    world.claim(world.offer())
    world.settle()
    save(world)
    end = held.end
    del held.entries[kept:]
    world.restart()
    others = _beside()
    while held.end < end:
        name = next(others)
        world.submit(two_tasks(workflow_id=name), name)
        for _ in range(4):
            world.supervisor.turn(0.0)
    again(world)


def test_a_gap_in_history_is_told_although_a_checkpoint_has_it(saved: World) -> None:
    """KOPS-1: records that retention took are missed at once, not on the day a checkpoint is in doubt."""
    saved.log.delete_before(Partition(Topic.TRANSITIONS, SHARD), 3)
    saved.restart()
    with pytest.raises(HistoryGapError, match="the earliest is 3"):
        saved.settle()


def test_a_state_that_turns_out_to_be_none_is_read_from_history(saved: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever a packed state can't be read, at a takeover or when a record comes for it, history is read instead."""
    again(saved)
    monkeypatch.setattr(states, "unpack", _unreadable_once(monkeypatch))
    saved.submit(two_tasks())
    saved.settle()
    assert saved.kinds()[-1] == "duplicate"
    assert not saved.dead_letters()
    check_equivalent(saved)


def _unreadable_once(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], State]:
    def raises(_packed: bytes) -> State:
        monkeypatch.setattr(states, "unpack", packed.unpack)
        raise packed.UnreadableStateError("DecodeError")

    return raises


def test_an_open_state_that_is_none_stops_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A takeover that meets such a state begins at history's start; the process goes on."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    save(world)
    calls = Counter[str]()

    def raises(_packed: bytes) -> State:
        calls["unpack"] += 1
        raise packed.UnreadableStateError("DecodeError")

    monkeypatch.setattr(checkpoint, "unpack", raises)
    again(world)
    assert calls["unpack"] == 1
    assert read_whole(world)


def test_a_checkpoint_that_is_gone_is_missed(saved: World) -> None:
    """A marker counts the workflows beside it: one that compaction took with a foreign tombstone is read again."""
    held = saved.log._store._held[Partition(Topic.CHECKPOINTS, SHARD)]
    for place, each in enumerate(held.entries):
        if each.record is not None and each.record.key == workflow_key(*KEY):
            held.entries[place] = dataclasses.replace(each, record=None)
    again(saved)
    assert read_whole(saved)


def test_a_conflict_behind_the_marker_is_judged_by_the_whole_history(saved: World) -> None:
    """STATE-3: a repeated sequence freezes its workflow, whether the checkpoint has it or not."""
    last = saved.history()[-1]
    saved.writer.append([message(last, Topic.TRANSITIONS)])
    saved.restart()
    saved.settle()
    assert saved.shards.frozen == folded(saved).frozen == {KEY: "history_conflict"}
    assert read_whole(saved)


def test_what_history_froze_stays_frozen_behind_a_marker(saved: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frozen workflow's record isn't read again by the same build, and is by another one."""
    saved.writer.append([message(saved.history()[-1], Topic.TRANSITIONS)])
    saved.restart()
    saved.settle()
    saved.raw(Topic.RESULTS, b"?")
    saved.settle()
    save(saved)
    saved.restart()
    saved.settle()
    assert (saved.shards.frozen, saved.counts()["folded"]) == ({KEY: "history_conflict"}, 0)
    saved.cancel()
    saved.settle()
    assert "the workflow is frozen: history_conflict" in [each.reason for each in saved.dead_letters()]
    monkeypatch.setattr(checkpoint, "_build", lambda: "another")
    saved.restart()
    saved.settle()
    assert saved.shards.frozen == {KEY: "history_conflict"}
    assert read_whole(saved)


def test_a_state_over_the_limit_is_left_out_and_its_history_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KOPS-5: a checkpoint that is too large is not written, nor a marker that would pass its history by."""

    def refuse(messages: list[Message]) -> None:
        if messages[0].key == workflow_key(*KEY):
            raise LogError("checkpoints: a message of 9 bytes is over the limit of 8 bytes")

    monkeypatch.setattr(checkpointer, "refuse_oversize", refuse)
    finished(world)
    for number in (2, 3):  # two passes, of which the second has nothing to say of the large one
        save(world)
        assert not [each for each in checkpoints(world) if each.shard == SHARD and each.kind is CheckpointKind.SHARD]
        name = f"w{number}"
        world.submit(two_tasks(workflow_id=name), name)
        world.settle()
    again(world)
    assert read_whole(world)
    world.submit(two_tasks())
    world.settle()
    assert world.kinds()[-1] == "duplicate"


def test_timers_alone_are_worth_a_pass(world: World) -> None:
    """What only the clock decided is in the checkpoints too."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    save(world)
    before = len(checkpoints(world))
    world.forward(3600 * 25)
    world.settle()
    save(world)
    assert len(checkpoints(world)) > before
    again(world)
    assert world.counts()["folded"] == 0


def test_a_generation_never_comes_again(world: World) -> None:
    """A takeover from history's start is newer than every writer of a checkpoint, used or refused."""
    finished(world)
    for _ in range(3):
        again(world)
        for key in (b"default/w1", b"default/w2"):
            world.raw(Topic.RESULTS, b"?", key=key)
        world.settle()
        save(world)
    before = dict(world.shards.generations)
    for shard in before:
        name = next(n for n in count() if partition_of(b"default/x%d" % n, 2) == shard)
        world.raw(Topic.CHECKPOINTS, b"?", key=b"default/x%d" % name)
    again(world)
    assert all(world.shards.generations[shard] > generation for shard, generation in before.items())
    save(world)
    again(world)
    assert world.counts()["folded"] == 0


def test_the_group_is_served_while_states_are_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """KTXN-9: no more states are restored between two polls than the stated number."""
    monkeypatch.setattr(checkpoint, "PAUSE", 3)
    for number in range(20):
        world.submit(two_tasks(workflow_id=f"w{number}"), f"w{number}")
    world.settle()
    save(world)
    world.restart()
    restored, most = Counter[str](), [0]
    poll, unpack = world.supervisor._session.poll, packed.unpack

    def polled(limit: int, timeout: float) -> list[Recorded]:
        most.append(restored.pop("states", 0))
        return poll(limit, timeout)

    def counted(whole: bytes) -> State:
        restored["states"] += 1
        return unpack(whole)

    monkeypatch.setattr(world.supervisor._session, "poll", polled)
    monkeypatch.setattr(checkpoint, "unpack", counted)
    world.settle()
    assert sum(most) == 20
    assert max(most) <= 3 + 2  # the last of one shard, the first of the next


def test_a_pass_that_was_torn_leaves_the_old_marker(saved: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill between two parts of a pass: newer states beside an older marker, and nothing is lost or doubled."""
    monkeypatch.setattr(checkpointer, "PART", 1)
    for name in islice(_beside(), 4):
        saved.submit(two_tasks(workflow_id=name), name)
    saved.settle()
    before = len(checkpoints(saved))
    begin_a_pass(saved)
    assert len(checkpoints(saved)) == before + 1
    again(saved)
    assert saved.counts()["skipped"] > 0
    saved.alive(slots=9)
    saved.settle()
    check_equivalent(saved)


LONG, CLOSED = 60_000, 2_000


def _lengthen(world: World, workflow_id: str) -> None:
    """Give the workflow notes until it has so many transitions, as if it had been resubmitted again and again."""
    last = world.history(workflow_id)[-1]
    assert last.kind is TransitionKind.DUPLICATE
    number = replace(last, event_id=uuid5(last.event_id, "0"))
    notes = (replace(number, sequence=sequence) for sequence in range(last.sequence + 1, LONG + 1))
    world.writer.append([message(each, Topic.TRANSITIONS) for each in notes])


def _multiply(world: World) -> None:
    """Write the finished workflow's history again under so many other ids of the same length."""
    history = world.read(Topic.TRANSITIONS)
    for number in range(CLOSED):
        other = b"%04d" % number
        copies = [(each.key or b"", each.value or b"") for each in history]
        renamed = [(key.replace(b"w001", other), value.replace(b"w001", other)) for key, value in copies]
        world.writer.append([Message(Topic.TRANSITIONS, key, value) for key, value in renamed])


def test_a_long_history_costs_a_restart_only_its_tail(world: World) -> None:
    """FLOW-3: 60,000 transitions of one workflow, 2,000 closed ones beside it: restart, stop, rebuild, same state.

    That a restart stays within its figure is counted in transitions that are read, not in seconds.
    """
    world.worker()
    world.submit(two_tasks(workflow_id="w001"), "w001")
    world.settle()
    for _ in range(2):
        world.run(world.offer())
    _multiply(world)
    for _ in range(2):
        world.submit(two_tasks(workflow_id="long"), "long")
        world.settle()
    _lengthen(world, "long")
    world.restart()
    world.settle()
    assert len(world.shards.states) == CLOSED + 2
    save(world)
    again(world)
    assert world.counts()["folded"] == 0
    world.cancel("long")
    world.settle()
    world.restart()
    world.settle()
    assert world.counts()["folded"] < 10
    stopped = world.shards.state(("default", "long"))
    assert isinstance(stopped, Workflow)
    assert stopped.status is WorkflowStatus.STOPPED


def marked(world: World) -> bool:
    """Whether the shard has a marker."""
    return any(each.kind is CheckpointKind.SHARD and each.shard == SHARD for each in checkpoints(world))


def some(world: World, number: int) -> list[str]:
    """Submit so many workflows of one shard, and let the next pass write one in each step."""
    names = list(islice(_beside(), number))
    for name in names:
        world.submit(two_tasks(workflow_id=name), name)
    world.settle()
    return names


def test_what_changes_while_a_pass_runs_is_not_passed_by(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workflow that is decided after its part and before the marker is folded on by the next takeover."""
    monkeypatch.setattr(checkpointer, "PART", 1)
    first, *_ = some(world, 4)
    begin_a_pass(world)
    world.cancel(first)
    for _ in range(3):
        world.supervisor.turn(0.0)
    assert marked(world)
    again(world)
    assert not world.shards.void


def test_what_changed_while_a_pass_ran_is_in_the_next_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later pass takes up what the one before it could not have."""
    monkeypatch.setattr(checkpointer, "PART", 1)
    first, second, *_ = some(world, 4)
    begin_a_pass(world)
    world.cancel(first)
    for _ in range(4):
        world.supervisor.turn(0.0)
    world.submit(two_tasks(workflow_id=second), second)
    world.settle()
    save(world)
    again(world)
    assert (world.shards.void, world.counts()["folded"]) == (set(), 0)


def test_a_workflow_that_is_born_while_a_pass_runs_spoils_no_marker(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A marker counts the workflows that there were when its pass began."""
    monkeypatch.setattr(checkpointer, "PART", 1)
    some(world, 4)
    begin_a_pass(world)
    late = list(islice(_beside(), 5))[-1]
    world.submit(two_tasks(workflow_id=late), late)
    for _ in range(4):
        world.supervisor.turn(0.0)
    assert marked(world)
    again(world)
    assert not world.shards.void


@pytest.mark.parametrize("following", [1, 2])
def test_what_follows_a_checkpoint_newer_than_the_marker_is_folded(
    world: World, monkeypatch: pytest.MonkeyPatch, following: int
) -> None:
    """The first transition behind a newer checkpoint is the first that isn't passed by."""
    monkeypatch.setattr(checkpointer, "PART", 1)
    world.worker()
    names = some(world, 3)
    save(world)
    for name in names:
        world.submit(two_tasks(workflow_id=name), name)
    world.settle()
    begin_a_pass(world)
    for _ in range(following):
        world.submit(two_tasks(workflow_id=names[0]), names[0])
    world.supervisor._checkpointer = None
    world.settle()
    again(world)
    assert not world.shards.void
    assert world.counts()["skipped"] > 0


def test_a_key_that_was_litter_may_become_a_workflow_s(world: World) -> None:
    """Garbage under the key of a workflow that is not there yet is no trouble to it."""
    finished(world)
    save(world)
    [name] = islice(_beside(), 1)
    world.raw(Topic.CHECKPOINTS, b"?", key=workflow_key("default", name))
    again(world)
    save(world)
    again(world)
    world.submit(two_tasks(workflow_id=name), name)
    world.settle()
    save(world)
    again(world)
    assert (world.shards.void, world.counts()["folded"]) == (set(), 0)


PLACES = [(workflow_key(*KEY), 1 - SHARD), (workflow_key("default", next(_beside())), SHARD)]


@pytest.mark.parametrize(("key", "partition"), PLACES, ids=["another shard", "another key"])
def test_a_transition_that_lies_where_none_of_ours_does_is_passed_over(
    saved: World, key: bytes, partition: int
) -> None:
    """KOPS-4: a foreign record stops nothing, neither now nor at the next pass, and counts for nothing."""
    laid = message(saved.history()[-1], Topic.TRANSITIONS)
    saved.raw(Topic.TRANSITIONS, laid.value, key=key, partition=partition)
    saved.restart()
    saved.submit(two_tasks(workflow_id="w2"), "w2")
    saved.settle()
    assert (saved.counts()["misplaced"], saved.shards.frozen) == (1, {})
    save(saved)
    saved.restart()
    saved.settle()
    assert (saved.counts()["folded"], saved.shards.void) == (0, set())


def test_checkpoints_come_by_themselves_and_only_after_a_change(world: World) -> None:
    """Every ten seconds in which something was decided, and never otherwise."""
    finished(world)
    assert not checkpoints(world)
    world.forward(checkpointer.EVERY.total_seconds())
    world.settle()
    written = checkpoints(world)
    assert {each.kind for each in written} == {CheckpointKind.CLOSED, CheckpointKind.SHARD}
    world.forward(3600)
    world.settle()
    assert checkpoints(world) == written


def test_a_closed_workflow_is_kept_packed(saved: World) -> None:
    """A workflow of which nothing is awaited costs the memory of its packed form."""
    packed = saved.shards.states.packed(KEY)
    assert packed is not None
    assert len(packed) < 4096
    assert [type(state) for _, state in saved.shards.states.all()] == [Workflow]
