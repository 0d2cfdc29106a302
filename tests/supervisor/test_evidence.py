"""What counts as evidence: the result check against everything that a worker may say instead."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from remit.events.base import Evidence, EvidenceForm, ObservedBy, Subject, SubjectKind
from remit.events.service import Dispatch
from remit.events.transitions import Ending
from tests.supervisor import bodies
from tests.supervisor.lab import BASE, Lab, document


@dataclass
class Wrong:
    """One way in which a result can be wrong, and the reason that is recorded for it."""

    what: str
    why: str
    changed: dict[str, Any]


VALID_7 = (
    Wrong("exit missing", "evidence incomplete: no exit status", {"exit_status": None}),
    Wrong("contradiction", "contradicts: suite ended with exit status 1", {"exit_status": 1}),
    Wrong("no test ran", "evidence incomplete: the report shows no test", {"passed_cases": ()}),
    Wrong("unknown worker", "not this worker", {"worker_id": "stranger"}),
    Wrong("another task's", "not this task", {"task_id": "lint"}),
    Wrong("another attempt's", "not this attempt", {"attempt_id": bodies.STRANGER}),
    Wrong("agent-written", "not observed by the runner", {"observed_by": ObservedBy.WORKER}),
    Wrong("no command", "evidence incomplete: no command", {"command": None}),
    Wrong("no environment", "evidence incomplete: no environment digest", {"environment_digest": None}),
    Wrong("no subject", "not this subject", {"subject": None}),
    Wrong("no output", "evidence incomplete: no output digest", {"output": None}),
    Wrong("no report", "evidence incomplete: no report", {"report": None}),
    Wrong("no times", "evidence incomplete: no start and end", {"started_at": None, "ended_at": None}),
    Wrong("only the retest", "evidence missing: only the retest was run", {"form": EvidenceForm.RETEST}),
    Wrong("of no check", "evidence missing: no test_run evidence", {"checks": ()}),
)


def under_test(lab: Lab) -> Dispatch:
    """Code is accepted, and its test runs."""
    lab.finish(lab.start("code"), bodies.good(lab.offer("code"), lab))
    return lab.start("test")


def refusal(lab: Lab, offer: Dispatch, body: Any) -> Ending:
    """How the attempt ended that sent this result; it must not have been accepted."""
    found = lab.finish(offer, body)
    assert found[0].kind.value == "result_refused"
    assert found[0].ending is not None
    return found[0].ending


@pytest.mark.parametrize("wrong", VALID_7, ids=lambda wrong: wrong.what)
def test_each_shortfall_has_its_own_reason(lab: Lab, wrong: Wrong) -> None:
    """VALID-7: what is missing, contradicts or belongs elsewhere refuses the result, each by its own reason."""
    offer = under_test(lab)
    ending = refusal(lab, offer, bodies.with_evidence(offer, lab, **wrong.changed))
    assert any(wrong.why in fault for fault in ending.faults), ending.faults
    others = {other.why for other in VALID_7} - {wrong.why}
    assert not [fault for fault in ending.faults if any(other in fault for other in others)]


def test_a_result_without_evidence_is_refused_before_anything_is_fetched(lab: Lab) -> None:
    """VALID-7: no evidence at all is a reason of its own, and nobody is asked to look."""
    offer = under_test(lab)
    ending = refusal(lab, offer, bodies.good(offer, lab, evidence=(), message="all tests pass"))
    assert ending.faults == ("evidence is missing: a completed result must bring some",)
    assert lab.kinds.count("inspection_requested") == 1  # of code


def test_a_sentence_is_no_evidence(lab: Lab) -> None:
    """VALID-7: a note that says all tests pass, as a record of the worker's own, meets no check."""
    offer = under_test(lab)
    words = bodies.with_evidence(offer, lab, observed_by=ObservedBy.WORKER, note="all tests pass")
    assert any("not observed by the runner" in fault for fault in refusal(lab, offer, words).faults)


def test_one_bad_record_is_not_made_good_by_another(lab: Lab) -> None:
    """A failing run beside a passing one of the same check prevents acceptance."""
    offer = under_test(lab)
    good, *_ = bodies.proof(offer, lab)
    bad = replace(good, exit_status=2)
    ending = refusal(lab, offer, bodies.good(offer, lab, evidence=(good, bad)))
    assert any("contradicts" in fault for fault in ending.faults)


def test_evidence_from_outside_the_attempt_is_refused(lab: Lab) -> None:
    """Times must lie inside the attempt, which must name its own."""
    offer = under_test(lab)
    early = bodies.with_evidence(offer, lab, started_at=lab.now - timedelta(hours=1))
    assert any("taken outside the attempt" in fault for fault in refusal(lab, offer, early).faults)


def test_an_attempt_without_times_proves_nothing(lab: Lab) -> None:
    """A result that names no start and end can't show that its evidence was taken inside."""
    offer = under_test(lab)
    ending = refusal(lab, offer, bodies.good(offer, lab, started_at=None))
    assert any("start and end of the attempt" in fault for fault in ending.faults)


