"""What an amendment leaves as it is: ends that people moved, counts, defects that were found, and who was stopped."""

from typing import Any

import pytest
from msgspec.structs import replace

from remit.events import inputs as events
from supervisor.inbox import inbox
from tests.supervisor import bodies
from tests.supervisor.lab import Lab, document
from tests.supervisor.test_amendment import LESS_TOKENS, amend, decide, draft, drafting, work


def staffed(wanted: dict[str, Any]) -> Lab:
    """A bench with a worker for each task, and this workflow."""
    lab = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers", "t2": "testers", "r1": "reviewers"}.items():
        lab.register(worker_id, pool)
    lab.submit(wanted)
    return lab


# Ends.


def answer(lab: Lab) -> None:
    """Have the owner let the one open item's task be tried again."""
    (item,) = inbox(lab.workflow)
    said = {"person": "user:priya", "resolution": "retry", "reason": "yes", "content_sha256": item.content_sha256}
    lab.receive(events.Decision, "decisions", kind=events.DecisionKind.RESOLVE, item_id=item.item_id, **said)


def test_a_deadline_that_a_wait_for_a_person_moved_bars_no_amendment() -> None:
    """The document still names the instant from before the wait, of workflow and task; another one is judged."""
    wanted = document(limits={"deadline": "2026-03-01T13:00:00Z"})
    wanted["tasks"]["lint"]["limits"] = {"deadline": "2026-03-01T13:00:00Z"}
    lab = staffed(wanted)
    offer = lab.start("code")
    lab.finish(offer, bodies.needs_review(offer, lab))
    lab.forward(7200)
    answer(lab)
    ends = lab.workflow.deadline_at
    assert ends is not None
    assert ends > lab.now
    (amended,) = amend(lab, LESS_TOKENS)
    assert amended.kind.value == "contract_amended"
    assert lab.workflow.deadline_at == ends
    (note,) = amend(lab, {"limits": {"deadline": "2026-03-01T12:59:59Z"}}, base=2)
    assert note.rejection is not None
    assert note.rejection.faults == ("limits.deadline lies in the past",)


# Counts.


def narrower(depth: int) -> dict[str, Any]:
    """An amendment by rule that voids whatever `code` has made, another one at each depth."""
    paths = ["src/" + "a/" * depth + "**"]
    return {"tasks": {"code": {"permissions": {"repository": "read-write:feature", "paths": paths}}}}


def fail_once_and_pass(lab: Lab) -> None:
    """Use two attempts of `code`, the second one well."""
    offer = lab.start("code")
    lab.finish(offer, bodies.failed(offer, lab))
    lab.forward(60)
    work(lab, "code")


def test_no_amendment_by_rule_gives_attempts_back(lab: Lab) -> None:
    """Voided work is done anew within the attempts that are left; where none is, a person has it."""
    work(lab, "code")
    amend(lab, narrower(1))
    task = lab.workflow.tasks["code"]
    assert (task.status.value, task.round, task.attempts_started, task.outputs) == ("queued", 2, 1, ())
    work(lab, "code")
    *_, escalated = amend(lab, narrower(2), base=2)
    assert (escalated.task_id, escalated.reason) == ("code", "attempts_exhausted")
    lab.check_replay()


def test_what_comes_after_voided_work_keeps_its_count_too(lab: Lab) -> None:
    """An attempt downstream that is cancelled by an amendment counts, whatever round follows."""
    work(lab, "code")
    lab.renew(lab.start("test"), bodies.USAGE)
    amend(lab, narrower(1))
    task = lab.workflow.tasks["test"]
    assert (task.status.value, task.round, task.attempts_started) == ("waiting", 2, 1)
    lab.forward(60)  # what it may still have used is free again
    work(lab, "code")
    again = lab.start("test").offer
    assert again is not None
    assert (again.round, again.attempt) == (2, 2)


def test_a_person_s_amendment_gives_attempts_anew(lab: Lab) -> None:
    """Whoever approves other work approves its attempts with it."""
    fail_once_and_pass(lab)
    amend(lab, {"tasks": {"code": {"objective": "Another"}}})
    decide(lab)
    task = lab.workflow.tasks["code"]
    assert (task.status.value, task.round, task.attempts_started) == ("queued", 2, 0)


def test_an_attempt_that_a_person_granted_is_no_overrun_after_an_amendment(lab: Lab) -> None:
    """What was begun by a person's leave stays within what they gave."""
    for _ in range(2):
        offer = lab.start("code")
        lab.finish(offer, bodies.failed(offer, lab))
        lab.forward(60)
    answer(lab)
    work(lab, "code")
    *_, escalated = amend(lab, narrower(1))
    assert escalated.reason == "attempts_exhausted"
    assert lab.workflow.tasks["code"].granted_attempts == 1


UNDOING = {
    "plan": {"tasks": {"plan": {"permissions": {"repository": "none", "paths": ["a/**"]}}}},
    "spec": {"tasks": {"spec": {"permissions": {"repository": "none", "paths": ["a/**"]}}}},
}


