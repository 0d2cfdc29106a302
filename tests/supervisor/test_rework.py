"""A reproducible defect goes upstream: only its evidence, a new round, a retest and the full run, two times at most."""

from typing import Any

import pytest
from msgspec.structs import replace

from remit.events.base import EvidenceForm, ObservedBy
from remit.events.service import DispatchKind
from remit.events.transitions import TransitionKind
from tests.supervisor import bodies
from tests.supervisor.lab import Lab, document

CASE = "tests.test_it::test_expired"


def accept(lab: Lab, *tasks: str) -> None:
    for task_id in tasks:
        lab.finish(lab.start(task_id), bodies.good(lab.offer(task_id), lab))


def find_defect(lab: Lab) -> Any:
    """Code is accepted (again), and the test finds a defect."""
    accept(lab, "code")
    offer = lab.start("test")
    return lab.finish(offer, bodies.defect(offer, lab, CASE))[-1]


def test_only_the_failing_evidence_goes_back(lab: Lab) -> None:
    """The author's next offer carries the failing run, not what else was observed; round and counts start anew."""
    accept(lab, "code")
    offer = lab.start("test")
    other = replace(bodies.proof(offer, lab)[0], command=None, checks=(), exit_status=0)
    body = bodies.defect(offer, lab, CASE)
    refused = lab.finish(offer, replace(body, evidence=(*body.evidence, other)))[-1]
    assert refused.ending is not None
    assert (refused.ending.recovery.value, refused.ending.rework_task) == ("rework", "code")
    again = lab.start("code")
    assert again.offer is not None
    assert [each.failed_cases for each in again.offer.rework] == [(CASE,)]
    assert (again.offer.round, again.offer.attempt, again.offer.idempotency_key) == (2, 1, "default/w1/code/2")
    assert lab.statuses() == {"code": "running", "test": "waiting", "lint": "waiting", "review": "waiting"}


def test_whoever_works_on_the_old_revision_is_cancelled_without_a_failure(lab: Lab) -> None:
    """STATE-1 (b): attempts downstream end as superseded, charged and not counted; their late results are notes."""
    accept(lab, "code")
    test, lint = lab.start("test"), lab.start("lint")
    lab.finish(test, bodies.defect(test, lab))
    ended = [each for each in lab.history if each.reason == "superseded"]
    assert [(each.task_id, each.kind.value) for each in ended] == [("lint", "attempt_failed")]
    assert [(each.kind, each.task_id) for each in lab.told] == [(DispatchKind.CANCEL, "lint")]
    assert lab.workflow.tasks["lint"].attempts_started == 0
    (note,) = lab.result(lint, bodies.good(lint, lab))
    assert note.kind.value == "late_usage"
    accept(lab, "code")
    assert lab.start("lint").attempt_id != lint.attempt_id


def test_an_open_offer_on_the_old_revision_is_taken_back(lab: Lab) -> None:
    """An offer that nobody claimed yet is withdrawn, and a claim that comes then is told so."""
    accept(lab, "code")
    test = lab.start("test")
    lab.assign()
    lint = lab.offer("lint")
    lab.finish(test, bodies.defect(test, lab))
    assert lab.status("lint") == "waiting"
    (note,) = lab.lease(lint, "claim")
    assert (note.kind.value, note.reason) == ("stale", "late_claim")
    assert lab.told[-1].kind is DispatchKind.LEASE_LOST


def test_two_retries_then_the_named_owner(lab: Lab) -> None:
    """The first article: escalation after two coding retries, to the owner, as reworks_exhausted."""
    assert find_defect(lab).ending.recovery.value == "rework"
    assert find_defect(lab).ending.recovery.value == "rework"
    last = find_defect(lab).ending
    assert (last.recovery.value, last.recovery_reason, last.owner) == ("escalate", "reworks_exhausted", "user:priya")
    assert lab.workflow.status.value == "escalated"
    assert sum(1 for each in lab.history if each.kind is TransitionKind.CLAIMED and each.task_id == "code") == 3


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (EvidenceForm.FULL, "no targeted retest of what failed before"),
        (EvidenceForm.RETEST, "only the retest was run"),
    ],
)
def test_a_retest_and_the_full_run_are_both_required(lab: Lab, kept: EvidenceForm, why: str) -> None:
    """After a defect the failing cases are retested first, then the whole command; neither stands for both."""
    find_defect(lab)
    accept(lab, "code")
    offer = lab.start("test")
    proof = tuple(each for each in bodies.proof(offer, lab) if each.form is kept)
    assert len(proof) == 1
    (refused,) = lab.finish(offer, bodies.good(offer, lab, evidence=proof))
    assert refused.ending is not None
    assert any(why in fault for fault in refused.ending.faults)


@pytest.mark.parametrize("changed", [{"attempt_id": bodies.STRANGER}, {"subject": None}, {"exit_status": None}])
def test_a_retest_is_bound_like_all_evidence(lab: Lab, changed: dict[str, Any]) -> None:
    """A retest of another attempt, of no subject, or without an exit status is none."""
    find_defect(lab)
    accept(lab, "code")
    offer = lab.start("test")
    retest, full = bodies.proof(offer, lab)
    (refused,) = lab.finish(offer, bodies.good(offer, lab, evidence=(replace(retest, **changed), full)))
    assert refused.kind is TransitionKind.RESULT_REFUSED