@pytest.mark.parametrize("name", [lambda r: r[:12], lambda r: r.upper(), lambda _: "feature", lambda _: BASE])
def test_only_the_full_hash_names_a_revision(lab: Lab, name: Any) -> None:
    """VALID-8: a short hash, an upper-case one, a branch, or an older revision does not stand for the revision."""
    offer = under_test(lab)
    revision = bodies.subject(offer).revision
    other = Subject(kind=SubjectKind.GIT, repository="svc", revision=name(revision))
    ending = refusal(lab, offer, bodies.with_evidence(offer, lab, subject=other))
    assert any("not this subject" in fault for fault in ending.faults)


def test_a_failing_case_that_no_glob_asks_for_still_blocks(lab: Lab) -> None:
    """VALID-7: a required run that failed blocks acceptance whatever the worker says."""
    offer = under_test(lab)
    body = bodies.with_evidence(offer, lab, failed_cases=("tests.test_other::test_x",))
    assert any("failing case tests.test_other::test_x" in fault for fault in refusal(lab, offer, body).faults)


def reviewed(lab: Lab) -> Dispatch:
    for task_id in ("code", "test", "lint"):
        lab.finish(lab.start(task_id), bodies.good(lab.offer(task_id), lab))
    return lab.start("review")


def test_a_review_of_another_revision_is_refused(lab: Lab) -> None:
    """VALID-8: a review that refers to an older revision is not one of this."""
    offer = reviewed(lab)
    other = Subject(kind=SubjectKind.GIT, repository="svc", revision=BASE)
    ending = refusal(lab, offer, bodies.with_evidence(offer, lab, subject=other))
    assert any("not this subject" in fault for fault in ending.faults)


def test_a_review_needs_its_stored_output(lab: Lab) -> None:
    """A review is met by a declared output with a hash, not by a record alone."""
    offer = reviewed(lab)
    body = bodies.good(offer, lab, output='{"findings": "fine"}')
    (asked,) = lab.result(offer, body)
    fault = "output.findings must be a stored artefact: artefact_ref, sha256 and size"
    assert (asked.correction and asked.correction.faults) == (fault,)


def test_nobody_reviews_their_own_work() -> None:
    """A review counts only by a worker other than the subject's author: the author is not even asked."""
    lab = Lab(
        text=Lab()
        .text.replace("[code]", "[code, review]")
        .replace("review: {pool: reviewers}", "review: {pool: coders}")
    )
    lab.register("c1", "coders", slots=5, permissions={"repository": ("read-write:*", "execute")})
    lab.register("t1", "testers", slots=5)
    wanted = document()
    wanted["tasks"]["review"]["permissions"] = {"repository": "read-only"}
    lab.submit(wanted)
    for task_id in ("code", "test", "lint"):
        lab.finish(lab.start(task_id), bodies.good(lab.offer(task_id), lab))
    assert lab.assign() == 0
    lab.register("c2", "coders", permissions={"repository": ("read-write:*", "execute")})
    lab.assign()
    dispatched = lab.history[-1].dispatch
    assert dispatched is not None
    assert {each.worker_id: each.excluded_by for each in dispatched.candidates}["c1"] == "author"


@pytest.mark.usefixtures("older_gate")
def test_the_gate_holds_every_final_check_to_the_final_revision() -> None:
    """VALID-8: tests at r1, then a fix at r2: nothing is accepted, and each check is named with both revisions."""
    lab = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers"}.items():
        lab.register(worker_id, pool)
    wanted = document()
    del wanted["tasks"]["review"], wanted["tasks"]["lint"]
    wanted["definition_of_done"] = ["committed", "tests pass"]
    wanted["checks"] = {text: wanted["checks"][text] for text in wanted["definition_of_done"]}
    wanted["tasks"]["fix"] = wanted["tasks"]["code"] | {
        "inputs": {"repo": "task://code/revision"},
        "depends_on": ["test"],
    }
    found = lab.submit(wanted)
    assert found[0].kind.value == "contract_accepted", found[0].rejection
    for task_id in ("code", "test", "fix"):
        lab.finish(lab.start(task_id), bodies.good(lab.offer(task_id), lab))
    assert lab.workflow.status.value == "escalated"
    details = [each.stop.detail or "" for each in lab.history if each.reason == "requirement_not_held" and each.stop]
    first, last = (bodies.revision_of(lab.offer(each)) for each in ("code", "fix"))
    assert len(details) == 2
    assert all(first in detail and last in detail for detail in details)


def test_the_runner_s_command_needs_no_check_of_its_own(lab: Lab) -> None:
    """A failing command that no check names, such as the worker's own, is no defect that sends work upstream."""
    offer = under_test(lab)
    good, *_ = bodies.proof(offer, lab)
    own: Evidence = replace(good, command=None, checks=(), exit_status=1, failed_cases=("x::y",))
    lab.finish(offer, bodies.good(offer, lab, evidence=(good, own)))
    assert lab.status("test") == "completed"