@pytest.mark.parametrize(("undone", "said"), UNDOING.items(), ids=UNDOING)
def test_a_draft_that_voids_its_own_result_is_refused(undone: str, said: dict[str, Any]) -> None:
    """Else its task would be done anew by each of its drafts, without end."""
    wanted = drafting()
    wanted["tasks"]["spec"] = wanted["tasks"]["plan"] | {"outputs": {"note": "value"}}
    wanted["tasks"]["plan"] |= {"depends_on": ["spec"]}
    lab = staffed(wanted)
    work(lab, "spec")
    (refused,) = draft(lab, {"schema_version": "workflow-v1"} | said)
    assert refused.kind.value == "result_refused"
    assert refused.ending is not None
    assert refused.ending.faults == (f"output: contract.tasks.{undone} is what this result itself rests on",)
    assert lab.workflow.contract_version == 1


# Defects that were found.


def with_defect() -> Lab:
    """A line behind a specification, whose tests found a defect in the code."""
    wanted = document()
    wanted["tasks"]["spec"] = {
        "task_type": "test",
        "outputs": {"spec": "value"},
        "permissions": {"repository": "none"},
    }
    wanted["tasks"]["code"]["depends_on"] = ["spec"]
    lab = staffed(wanted)
    work(lab, "spec", "code")
    offer = lab.start("test")
    lab.finish(offer, bodies.defect(offer, lab))
    return lab


def test_a_defect_outlives_an_amendment_upstream() -> None:
    """The author is told of it, and the targeted retest is demanded, though both wait for work that is done anew."""
    lab = with_defect()
    amend(lab, {"tasks": {"spec": {"permissions": {"repository": "none", "paths": ["x/**"]}}}})
    assert lab.statuses() == {
        "code": "waiting",
        "test": "waiting",
        "lint": "waiting",
        "review": "waiting",
        "spec": "queued",
    }
    work(lab, "spec")
    again = lab.start("code")
    assert again.offer is not None
    assert [each.failed_cases for each in again.offer.rework] == [("tests.test_it::test_expired",)]
    lab.finish(again, bodies.good(again, lab))
    offer = lab.start("test")
    _, full = bodies.proof(offer, lab)
    (refused,) = lab.finish(offer, bodies.good(offer, lab, evidence=(full,)))
    assert refused.ending is not None
    assert any("no targeted retest" in fault for fault in refused.ending.faults)


def test_no_retest_is_demanded_of_another_command_line() -> None:
    """It need not know the cases that failed; the author is told of them all the same."""
    lab = with_defect()
    other = {"argv": ["other", "{report}"], "report": "junit", "retest": ["other", "{report}", "{failing}"]}
    amend(lab, {"commands": {"suite": other}})
    decide(lab)
    assert len(lab.workflow.tasks["code"].rework) == 1
    assert lab.workflow.tasks["test"].rework == ()


# Versions that commands must find.


PYTHON = {"constraints": {"language": "Python >=3.12"}}


def test_a_new_constraint_voids_evidence_that_need_not_meet_it(lab: Lab) -> None:
    """Commands run anew where the constraint holds; a revision and a review have no version of their own."""
    work(lab, "code", "test")
    lint = lab.start("lint")
    assert [each.reason for each in amend(lab, PYTHON)] == ["superseded", None]
    assert lab.statuses() == {"code": "completed", "test": "queued", "lint": "queued", "review": "waiting"}
    assert lab.result(lint, bodies.good(lint, lab))[0].kind.value == "late_usage"
    for task_id in ("test", "lint"):
        offer = lab.start(task_id)
        lab.finish(offer, replace(bodies.good(offer, lab), environment={"python": "3.12.1"}))
    work(lab, "review")
    assert lab.workflow.status.value == "accepted"
    lab.check_replay()


def test_a_constraint_that_is_dropped_voids_nothing() -> None:
    """What was found under it was found."""
    lab = staffed(document() | PYTHON)
    work(lab, "code")
    offer = lab.start("test")
    lab.finish(offer, replace(bodies.good(offer, lab), environment={"python": "3.12.1"}))
    lint = lab.start("lint")
    amend(lab, {"constraints": {"language": None}})
    assert [each.kind.value for each in decide(lab)] == ["contract_amended"]
    assert (lab.status("test"), lab.status("lint")) == ("completed", "running")
    lab.finish(lint, bodies.good(lint, lab))


# Tasks that were stopped.


BEHIND_LINT = {
    "extra": {
        "tasks": {
            "extra": {
                "task_type": "test",
                "depends_on": ["lint"],
                "inputs": {"revision": "task://code/revision"},
                "outputs": {"report": "value"},
                "permissions": {"repository": "execute"},
            }
        }
    },
    "test": {"tasks": {"test": {"depends_on": ["code", "lint"]}}},
}


@pytest.mark.parametrize(("task_id", "said"), BEHIND_LINT.items(), ids=BEHIND_LINT)
def test_no_task_is_made_to_wait_for_a_stopped_one(lab: Lab, task_id: str, said: dict[str, Any]) -> None:
    """It would wait for ever: refused when asked, and when approved after the stop."""
    work(lab, "code")
    amend(lab, said)
    lab.cancel("lint")
    fault = f"tasks.{task_id}.depends_on: lint was stopped, nothing can wait for it"
    (refused,) = decide(lab)
    assert (refused.kind.value, refused.reason) == ("amendment_refused", "begun")
    assert refused.note is not None
    assert refused.note.differs == (fault,)
    (note,) = amend(lab, said | {"objective": "Another"})
    assert note.rejection is not None
    assert note.rejection.faults == (fault,)
