"""Restarts, hand-overs and zombies on the log in memory: state and position come from the log alone."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.codec import decode
from remit.errors import FencedError, StepAbortedError
from remit.events.envelope import message
from remit.events.inputs import Contract
from remit.events.transitions import Transition
from remit.log.protocols import Message, Partition
from remit.topics import INPUTS, Topic, partition_of
from supervisor.service import Supervisor
from supervisor.shard import Shards
from supervisor.state import Workflow
from tests.supervisor.world import World, completed, two_tasks


def parallel(tasks: int, workflow_id: str = "w1") -> dict[str, Any]:
    """So many tasks side by side; the first bears the check."""
    names = [f"t{number}" for number in range(tasks)]
    task = {"task_type": "shell", "permissions": {"repository": "none"}}
    check = {"id": "works", "kind": "command", "task": "t0", "command": "suite", "holds_at": "none"}
    wanted = two_tasks(workflow_id=workflow_id, checks={"it works": [check]})
    return wanted | {"tasks": {name: task | {"objective": name} for name in names}}


def folded(world: World) -> Shards:
    """What a takeover would hold of the log as it stands."""
    shards = Shards(world.log.partitions)
    for recorded in world.read(Topic.TRANSITIONS):
        event = decode(Topic.TRANSITIONS, recorded.value)
        assert isinstance(event, Transition)
        shards.read(event, recorded.partition, recorded.offset)
    shards.index()
    return shards


def check_equivalent(world: World) -> None:
    """The state of a supervisor that went on is that of one which takes over now, and so are its positions."""
    live, fresh = world.shards, folded(world)
    assert live.states == fresh.states
    assert live.decided == fresh.decided
    assert (live.frozen, live.unfoldable) == (fresh.frozen, fresh.unfoldable)
    assert _clocks(live) == _clocks(fresh)
    assert live.sequences == fresh.sequences
    assert live.queued.lines == fresh.queued.lines
    assert (live.load.attempts, +live.load.pools) == (fresh.load.attempts, +fresh.load.pools)


def _clocks(shards: Shards) -> dict[tuple[str, int], datetime]:
    """Without that of leases, which claims move that leave no transition."""
    return {place: at for place, at in shards.clock.items() if place[0] != Topic.LEASES}


def moves(world: World) -> dict[str, Callable[[], None]]:
    def last(then: Callable[[Any], None]) -> Callable[[], None]:
        return lambda: then(world.sent()[-1]) if world.sent() else None

    return {
        "submit": lambda: world.submit(two_tasks()),
        "other": lambda: world.submit(parallel(2, "w2"), "w2"),
        "alive": world.alive,
        "claim": last(world.claim),
        "decline": last(world.decline),
        "renew": last(lambda offer: world.renew(offer, progress=1)),
        "result": last(lambda offer: world.result(offer, completed(offer, world))),
        "bad result": last(lambda offer: world.result(offer, completed(offer, world, evidence=()))),
        "malformed": last(lambda offer: world.result(offer, None)),
        "second": lambda: world.forward(1),
        "offer over": lambda: world.forward(11),
        "lease over": lambda: world.forward(31),
        "cancel": lambda: world.cancel("w2"),
        "garbage": lambda: world.raw(Topic.RESULTS, b"?"),
        "restart": world.restart,
    }


NAMES = ["submit", "other", *["claim", "result", "alive"] * 3, "decline", "renew", "bad result", "malformed", "second"]
RARE = ["offer over", "lease over", "cancel", "garbage", "restart"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from([*NAMES, *RARE]), max_size=20))
def test_a_supervisor_that_takes_over_holds_what_one_that_went_on_holds(played: list[str]) -> None:
    """Law 4, takeover: after every step the fold of the log is the state in memory, positions included."""
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.worker()
        world.submit(two_tasks())
        world.settle()
        for name in played:
            moves(world)[name]()
            world.settle()
            check_equivalent(world)
            assert world.counts()["position_alarm"] == 0
        world.close()


def test_a_rebuild_writes_nothing(world: World) -> None:
    """IDEM-5: taking over, twice, leaves every end offset as it was, and live work then goes on."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    world.run(world.offer())
    before = world._size()
    for _ in range(2):
        world.restart()
        world.settle()
        assert world._size() == before
    world.run(world.offer())
    assert world.workflow().status.value == "accepted"


