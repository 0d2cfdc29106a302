"""What must not take a workflow, a worker or a shard down: forks, newer builds, strangers, slowness, outages."""

from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from remit.errors import PolicyUnknownError
from remit.events import inputs
from remit.events.envelope import message
from remit.events.inputs import Answer, InspectionKind, Verdict
from remit.events.service import Dispatch
from remit.events.transitions import Transition, TransitionKind
from remit.log.protocols import Message
from remit.policy.model import Pool
from remit.topics import Topic
from supervisor.directory import narrowed
from supervisor.state import AwaitingReview
from tests.supervisor.world import POLICY, World, completed, two_tasks

KEY = ("default", "w1")


def forge(last: Transition, **said: Any) -> Message:
    """The record of a transition that follows `last`, and that no decision of ours made."""
    after = {"event_id": uuid4(), "sequence": last.sequence + 1, "version": last.version + 1, "contract": None}
    return message(replace(last, **(after | said)), Topic.TRANSITIONS)


def of_a_newer_build(record: Message) -> Message:
    """The same record under a schema id that this build doesn't know."""
    return replace(record, value=record.value[:1] + (99_999_999).to_bytes(4, "big") + record.value[5:])


def test_a_frozen_workflow_is_not_dispatched(world: World) -> None:
    """A fork of history freezes its workflow: a worker that comes later is offered nothing of it."""
    world.submit(two_tasks())
    world.settle()
    world.writer.append([message(replace(world.history()[0], event_id=uuid4()), Topic.TRANSITIONS)])
    world.restart()
    world.settle()
    world.worker()
    world.settle()
    assert world.shards.frozen == {KEY: "history_conflict"}
    assert world.sent() == []


@pytest.mark.parametrize("how", ["unknown kind", "unknown schema"])
def test_a_newer_build_s_transition_freezes_its_workflow(world: World, how: str) -> None:
    """RETRY-4 (e): what a build can't understand it does not go on from, so it never reuses a sequence."""
    world.submit(two_tasks())
    world.settle()
    record = forge(world.history()[-1], kind=TransitionKind.UNKNOWN, changes=())
    world.writer.append([of_a_newer_build(record) if how == "unknown schema" else record])
    world.restart()
    world.settle()
    size = len(world.read(Topic.TRANSITIONS))
    world.worker()
    world.settle()
    assert KEY in world.shards.frozen
    assert len(world.read(Topic.TRANSITIONS)) == size


def test_a_transition_that_can_t_be_folded_keeps_no_other_workflow_down(world: World) -> None:
    """A fault of evolve at a takeover freezes one workflow; the other is accepted."""
    world.submit(two_tasks())
    world.submit(two_tasks(workflow_id="w2"), "w2")
    world.settle()
    bad = forge(world.history()[-1], kind=TransitionKind.BACKOFF_ENDED, task_id="nosuch")
    world.writer.append([bad])
    world.restart()
    world.worker()
    world.settle()
    assert world.shards.frozen == {KEY: "decider_fault"}
    assert [each.workflow_id for each in world.sent()] == ["w2"]


def test_a_stranger_s_claim_does_not_stop_the_holder(world: World) -> None:
    """A record that names a running attempt with another token or process is noted, and its holder is told nothing."""
    offer = world.begun()
    world.claim(offer, incarnation=uuid4(), fencing_token=999)
    world.settle()
    assert world.kinds()[-1] == "stale"
    assert world.sent(kind="lease_lost") == []
    assert world.workflow().tasks["a"].status.value == "running"


def answered(world: World, offer: Dispatch, phase: AwaitingReview) -> None:
    """The inspector's whole answer to one request."""
    answers = tuple(Answer(question_id=q.id, kind=q.kind, verdict=Verdict.MATCH) for q in phase.questions)
    said: dict[str, Any] = {"kind": InspectionKind.INSPECTED.value, "request_id": phase.request_id, "answers": answers}
    said |= {"task_id": offer.task_id, "attempt_id": offer.attempt_id}
    world.write_input(Topic.INSPECTIONS, inputs.Inspection, "w1", **said)


def test_a_slow_inspector_s_answer_is_still_heard(world: World) -> None:
    """An answer that comes after its questions were asked again is as good as one to the newest request."""
    first = world.begun()
    world.result(first, completed(first, world))
    world.settle()
    world.alive()
    world.settle()
    offer = world.offer()
    world.claim(offer)
    world.settle()
    asked: list[AwaitingReview] = []
    world.supervisor._inspector.ask = lambda *said: asked.append(said[-1])  # type: ignore[method-assign]
    world.result(offer, completed(offer, world))
    world.settle()
    world.forward(61)
    world.settle()
    assert len(asked) == 2
    answered(world, offer, asked[0])
    world.settle()
    assert world.workflow().status.value == "accepted"


def test_an_outage_without_an_error_expires_nobody_s_lease(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """While ends can't be looked at nobody can be heard: leases run afresh once they can."""
    offer = world.begun()
    with monkeypatch.context() as outage:
        outage.setattr(world.supervisor._session, "ends", lambda _: None)
        world.forward(40)
        world.settle()
    world.settle()
    world.result(offer, completed(offer, world))
    world.settle()
    assert "lease_expired" not in world.kinds()
    assert world.workflow().tasks["a"].status.value == "completed"


def test_nothing_is_served_without_a_pinned_policy(world: World) -> None:
    """A policy that open workflows pin and that can't be read stops the supervisor before it passes any input."""
    offer = world.begun()
    world.restart()
    world.supervisor._directory.policies.clear()
    world.supervisor._directory.newest = world.apply(POLICY + "\n# the next one\n")
    world.supervisor._directory._catch_up = lambda: None  # type: ignore[method-assign]
    world.result(offer, completed(offer, world))
    with pytest.raises(PolicyUnknownError, match="default/w1 pins policy"):
        world.settle()
    assert world.dead_letters() == []


def test_a_registration_only_narrows_its_pool_s_grants(world: World) -> None:
    """What the pool does not grant, and what is no grant at all, is not believed."""
    world.worker("w9", permissions={"repository": ("execute", "nonsense", "read-write:main"), "moon": ("execute",)})
    registered = world.supervisor._directory
    registered.poll()
    pool = Pool(capabilities=["shell"], permissions={"repository": ["execute"], "database": ["read-only"]})
    found = narrowed(registered._workers["w9"], pool)
    assert found.permissions == {"repository": ("execute",), "database": ("read-only",)}
