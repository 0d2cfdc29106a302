"""The loop: when timers fire, what is asked of the inspector, what is told to workers."""

from datetime import timedelta
from typing import Any

import pytest

from remit.codec import decode
from remit.events.base import ArtefactRef, Usage
from remit.events.inputs import ErrorClass, Lease, LeaseKind, ResultStatus
from remit.log.protocols import Partition, Recorded
from remit.policy.model import Timeouts
from remit.topics import INPUTS, Topic
from supervisor import service
from tests.supervisor.test_takeover import check_equivalent
from tests.supervisor.world import START, World, completed, two_tasks

QUEUE_WAIT_S = Timeouts().queue_wait_seconds


def offered(world: World) -> Any:
    world.worker()
    world.submit(two_tasks())
    world.settle()
    return world.offer()


def test_a_claim_that_came_in_time_is_never_expired_by_lag(world: World) -> None:
    """Time is the log's: a claim appended before its offer ended counts, however late it is read."""
    offer = offered(world)
    world.forward(9)
    world.claim(offer)
    world.forward(600)
    world.settle()
    assert world.kinds()[:3] == ["contract_accepted", "dispatched", "claimed"]


def test_nothing_fires_before_every_input_is_read_to_its_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer that is due waits until every input partition is read to the end that it had then."""
    offer = offered(world)
    monkeypatch.setattr(service, "BATCH", 1)
    for _ in range(5):
        world.raw(Topic.LEASES, b"?")
    world.forward(9)
    world.claim(offer)
    world.forward(600)
    for _ in range(3):
        world.supervisor.turn(0)
    assert "offer_expired" not in world.kinds()
    world.settle(turns=30)
    assert "offer_expired" not in world.kinds()
    assert world.kinds()[2] == "claimed"


def test_a_claim_that_came_too_late_is_told_so(world: World) -> None:
    """A claim after the offer's end changes nothing and is answered with lease_lost; the task is routed again."""
    offer = offered(world)
    world.forward(11)
    world.claim(offer)
    world.settle()
    assert [each.kind.value for each in world.sent(kind="lease_lost")][-1:] == ["lease_lost"]
    assert world.kinds().count("claimed") == 0
    assert {"stale", "offer_expired"} <= set(world.kinds())


def test_a_worker_killed_before_it_claims_leaves_its_offer_to_be_routed_again(world: World) -> None:
    """KOPS-8: by the offer's time-out, or at once by the new process's registration; no attempt is counted."""
    offered(world)
    world.worker()
    world.settle()
    kinds = world.kinds()
    assert kinds == ["contract_accepted", "dispatched", "offer_expired", "dispatched"]
    assert world.history()[2].reason == "incarnation"
    world.forward(11)
    world.alive()
    world.settle()
    assert world.kinds()[4:6] == ["offer_expired", "dispatched"]
    assert world.workflow().tasks["a"].attempts_started == 0


def test_the_agenda_empties(world: World) -> None:
    """No timer fires again and again: after a workflow's end, and with all due timers fired, nothing is due."""
    offer = offered(world)
    world.claim(offer)
    for _ in range(3):
        world.forward(40)
        world.settle()
        due = world.shards.next_due()
        assert due is None or due > world.clock()
    world.cancel()
    world.settle()
    world.forward(100_000)
    world.settle()
    assert world.shards.next_due() is None


def test_tenants_take_turns_at_the_one_free_slot(world: World) -> None:
    """Whoever has many workflows does not keep another tenant's only one waiting."""
    for number in range(3):
        world.submit(two_tasks(workflow_id=f"w{number}", tenant_id="busy"), f"w{number}", "busy")
    world.submit(two_tasks(workflow_id="w1", tenant_id="small"), "w1", "small")
    world.settle()
    world.worker()
    world.settle()
    world.decline(world.offer())
    world.forward(1)
    world.alive()
    world.settle()
    assert [each.tenant_id for each in world.sent()] == ["busy", "small"]


def test_leases_are_forgotten_with_their_attempts(world: World) -> None:
    """Soft state does not grow: what ended is held no more."""
    offer = offered(world)
    world.claim(offer)
    world.settle()
    assert world.shards.leases.get(offer.attempt_id) is not None
    world.result(offer, completed(offer, world))
    world.settle()
    assert world.shards.leases._held == {}