@pytest.mark.parametrize("stage", range(5))
def test_a_kill_at_any_stage_changes_no_verdict(world: World, stage: int) -> None:
    """Killed after submitted, offered, running, awaiting_review or between tasks: same verdicts, same attempt count."""
    world.worker()
    steps: list[Callable[[], None]] = [
        lambda: world.submit(two_tasks()),
        world.settle,
        lambda: world.claim(world.offer()),
        world.settle,
        lambda: world.result(world.offer(), completed(world.offer(), world)),
    ]
    for number, each in enumerate(steps):
        each()
        if number == stage:
            world.restart()
    world.settle()
    world.alive()
    world.settle()
    world.run(world.offer())
    workflow = world.workflow()
    assert workflow.status.value == "accepted"
    assert [task.attempts_started for task in workflow.tasks.values()] == [1, 1]


def test_only_the_dead_worker_s_task_is_dispatched_again(world: World) -> None:
    """STATE-4: three live workers, one that died with the supervisor: its task alone, one full lease later."""
    for number in range(4):
        world.worker(f"w{number}")
    world.submit(parallel(4))
    world.settle()
    offers = {each.worker_id: each for each in world.sent()}
    assert len(offers) == 4
    for offer in offers.values():
        world.claim(offer)
    world.settle()
    world.forward(29)
    world.restart()
    world.settle()
    taken_over = world.clock()
    for _ in range(2):
        world.forward(16)
        for worker_id in ("w1", "w2", "w3"):
            world.renew(offers[worker_id])
            world.alive(worker_id)
        world.settle()
    (expired,) = (each for each in world.history() if each.kind.value == "lease_expired")
    assert expired.task_id == offers["w0"].task_id
    assert timedelta(seconds=30) <= expired.decided_at - taken_over < timedelta(seconds=40)
    world.forward(31)
    for worker_id in ("w1", "w2", "w3"):
        world.renew(offers[worker_id])
    world.worker("w9")
    world.settle()
    again = [each for each in world.sent() if each.attempt_id not in {o.attempt_id for o in offers.values()}]
    assert [each.task_id for each in again] == [offers["w0"].task_id]


def test_one_id_is_one_workflow(world: World) -> None:
    """STATE-5: the same content again is a duplicate, whatever its white space; other content is refused."""
    world.worker()
    world.submit(two_tasks())
    world.submit(dict(reversed(two_tasks().items())))
    world.submit(two_tasks(objective="Other"))
    world.settle()
    state = world.workflow()
    assert sorted(world.kinds()) == ["contract_accepted", "contract_rejected", "dispatched", "duplicate"]
    assert state.contract.objective == "Try it"
    rejected = next(each for each in world.history() if each.rejection)
    assert (rejected.reason, rejected.version) == ("taken", 1)


def test_a_digest_that_is_not_the_document_s_is_believed_by_nobody(world: World) -> None:
    """STATE-5: other content under the digest of the accepted one is refused, not taken for a repeat."""
    world.submit(two_tasks())
    world.settle()
    state = world.workflow()
    said = {"kind": "submitted", "document": "{}", "content_digest": state.content_digest, "submitter": "user:eve"}
    world.write_input(Topic.CONTRACTS, Contract, "w1", **said)
    world.settle()
    assert world.kinds()[-1] == "contract_rejected"


def test_nothing_is_read_again_after_a_restart(world: World) -> None:
    """KTXN-4, KTXN-7: each partition of each topic is committed at its own last + 1; a restart re-reads nothing."""
    world.worker(slots=9)
    for number in range(10):
        world.submit(two_tasks(workflow_id=f"w{number}"), f"w{number}")
    world.settle()
    for offer in world.sent():
        world.claim(offer)
        world.cancel(offer.workflow_id, "b")
    world.settle()
    every = [Partition(topic, n) for topic in INPUTS for n in range(world.log.partitions)]
    written = {each.source: each.offset + 1 for topic in INPUTS for each in world.read(topic)}
    committed = world.log._store._committed
    assert {each: committed[each] for each in every if each in written} == written
    before = world._size()
    world.restart()
    world.settle()
    assert (world.counts()["decided_before"], world.counts()["position_alarm"], world._size()) == (0, 0, before)


