"""Items of the inbox, and what a person's resolution of one leads to."""

from datetime import timedelta
from typing import Any

import pytest

from remit.events.inputs import Decision, DecisionKind
from remit.events.transitions import Transition
from supervisor.inbox import inbox
from tests.supervisor import bodies
from tests.supervisor.lab import POLICY, Lab
from tests.supervisor.test_rework import accept


def resolve(lab: Lab, word: str, **said: Any) -> tuple[Transition, ...]:
    """A person's resolution of the oldest item."""
    item = inbox(lab.workflow)[0]
    fields = {
        "kind": DecisionKind.RESOLVE,
        "person": "unverified:priya@desk",
        "item_id": item.item_id,
        "content_sha256": item.content_sha256,
        "resolution": word,
        "reason": "looked at it",
    }
    return lab.receive(Decision, "decisions", **(fields | said))


def exhausted(lab: Lab) -> None:
    """The task `code` fails twice, which is all it may."""
    for _ in range(2):
        offer = lab.start("code")
        lab.finish(offer, bodies.failed(offer, lab))
        lab.forward(60)
    assert lab.status("code") == "escalated"


def test_an_escalated_task_is_an_item_with_its_owner_and_reason(lab: Lab) -> None:
    """One item, known by the transition that put it there; none once the workflow has ended."""
    exhausted(lab)
    (item,) = inbox(lab.workflow)
    escalated = next(each for each in lab.history if each.sequence == item.sequence)
    assert (item.item_id, item.task_id) == (f"w1/{escalated.sequence}", "code")
    assert (item.owner, item.reason) == ("user:priya", "attempts_exhausted")
    lab.cancel()
    assert inbox(lab.workflow) == ()


def test_a_retry_grants_one_attempt_and_resets_nothing(lab: Lab) -> None:
    """The item is gone, one attempt more may start, what was spent stays spent."""
    exhausted(lab)
    spent = lab.spent()
    (resolved,) = resolve(lab, "retry")
    assert resolved.resolution is not None
    assert (resolved.kind.value, resolved.resolution.person) == ("task_resolved", "unverified:priya@desk")
    assert (lab.status("code"), lab.spent(), inbox(lab.workflow)) == ("queued", spent, ())
    offer = lab.start("code")
    assert lab.workflow.tasks["code"].attempts_started == 3
    lab.finish(offer, bodies.failed(offer, lab))
    assert (lab.status("code"), inbox(lab.workflow)[0].reason) == ("escalated", "attempts_exhausted")


def test_a_stop_ends_the_task_and_what_needs_it(lab: Lab) -> None:
    """FLOW-1: when the owner stops it, its dependants end with it, and so does a workflow that has nothing left."""
    exhausted(lab)
    resolve(lab, "stop")
    reasons = {task_id: str(task.phase.reason) for task_id, task in lab.workflow.tasks.items()}  # type: ignore[union-attr]
    assert reasons == dict.fromkeys(("test", "lint", "review"), "prerequisite_failed") | {"code": "refused"}
    assert lab.workflow.stop_reason == "prerequisite_failed"  # the first of both in the closed order
    stopped = next(each for each in lab.history if each.kind.value == "task_stopped")
    assert (stopped.stop and stopped.stop.person) == "unverified:priya@desk"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"item_id": "w1/999"}, "already_decided"),
        ({"content_sha256": "0" * 64}, "stale"),
        ({"content_sha256": None}, "stale"),
        ({"resolution": "approve"}, "stale"),
    ],
)
def test_what_does_not_speak_of_the_item_as_it_stands_is_noted(lab: Lab, said: dict[str, Any], kind: str) -> None:
    """An unknown item, another content, another word: noted, and the item stays open."""
    exhausted(lab)
    (note,) = resolve(lab, "retry", **said)
    assert (note.kind.value, lab.status("code"), len(inbox(lab.workflow))) == (kind, "escalated", 1)


def test_an_unverified_identity_decides_only_in_development() -> None:
    """Elsewhere it is noted; the item waits for somebody who is known."""
    lab = Lab(text=POLICY.replace("environment: development", "environment: production"))
    for pool in ("coders", "testers", "reviewers"):
        lab.register(f"{pool}0", pool)
    lab.submit()
    exhausted(lab)
    (note,) = resolve(lab, "retry")
    assert (note.kind.value, lab.status("code")) == ("stale", "escalated")
    resolve(lab, "retry", person="user:priya")
    assert lab.status("code") == "queued"