@pytest.mark.parametrize(
    "changed",
    [{"observed_by": ObservedBy.WORKER}, {"attempt_id": bodies.STRANGER}, {"subject": None}, {"command": "other"}],
    ids=["agent-written", "another attempt's", "no subject", "not the contract's"],
)
def test_only_bound_and_observed_failures_send_work_upstream(lab: Lab, changed: dict[str, Any]) -> None:
    """A failure that an agent merely writes, or that belongs elsewhere, is refused and costs its author nothing."""
    accept(lab, "code")
    offer = lab.start("test")
    failing = tuple(replace(each, **changed) for each in bodies.defect(offer, lab).evidence)
    refused = lab.finish(offer, bodies.good(offer, lab, evidence=failing))[-1]
    assert refused.ending is not None
    assert (refused.ending.recovery.value, refused.ending.failing) == ("retry", ())
    assert lab.status("code") == "completed"


def test_after_the_mending_all_is_checked_again_and_accepted(lab: Lab) -> None:
    """Tests, lint and review run again on the new revision, which all evidence then names."""
    find_defect(lab)
    accept(lab, "code", "test", "lint", "review")
    assert lab.workflow.status.value == "accepted"
    assert lab.workflow.tasks["test"].round == 2
    gate = lab.history[-1].gate
    assert gate is not None
    assert [each.revision for each in gate.final_subjects] == [bodies.revision_of(lab.offer("code"))]
    assert all(each.held for each in gate.requirements)


def test_a_later_task_may_find_what_the_tests_did_not(lab: Lab) -> None:
    """A defect found by a later task sends the whole line back, rounds counted on whoever must mend it."""
    accept(lab, "code", "test")
    lint = lab.start("lint")
    body = bodies.with_evidence(lint, lab, exit_status=1, failed_cases=("lint::E1",))
    lab.finish(lint, body)
    assert lab.statuses() == {"code": "queued", "test": "waiting", "lint": "waiting", "review": "waiting"}
    assert (lab.workflow.tasks["code"].reworks, lab.workflow.tasks["test"].evidence) == (1, ())


def test_what_a_person_stopped_stays_stopped(lab: Lab) -> None:
    """Law 5: a rework upstream does not wake a task that was cancelled."""
    accept(lab, "code")
    lab.cancel("lint")
    test = lab.start("test")
    lab.finish(test, bodies.defect(test, lab))
    assert lab.statuses() == {"code": "queued", "test": "waiting", "lint": "stopped", "review": "stopped"}


def test_what_a_person_has_stays_with_them(lab: Lab) -> None:
    """A rework elsewhere does not take an escalated task from its owner."""
    accept(lab, "code")
    lint = lab.start("lint")
    lab.finish(lint, bodies.needs_review(lint, lab))
    test = lab.start("test")
    lab.finish(test, bodies.defect(test, lab))
    assert (lab.status("lint"), lab.workflow.status.value) == ("awaiting_decision", "escalated")


def test_a_permanent_failure_that_nobody_can_reproduce_is_the_owner_s(lab: Lab) -> None:
    """RETRY-3: a permanent failure without reproducible evidence goes to the owner at the first attempt."""
    accept(lab, "code")
    offer = lab.start("test")
    (ended,) = lab.finish(offer, bodies.failed(offer, lab, "PERMANENT_FAILED"))
    assert ended.ending is not None
    assert (ended.ending.recovery.value, ended.ending.recovery_reason) == ("escalate", "permanent_failure")


def test_a_defect_counts_whatever_the_worker_calls_it(lab: Lab) -> None:
    """Reproducible is what the runner saw fail at the exact subject, whatever the worker says."""
    accept(lab, "code")
    offer = lab.start("test")
    body = replace(bodies.failed(offer, lab), evidence=bodies.defect(offer, lab).evidence)
    ended = lab.finish(offer, replace(body, started_at=lab.now, ended_at=lab.now))[-1]
    assert ended.ending is not None
    assert ended.ending.recovery.value == "rework"


def test_reworks_are_bounded_by_what_the_contract_says() -> None:
    """max_reworks 0: the first defect is the owner's."""
    lab = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers"}.items():
        lab.register(worker_id, pool)
    wanted = document()
    wanted["tasks"]["code"]["limits"] = {"max_reworks": 0}
    lab.submit(wanted)
    assert find_defect(lab).ending.recovery_reason == "reworks_exhausted"


@pytest.mark.parametrize(
    ("finding", "recovery"),
    [("HIGH B602 a.py:9", "escalate"), ("MEDIUM B608 a.py:9", "rework")],
    ids=["high", "medium"],
)
def test_a_high_impact_security_finding_is_a_person_s(finding: str, recovery: str) -> None:
    """What the runner's scanner calls high goes to the named owner before any rework; less goes back, as evidence."""
    wanted = document()
    wanted["commands"]["lint"] = {"argv": ["bandit", "{report}"], "report": "bandit"}
    wanted["checks"]["lint is clean"][0]["kind"] = "scan"
    lab = Lab()
    for pool in ("coders", "testers", "reviewers"):
        lab.register(pool, pool, slots=2)
    lab.submit(wanted)
    accept(lab, "code")
    offer = lab.start("lint")
    said = {"exit_status": 1, "failed_cases": (finding,), "passed_cases": (), "findings": 1}
    ended = next(each for each in lab.finish(offer, bodies.with_evidence(offer, lab, **said)) if each.task_id == "lint")
    assert ended.ending is not None
    assert ended.ending.recovery.value == recovery
    assert (ended.ending.recovery_reason == "high_impact_security") == (recovery == "escalate")
    assert ended.ending.owner == ("user:priya" if recovery == "escalate" else None)