def test_an_aborted_tail_shows_in_no_state(world: World) -> None:
    """KTXN-5: a takeover ends on a marker, on five aborted transitions and on empty shards, and shows none of them."""
    world.submit(two_tasks())
    world.settle()
    state = world.state()
    session: Any = world.supervisor._session
    last = world.history()[-1]
    for number in range(world.log.partitions):
        forged = [message(replace(last, sequence=last.sequence + each), Topic.TRANSITIONS) for each in range(1, 6)]
        offsets = {Partition(Topic.CONTRACTS, number): session.position(Partition(Topic.CONTRACTS, number))}
        aborted = [Message(each.topic, each.key, each.value, number) for each in forged]
        session.prepare(aborted, offsets).abort()
        world.restart()
        world.settle()
        session = world.supervisor._session
    assert (world.shards.state(("default", "w1")), world.counts()["position_alarm"]) == (state, 0)


def test_an_offset_set_back_repeats_nothing(world: World) -> None:
    """KTXN-4: with the group offset set back by one the record is skipped: no transition, one alarm."""
    world.submit(two_tasks())
    world.settle()
    partition = next(each.source for each in world.read(Topic.CONTRACTS))
    world.log._store._committed[partition] -= 1
    before = world._size()
    world.restart()
    world.settle()
    assert (world.counts()["decided_before"], world.counts()["position_alarm"], world._size()) == (1, 1, before)


def test_offsets_that_are_gone_repeat_and_lose_nothing(world: World) -> None:
    """Offsets that expired are known from the transitions; what came meanwhile is decided once."""
    world.submit(two_tasks())
    world.settle()
    world.cancel()
    world.log._store._committed.clear()
    world.restart()
    world.settle()
    assert world.kinds() == ["contract_accepted", "workflow_stopped"]


def test_leases_that_retention_took_do_not_stop_a_takeover(world: World) -> None:
    """After a long outage the leases' last offset is no longer held: reading goes on at the earliest."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    world.claim(world.offer())
    world.settle()
    partition = next(each.source for each in world.read(Topic.LEASES))
    for _ in range(3):
        world.renew(world.offer())
    world.log.delete_before(partition, 4)
    world.restart()
    world.settle()
    assert world.workflow().tasks["a"].status.value == "running"


# two supervisors


class Frozen(Exception):  # noqa: N818 - no error: a process that stands still
    """The process is paused here."""


def freeze_before_commit(supervisor: Supervisor, *, opened: bool) -> Callable[[], None]:
    """Pause the supervisor at its next step, before or after its transaction is open; what resuming it does."""
    session: Any = supervisor._session
    step = session.step
    held: list[Any] = []

    def paused(messages: Any, offsets: Any) -> None:
        held.append(session.prepare(messages, offsets) if opened else (messages, offsets))
        session.step = step
        raise Frozen

    def resume() -> None:
        if opened:
            held[0].commit()
        else:
            step(*held[0])

    session.step = paused
    return resume


@pytest.mark.parametrize("opened", [False, True])
def test_a_zombie_s_step_is_never_seen(world: World, opened: bool) -> None:
    """KTXN-1, STATE-3: S1 freezes over a result, S2 accepts and dispatches, S1 resumes: S2's work alone is there."""
    offer = world.begun()
    world.result(offer, completed(offer, world))
    zombie, resume = world.supervisor, freeze_before_commit(world.supervisor, opened=opened)
    with pytest.raises(Frozen):
        zombie.turn(0)
    world.log.expire_session("s1")
    if opened:
        world.log.expire_transaction("s1")
    world.supervisor = world.another("s2")
    world.settle()
    world.alive()
    world.settle()
    assert world.kinds()[-2:] == ["result_accepted", "dispatched"]
    alone = folded(world).states
    with pytest.raises(Exception, match=r"ended by another|changed hands|lost its membership"):
        resume()
    for _ in range(6):
        zombie.turn(0)
        world.supervisor.turn(0)
    world.others.append(zombie)
    assert folded(world).states == alone
    home = partition_of(b"default/w1", world.log.partitions)
    owner = next(each for each in (zombie, world.supervisor) if home in each._session.shards)
    assert owner.shards is not None
    assert owner.shards.state(("default", "w1")) == world.state()
    assert world.kinds().count("result_accepted") == 1
    assert [each.sequence for each in world.history()] == list(range(1, len(world.history()) + 1))
    owned = (zombie._session.shards, world.supervisor._session.shards)
    assert sorted(owned[0] | owned[1]) == [0, 1]