def test_a_worker_s_question_stops_the_clock(lab: Lab) -> None:
    """needs_review waits for a person: deadlines move by the time that the answer takes, and nothing else does."""
    offer = lab.start("code")
    before, task = lab.workflow.deadline_at, lab.workflow.tasks["code"].deadline_at
    assert before is not None
    assert task is not None
    lab.finish(offer, bodies.needs_review(offer, lab))
    assert (lab.status("code"), lab.workflow.status.value) == ("awaiting_decision", "escalated")
    lab.forward(100_000)  # far beyond every deadline
    assert lab.workflow.open
    resolve(lab, "retry")
    waited = timedelta(seconds=100_000)
    assert lab.workflow.deadline_at == before + waited
    assert lab.workflow.tasks["code"].deadline_at == task + waited
    assert lab.status("code") == "queued"
    assert lab.workflow.clock_stopped_at is None


def test_a_defect_beyond_its_reworks_may_be_reworked_once_more(lab: Lab) -> None:
    """reworks_exhausted, retried by a person: the finder runs again, and may send the defect upstream once more."""
    for _ in range(3):
        accept(lab, "code")
        offer = lab.start("test")
        lab.finish(offer, bodies.defect(offer, lab))
    assert inbox(lab.workflow)[0].reason == "reworks_exhausted"
    resolve(lab, "retry")
    offer = lab.start("test")
    lab.finish(offer, bodies.defect(offer, lab))
    assert (lab.status("code"), lab.workflow.tasks["code"].reworks) == ("queued", 3)


def test_a_decision_on_what_is_decided_is_noted(lab: Lab) -> None:
    """Two people at once: the first in the log counts, the second is told that nothing is open."""
    exhausted(lab)
    item = inbox(lab.workflow)[0]
    resolve(lab, "retry")
    said = {"item_id": item.item_id, "content_sha256": item.content_sha256, "resolution": "stop", "person": "user:x"}
    (note,) = lab.receive(Decision, "decisions", kind=DecisionKind.RESOLVE, **said)
    assert (note.kind.value, lab.status("code")) == ("already_decided", "queued")


def test_a_retry_waits_for_what_was_sent_back_meanwhile(lab: Lab) -> None:
    """The item's task needs an output that is being made anew: it waits for that, and goes on with it."""
    accept(lab, "code")
    test, lint = lab.start("test"), lab.start("lint")
    lab.finish(test, bodies.needs_review(test, lab))
    lab.finish(lint, bodies.defect(lint, lab))
    assert (lab.status("code"), lab.status("test")) == ("queued", "awaiting_decision")
    resolve(lab, "retry")
    assert lab.status("test") == "waiting"
    accept(lab, "code")
    assert lab.status("test") == "queued"


def test_a_retry_grants_its_attempt_in_that_round_alone(lab: Lab) -> None:
    """The next round has the contract's own number again."""
    exhausted(lab)
    resolve(lab, "retry")
    accept(lab, "code")
    test = lab.start("test")
    lab.finish(test, bodies.defect(test, lab))
    exhausted(lab)
    assert (lab.workflow.tasks["code"].round, lab.workflow.tasks["code"].attempts_started) == (2, 2)


def test_while_the_clock_stands_other_tasks_are_not_cut_off(lab: Lab) -> None:
    """The workflow's end moves once the answer is there; until then nobody's attempt or grant ends by it."""
    accept(lab, "code")
    test = lab.start("test")
    lab.finish(test, bodies.needs_review(test, lab))
    lab.forward(20_000)  # beyond the end that was planned; lint found no worker in time
    item = next(each for each in inbox(lab.workflow) if each.task_id == "lint")
    resolve(lab, "retry", item_id=item.item_id, content_sha256=item.content_sha256)
    offer = lab.start("lint")
    assert offer.offer is not None
    assert offer.offer.grant.expires_at > lab.now
    lab.forward(1)
    assert lab.status("lint") == "running"


def test_a_task_s_end_moves_by_its_own_wait_alone(lab: Lab) -> None:
    """With another question open for longer, what was credited is what this one waited, each time."""
    accept(lab, "code")
    test, lint = lab.start("test"), lab.start("lint")
    before = lab.workflow.tasks["test"].deadline_at
    assert before is not None
    lab.finish(lint, bodies.needs_review(lint, lab))
    for _ in range(2):
        lab.now += timedelta(seconds=5)
        lab.finish(test, bodies.needs_review(test, lab))
        lab.forward(100)
        item = next(each for each in inbox(lab.workflow) if each.task_id == "test")
        resolve(lab, "retry", item_id=item.item_id, content_sha256=item.content_sha256)
        test = lab.start("test")
    assert lab.workflow.tasks["test"].deadline_at == before + timedelta(seconds=200)