def test_what_a_lease_told_survives_the_supervisor(world: World) -> None:
    """BUDGET-2: renewals since the claim are heard again after a takeover, and charged if the worker is lost then."""
    offer = offered(world)
    world.claim(offer)
    world.settle()
    world.renew(offer, usage=Usage(tokens_in=700))
    world.submit(two_tasks(workflow_id="w2"), "w2")
    world.settle()
    world.restart()
    world.settle()
    world.forward(31)
    world.settle()
    assert world.workflow().tasks["a"].spent.tokens == 700
    world.forward(31)
    world.worker("w8")
    world.worker("w9")
    world.settle()
    assert world.workflow().tasks["a"].status.value == "offered"


def test_an_inspector_that_can_t_reach_the_store_is_asked_when_its_wait_is_over(world: World) -> None:
    """The loop asks again after the back-off, not at once: a short outage of the store costs nothing."""
    offer = offered(world)
    world.run(offer)
    world.alive()
    world.settle()
    offer = world.offer()
    world.claim(offer)
    world.settle()
    world.result(offer, completed(offer, world))
    there, world.store._fs = world.store._fs, _Unreachable()
    world.settle()
    assert world.kinds().count("inspection_retried") == 1
    world.store._fs = there
    world.forward(2)
    world.settle()
    assert world.kinds()[-2:] == ["result_accepted", "workflow_accepted"]
    assert world.workflow().tasks["b"].attempts_started == 1


class _Unreachable:
    """A store that nobody reaches."""

    def cat_file(self, _: str) -> bytes:
        raise ConnectionError


def test_a_long_call_with_heartbeats_stays_one_attempt(world: World) -> None:
    """LEASE-1: 95 s of work, a lease of 30 s, renewed every 10: one dispatch, attempt 1, the idle worker unasked."""
    world.worker("w1")
    world.submit(two_tasks())
    world.settle()
    offer = world.offer()
    world.claim(offer)
    world.worker("w2")
    for second in range(0, 90, 10):
        world.forward(10)
        world.alive("w1", slots=0)
        world.alive("w2")
        world.renew(offer, progress=second)
        world.settle()
    world.forward(5)
    world.result(offer, completed(offer, world))
    world.settle()
    about = [each for each in world.history() if each.task_id == "a"]
    assert [each.kind.value for each in about] == ["dispatched", "claimed", "result_accepted"]
    assert about[1].attempt == 1
    assert [each.worker_id for each in world.sent() if each.task_id == "a"] == ["w1"]
    renewals = [decode(Topic.LEASES, each.value) for each in world.read(Topic.LEASES)]
    assert sum(isinstance(each, Lease) and each.kind is LeaseKind.RENEWED for each in renewals) >= 8


@pytest.mark.parametrize("ending", ["lost", "failed", "refused"])
def test_what_an_attempt_saved_is_handed_to_the_next_one(world: World, ending: str) -> None:
    """A checkpoint told by a renewal survives however its attempt ends, after an inspection too; only references do."""
    saved = f"artefact://sha256/{'ab' * 32}"
    offer = offered(world)
    world.claim(offer)
    world.settle()
    world.renew(offer, checkpoint=saved, progress=1)
    world.renew(offer, checkpoint="file:///etc/passwd", progress=2)
    world.settle()
    if ending == "lost":
        world.forward(31)
    elif ending == "failed":
        world.result(
            offer, completed(offer, world, status=ResultStatus.FAILED, error_class=ErrorClass.RETRYABLE_FAILED)
        )
    else:
        lost = ArtefactRef(reference=f"artefact://sha256/{'cd' * 32}", sha256="cd" * 32, size=5)
        world.result(offer, completed(offer, world, log=lost))
    world.settle()
    for _ in range(3):
        world.forward(31)
        world.alive(offer.worker_id)
        world.settle()
    again = world.offer()
    assert again.attempt_id != offer.attempt_id
    assert again.offer is not None
    assert again.offer.resume_from == saved


