"""Independent re-runs: nothing is accepted that a verifier under another identity did not see as well."""

from typing import Any

import pytest
from msgspec.structs import replace

from remit.events.base import ObservedBy
from remit.events.inputs import Decision, DecisionKind
from remit.events.service import Dispatch
from remit.events.transitions import Recovery, Transition
from supervisor.inbox import inbox
from tests.supervisor import bodies
from tests.supervisor.lab import POLICY, Lab

VERIFYING = (
    POLICY.replace("capabilities: [test]", "capabilities: [test, verify]").replace(
        "  review: {pool: reviewers}\n",
        "  review: {pool: reviewers}\n  verify: {pool: testers, limits: {max_tokens: 1}}\n",
    )
    + "verification: {mode: always, types: [test]}\n"
)
"""Testers verify each other: a small shop."""
WORKERS = {"c1": "coders", "t1": "testers", "t2": "testers", "t3": "testers", "r1": "reviewers"}


def bench(*workers: str) -> Lab:
    """A submitted workflow under a policy that verifies its tests; `workers` are there, by default all."""
    lab = Lab(text=VERIFYING)
    for worker_id in workers or WORKERS:
        lab.register(worker_id, WORKERS[worker_id], slots=5)
    lab.submit()
    return lab


@pytest.fixture
def lab() -> Lab:
    """All workers, and nothing done."""
    return bench()


def done(lab: Lab, task_id: str) -> Dispatch:
    """The task as it should be: accepted."""
    offer = lab.start(task_id)
    lab.finish(offer, verified(offer, lab) if task_id.endswith(".verify") else bodies.good(offer, lab))
    assert lab.status(task_id) == "completed"
    return offer


def verified(offer: Dispatch, lab: Lab, **changed: Any) -> Any:
    """What a verifier sends: evidence and nothing else; it calls no model."""
    return bodies.good(offer, lab, **({"usage": replace(bodies.USAGE, tokens_in=0, tokens_out=0)} | changed))


def seen(offer: Dispatch, lab: Lab, **changed: Any) -> Any:
    """A verifier's result whose records show something else."""
    return verified(offer, lab, evidence=tuple(replace(each, **changed) for each in bodies.proof(offer, lab)))


def disagree(lab: Lab, task_id: str = "test.verify") -> tuple[Dispatch, Transition]:
    """A verifier sees a failing case."""
    offer = lab.start(task_id)
    found = lab.finish(offer, seen(offer, lab, exit_status=1, failed_cases=("tests.test_it::test_x",)))
    return offer, found[0]


def candidates(lab: Lab, task_id: str) -> dict[str, str | None]:
    """Why each worker was not chosen for the task's last offer."""
    found = next(each for each in reversed(lab.history) if each.dispatch and each.task_id == task_id)
    assert found.dispatch is not None
    return {each.worker_id: each.excluded_by for each in found.dispatch.candidates}


def test_it_stands_between_the_task_and_what_uses_it(lab: Lab) -> None:
    """The review waits until the tests were seen by two; then the workflow is accepted on both."""
    for task_id in ("code", "test", "lint", "lint.verify"):
        done(lab, task_id)
    assert lab.statuses()["review"] == "waiting"
    done(lab, "test.verify")
    done(lab, "review")
    gate = lab.history[-1].gate
    assert gate is not None
    assert {check for each in gate.requirements for check in each.checks} >= {"suite", "suite.verify", "lint.verify"}
    assert all(each.held for each in gate.requirements)


def test_nobody_verifies_their_own_result(lab: Lab) -> None:
    """The author of the result, and of the revision that it is about, is excluded by name, however free."""
    done(lab, "code")
    author = done(lab, "test").worker_id
    offer = lab.start("test.verify")
    assert offer.worker_id != author
    assert candidates(lab, "test.verify")[author] == "author"