def test_two_that_start_at_once_dispatch_once(world: World) -> None:
    """STATE-4, second run: two supervisors share the shards; each workflow is decided by one of them."""
    second = world.another()
    world.worker(slots=9)
    for number in range(6):
        world.submit(two_tasks(workflow_id=f"w{number}"), f"w{number}")
    for _ in range(30):
        world.supervisor.turn(0)
        second.turn(0)
    assert world.supervisor._session.shards | second._session.shards == {0, 1}
    for number in range(6):
        assert world.kinds(f"w{number}")[:2] == ["contract_accepted", "dispatched"]
        assert world.kinds(f"w{number}").count("dispatched") == 1


def test_a_hand_over_goes_on_where_the_other_stood(world: World) -> None:
    """A supervisor that leaves hands its shards to the other, which decides on; generations only rise."""
    second = world.another()
    world.worker(slots=9)
    world.submit(two_tasks())
    for _ in range(20):
        world.supervisor.turn(0)
        second.turn(0)
    world.supervisor.close()
    world.supervisor = second
    world.settle()
    world.run(world.offer())
    world.run(world.offer())
    assert world.workflow().status.value == "accepted"
    generations = [each.writer.generation for each in world.history()]
    assert generations == sorted(generations)


def test_a_broken_fence_forks_no_history(world: World) -> None:
    """LEASE-6, STATE-3: a transition of an older generation behind a newer one is ignored and counted."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    world.restart()
    world.cancel()
    world.settle()
    state = world.workflow()
    last = world.history()[-1]
    zombie = replace(last, event_id=world.incarnations["w1"], writer=replace(last.writer, generation=1))
    world.writer.append([message(zombie, Topic.TRANSITIONS)])
    world.restart()
    world.settle()
    assert world.shards.states.get(("default", "w1")) == state
    assert (world.counts()["ignored"], world.shards.frozen) == (1, {})


def test_an_input_that_only_a_zombie_decided_is_not_lost(world: World) -> None:
    """STATE-3: what an ignored transition names as its cause was decided by nobody, and is decided now."""
    world.submit(two_tasks())
    world.settle()
    world.restart()
    world.cancel(task_id="b")
    world.settle()
    world.cancel()
    record = world.read(Topic.DECISIONS)[-1]
    last = world.history()[-1]
    assert last.cause is not None
    cause = replace(last.cause, topic=record.topic, partition=record.partition, offset=record.offset)
    zombie = replace(last, event_id=last.cause.event_id, cause=cause, writer=replace(last.writer, generation=1))
    world.writer.append([message(zombie, Topic.TRANSITIONS)])
    world.restart()
    world.settle()
    assert world.shards.states.get(("default", "w1")) == folded(world).states.get(("default", "w1"))
    assert world.history()[-1].kind.value == "workflow_stopped"


def test_three_fencings_in_a_minute_stop_the_process(world: World) -> None:
    """KTXN-2: a supervisor whose name another took does not fight for it without end."""
    world.submit(two_tasks())
    world.settle()
    rival = world.another("s1")

    def fight() -> None:
        for _ in range(10):
            rival.turn(0)
            world.supervisor.turn(0)

    with pytest.raises(FencedError, match="fenced 3 times within a minute"):
        fight()


def test_fencings_that_lie_apart_do_not(world: World) -> None:
    """KTXN-2: one fencing a minute is no reason to stop."""
    world.submit(two_tasks())
    world.settle()
    rival = world.another("s1")
    for _ in range(5):
        rival.turn(0)
        world.supervisor.turn(0)
        world.forward(61)
    assert world.supervisor._session.shards | rival._session.shards


def test_a_broken_step_leaves_nothing_in_memory(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """KTXN-2: after a failed commit the state is folded anew; what was not committed never acted."""
    world.worker()
    world.submit(two_tasks())
    session: Any = world.supervisor._session
    prepare = session.prepare

    def aborted(messages: Any, offsets: Any) -> None:
        monkeypatch.undo()
        prepare(messages, offsets).abort()
        raise StepAbortedError("aborted")

    monkeypatch.setattr(session, "step", aborted)
    while world.supervisor.shards is None or session.step is aborted:
        world.supervisor.turn(0)
    assert world.history() == []
    world.settle()
    assert world.kinds() == ["contract_accepted", "dispatched"]
    assert isinstance(world.state(), Workflow)
    check_equivalent(world)