@pytest.mark.parametrize("declines", [False, True], ids=["lets it lapse", "declines"])
def test_offers_in_vain_do_not_put_off_the_end_of_the_queue_s_wait(world: World, declines: bool) -> None:
    """RETRY-1, second run: a live worker that never takes its offers: the owner has it at queue_wait_seconds."""
    offered(world)
    while world.workflow().tasks["a"].status.value != "escalated":
        world.forward(5)
        world.alive()
        if declines:
            world.decline(world.offer())
        for _ in range(4):
            world.supervisor.turn(0.0)
        assert world.clock() - START < timedelta(seconds=650)
    assert world.history()[-1].reason == "no_worker_available"
    assert world.workflow().tasks["a"].attempts_started == 0


def steps_of(world: World, turns: int = 20) -> list[list[tuple[str, str]]]:
    """What each of the next turns wrote: workflow and kind of every transition."""
    found, known = [], set(map(place_of, world.read(Topic.TRANSITIONS)))
    for _ in range(turns):
        world.supervisor.turn(0.0)
        fresh = [each for each in world.read(Topic.TRANSITIONS) if place_of(each) not in known]
        known.update(map(place_of, fresh))
        events: list[Any] = [decode(each.topic, each.value) for each in fresh]
        found += [[(each.workflow_id, each.kind.value) for each in events]] if events else []
    return found


def place_of(recorded: Recorded) -> tuple[int, int]:
    return recorded.partition, recorded.offset


@pytest.mark.parametrize("takeover", [False, True])
def test_what_is_due_at_once_goes_into_several_steps(
    world: World, monkeypatch: pytest.MonkeyPatch, takeover: bool
) -> None:
    """Found with 100,000 open workflows: one step of all outlasted the group's patience, was lost, and made again."""
    monkeypatch.setattr(service, "ENOUGH", 2)
    for number in range(5):
        world.submit(two_tasks(workflow_id=f"w{number}"), f"w{number}")
    world.settle()
    world.forward(100_000)
    if takeover:
        world.restart()
    world.submit(two_tasks(workflow_id="new"), "new")
    steps = steps_of(world, turns=40)
    assert ("new", "contract_accepted") in steps[0]
    due = [[each for each in step if each[0] != "new"] for step in steps]
    assert max(map(len, due)) < len([each for step in due for each in step]) / 2
    assert {workflow_id for step in due for workflow_id, _ in step} == {f"w{number}" for number in range(5)}
    following = world.shards.next_due()
    assert following is None or following > world.clock()
    check_equivalent(world)


def test_a_clock_set_back_keeps_no_other_wait_from_being_over(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue's wait, over no more when it is decided, stands in nobody's way, and is over once the clock is there."""
    monkeypatch.setattr(service, "ENOUGH", 2)
    offer_s = 10
    unserved = {task_id: {"task_type": "review"} for task_id in "ab"}
    world.submit(two_tasks(workflow_id="unserved", tasks=unserved), "unserved")
    world.settle()
    world.forward(QUEUE_WAIT_S - offer_s / 2)
    world.worker()
    world.submit(two_tasks())
    world.settle()
    world.forward(offer_s + 1)
    ends = world.supervisor._session.ends

    def stepped_back(partitions: list[Partition]) -> dict[Partition, int] | None:
        """The clock goes back just after a look at the inputs' ends."""
        if partitions[0].topic in INPUTS:
            world.forward(-offer_s)
        return ends(partitions)

    monkeypatch.setattr(world.supervisor._session, "ends", stepped_back)
    assert steps_of(world, turns=1) == [[("w1", "offer_expired"), ("w1", "dispatched")]]
    monkeypatch.undo()
    assert steps_of(world) == []
    world.forward(offer_s)
    assert ("unserved", "task_escalated") in steps_of(world)[0]


def test_assignments_of_a_whole_pool_go_into_several_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same after a pool of workers comes back to a long queue."""
    monkeypatch.setattr(service, "ENOUGH", 2)
    for number in range(5):
        world.submit(two_tasks(workflow_id=f"w{number}"), f"w{number}")
    world.settle()
    world.worker(slots=5)
    steps = [[kind for _, kind in step if kind == "dispatched"] for step in steps_of(world)]
    assert sum(map(len, steps)) == 5
    assert max(map(len, steps)) == 1
    check_equivalent(world)