def test_a_verifier_that_is_the_author_all_the_same_is_refused() -> None:
    """Were such an offer ever made, its evidence would not count."""
    lab = bench()
    done(lab, "code")
    done(lab, "test")
    offer = lab.start("test.verify")
    tasks = lab.workflow.tasks
    lab.state = replace(lab.workflow, tasks=tasks | {"test": replace(tasks["test"], author=offer.worker_id)})
    found = lab.finish(offer, verified(offer, lab))
    assert found[0].ending is not None
    assert found[0].ending.faults == ("not independent: the verifier made what it verifies",)
    assert found[0].ending.outcome == "refused"


def test_without_a_verifier_it_waits_and_is_never_accepted() -> None:
    """No live verifier means waiting, then the owner; all else done accepts nothing."""
    lab = bench("c1", "t1", "r1")
    for task_id in ("code", "test", "lint"):
        done(lab, task_id)
    assert lab.assign() == 0
    assert lab.statuses() | {"review": "waiting", "test.verify": "queued", "lint.verify": "queued"} == lab.statuses()
    lab.forward(lab.policy.timeouts.queue_wait_seconds)
    assert lab.status("test.verify") == "escalated"
    assert lab.workflow.tasks["test.verify"].phase.reason == "no_worker_available"  # type: ignore[union-attr]
    assert lab.workflow.status.value == "escalated"
    assert "workflow_accepted" not in lab.kinds


def test_one_verifier_alone_sends_nothing_back(lab: Lab) -> None:
    """A first disagreement goes to one more verifier, neither the author nor the first one, who looks for itself."""
    done(lab, "code")
    author = done(lab, "test").worker_id
    first, ended = disagree(lab)
    assert ended.ending is not None
    assert (ended.ending.outcome, ended.ending.recovery) == ("disagreed", Recovery.REASSIGN)
    assert [each.command for each in ended.ending.failing] == ["suite"]
    assert lab.workflow.tasks["code"].reworks == 0
    second = lab.start("test.verify")
    assert second.worker_id not in {author, first.worker_id}
    assert second.offer is not None
    assert second.offer.rework == ()
    assert candidates(lab, "test.verify")[first.worker_id] == "blocked_before"


def test_a_second_verifier_that_agrees_settles_it(lab: Lab) -> None:
    """Two of three saw it: accepted, and the disagreement stays on the record."""
    done(lab, "code")
    done(lab, "test")
    disagree(lab)
    for task_id in ("test.verify", "lint", "lint.verify", "review"):
        done(lab, task_id)
    assert lab.workflow.status.value == "accepted"
    assert [each.outcome for each in lab.workflow.tasks["test.verify"].attempts] == ["disagreed", "completed"]
    lab.check_replay()


def test_two_that_disagree_go_to_the_owner(lab: Lab) -> None:
    """A disagreement that repeats is escalated by its name; the task itself is neither undone nor used."""
    done(lab, "code")
    done(lab, "test")
    disagree(lab)
    _, ended = disagree(lab)
    assert ended.ending is not None
    assert (ended.ending.recovery, ended.ending.recovery_reason) == (Recovery.ESCALATE, "verification_disagrees")
    assert ended.ending.owner == "user:priya"
    statuses = lab.statuses()
    assert (statuses["test"], statuses["test.verify"], statuses["review"]) == ("completed", "escalated", "waiting")


@pytest.mark.parametrize(
    "changed",
    [
        {"exit_status": 3},
        {"exit_status": 0, "failed_cases": ("tests.test_it::test_x",)},
        {"exit_status": 0, "passed_cases": ()},
    ],
    ids=["exit status", "failing case", "no test"],
)
def test_whatever_does_not_show_it_disagrees(lab: Lab, changed: dict[str, Any]) -> None:
    """An exit status, a failing case or an empty report: the verifier did not see what was accepted."""
    done(lab, "code")
    done(lab, "test")
    offer = lab.start("test.verify")
    assert lab.finish(offer, seen(offer, lab, **changed))[0].reason == "disagreed"


