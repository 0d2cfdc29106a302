"""A contract version that a worker drafts: it tightens and holds from then on, or its result is refused."""

import json
from typing import Any

import pytest

from remit.contract.normal import task_hash
from remit.events.service import DispatchKind
from tests.supervisor import bodies
from tests.supervisor.lab import Lab, document


def drafting() -> dict[str, Any]:
    """As the bench's workflow, with a task beside it that drafts the next version."""
    wanted = document()
    draft = {"task_type": "test", "outputs": {"contract": "contract"}, "permissions": {"repository": "none"}}
    wanted["tasks"] = {"plan": draft} | wanted["tasks"]
    return wanted


@pytest.fixture
def lab() -> Lab:
    bench = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers", "t2": "testers", "r1": "reviewers"}.items():
        bench.register(worker_id, pool)
    bench.submit(drafting())
    return bench


def draft(lab: Lab, said: Any) -> Any:
    """Send a drafted contract as the plan's output."""
    offer = lab.start("plan")
    body = bodies.good(offer, lab, output=json.dumps({"contract": said}))
    return lab.finish(offer, body)


TIGHTER = {"schema_version": "workflow-v1", "tasks": {"code": {"limits": {"max_tokens": 5000}}}}


def test_a_draft_that_tightens_holds_from_its_acceptance_on(lab: Lab) -> None:
    """Version 2 is adopted by rule, naming who proposed and who approved; the next offers carry it."""
    accepted, *_, amended = draft(lab, TIGHTER)
    assert (accepted.kind.value, amended.kind.value) == ("result_accepted", "contract_amended")
    assert amended.contract is not None
    assert (amended.contract.proposed_by, amended.contract.approved_by) == ("t1", "rule:only_tightens")
    offer = lab.start("code")
    assert offer.offer is not None
    assert (offer.offer.contract_version, offer.offer.remaining.tokens) == (2, 5000)


WIDER = {
    "more tokens": ({"tasks": {"code": {"limits": {"max_tokens": 59999}}}}, "limits.max_tokens"),
    "a requirement dropped": ({"definition_of_done": ["committed"]}, "definition_of_done"),
    "a command of its own": ({"commands": {"mine": {"argv": ["rm"]}}}, "commands.mine"),
    "more paths": ({"tasks": {"code": {"permissions": {"paths": ["**"]}}}}, "paths"),
    "nothing at all": (None, "contract must be an object"),
    "a list": ([], "contract must be an object"),
    "odd shapes": ({"tasks": [], "limits": 3, "checks": "x"}, "tasks"),
    "numbers out of range": ({"limits": {"max_tokens": 2**60}}, "a number is out of range"),
}


@pytest.mark.parametrize(("said", "why"), WIDER.values(), ids=WIDER)
def test_a_draft_that_widens_or_breaks_refuses_its_result(lab: Lab, said: Any, why: str) -> None:
    """A worker's draft never widens, and no draft, however odd, is a fault of the supervisor's."""
    if isinstance(said, dict):
        said = {"schema_version": "workflow-v1"} | said
    (refused,) = draft(lab, said)
    assert refused.kind.value == "result_refused"
    assert any(why in fault for fault in refused.ending.faults), refused.ending.faults
    assert lab.workflow.contract_version == 1


def test_attempts_on_a_changed_task_contract_are_cancelled_and_queued_again(lab: Lab) -> None:
    """Amendments: what runs on a changed contract is cancelled, charged, counted, queued; its result is late then."""
    code = lab.start("code")
    draft(lab, TIGHTER)
    ended = next(each for each in lab.history if each.reason == "superseded")
    assert (ended.task_id, ended.settlement is not None, lab.status("code")) == ("code", True, "queued")
    assert lab.told[-1].kind is DispatchKind.CANCEL
    assert lab.workflow.tasks["code"].attempts_started == 1
    (note,) = lab.result(code, bodies.good(code, lab))
    assert note.kind.value == "late_usage"
    again = lab.start("code")
    assert again.offer is not None
    assert (again.offer.attempt, again.offer.contract_sha256) == (2, task_hash(lab.workflow.contract, "code"))


def test_attempts_whose_task_contract_is_unchanged_run_on(lab: Lab) -> None:
    """An amendment of another task is no reason to disturb this one."""
    code = lab.start("code")
    draft(lab, {"schema_version": "workflow-v1", "tasks": {"lint": {"limits": {"max_tokens": 5000}}}})
    assert lab.status("code") == "running"
    assert lab.finish(code, bodies.good(code, lab))[0].kind.value == "result_accepted"


def test_an_amendment_does_not_grant_one_attempt_too_many(lab: Lab) -> None:
    """Law 7: attempts that started count on; a task whose limit the amendment lowers to them is its owner's."""
    lab.start("code")
    tighter = {"schema_version": "workflow-v1", "tasks": {"code": {"limits": {"max_attempts": 1}}}}
    draft(lab, tighter)
    task = lab.workflow.tasks["code"]
    assert (task.status.value, lab.history[-1].reason) == ("escalated", "attempts_exhausted")