@pytest.mark.parametrize(
    "changed",
    [
        {"exit_status": 1, "report": None},
        {"exit_status": 1, "observed_by": ObservedBy.WORKER},
        {"exit_status": 1, "task_id": "test"},
        {"exit_status": 1, "subject": None},
        {"checks": ("suite",)},
    ],
    ids=["no report", "agent-written", "another task's", "no subject", "the check of the task itself"],
)
def test_what_is_no_evidence_is_no_disagreement(lab: Lab, changed: dict[str, Any]) -> None:
    """VALID-7: a record that is incomplete, borrowed or written by hand is refused and tried again, as anywhere."""
    done(lab, "code")
    done(lab, "test")
    offer = lab.start("test.verify")
    (ended, *_) = lab.finish(offer, seen(offer, lab, **changed))
    assert ended.ending is not None
    assert (ended.reason, ended.ending.recovery) == ("refused", Recovery.RETRY)


def test_the_author_s_evidence_can_not_be_borrowed(lab: Lab) -> None:
    """VALID-7: what the tester sent does not verify the tester."""
    done(lab, "code")
    original = done(lab, "test")
    offer = lab.start("test.verify")
    borrowed = tuple(replace(each, checks=("suite.verify",)) for each in bodies.proof(original, lab))
    (ended, *_) = lab.finish(offer, verified(offer, lab, evidence=borrowed))
    assert ended.ending is not None
    assert any("not this worker" in fault for fault in ended.ending.faults)


def test_the_worker_s_word_hides_no_disagreement(lab: Lab) -> None:
    """A verifier that says it failed, and whose runner saw a failing case, disagrees; its word changes no rule."""
    done(lab, "code")
    done(lab, "test")
    offer = lab.start("test.verify")
    evidence = seen(offer, lab, exit_status=1, failed_cases=("tests.test_it::test_x",)).evidence
    said = {"started_at": lab.now, "ended_at": lab.now}
    found = lab.finish(offer, bodies.failed(offer, lab, "PERMANENT_FAILED", evidence=evidence, usage=None, **said))
    assert (found[0].kind.value, found[0].reason) == ("attempt_failed", "disagreed")


def test_rework_verifies_anew(lab: Lab) -> None:
    """A defect found elsewhere sends the verification back with all downstream; the new revision needs its own."""
    done(lab, "code")
    done(lab, "test")
    done(lab, "test.verify")
    offer = lab.start("lint")
    lab.finish(offer, bodies.defect(offer, lab))
    assert lab.workflow.tasks["code"].reworks == 1
    assert (lab.status("test.verify"), lab.workflow.tasks["test.verify"].round) == ("waiting", 2)
    done(lab, "code")
    done(lab, "test")
    assert lab.statuses()["test.verify"] == "queued"
    again = done(lab, "test.verify")
    assert again.offer is not None
    assert again.offer.inputs[0].reference.endswith(bodies.revision_of(lab.offer("code")))


def test_a_worker_who_disagreed_is_welcome_in_the_next_round(lab: Lab) -> None:
    """Who disagreed is left out of this round alone."""
    done(lab, "code")
    done(lab, "test")
    first, _ = disagree(lab)
    done(lab, "test.verify")
    offer = lab.start("lint")
    lab.finish(offer, bodies.defect(offer, lab))
    done(lab, "code")
    done(lab, "test")
    lab.start("test.verify")
    assert candidates(lab, "test.verify")[first.worker_id] != "blocked_before"


def test_the_owner_may_ask_one_more(lab: Lab) -> None:
    """After two that disagree a person may have it tried again, by a third."""
    lab.register("t4", "testers", slots=5)
    done(lab, "code")
    done(lab, "test")
    excluded = {disagree(lab)[0].worker_id, disagree(lab)[0].worker_id}
    (item,) = inbox(lab.workflow)
    decided = {"kind": DecisionKind.RESOLVE, "person": "unverified:priya@here", "resolution": "retry"}
    lab.receive(Decision, "decisions", item_id=item.item_id, content_sha256=item.content_sha256, **decided)
    assert done(lab, "test.verify").worker_id not in excluded
