"""Contract versions: what a worker drafts only tightens; what comes from outside may need a person."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from remit import ids
from remit.contract.normal import task_hash
from remit.events import inputs as events
from remit.events.service import DispatchKind
from remit.events.transitions import Transition
from supervisor.actions import outstanding_decisions
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


# Amendments from outside.


def amend(lab: Lab, said: dict[str, Any], base: int | None = 1, **changed: Any) -> tuple[Transition, ...]:
    """Send an amendment as a client does."""
    body = {"schema_version": "workflow-v1"} | said
    fields: dict[str, Any] = {
        "document": json.dumps(body),
        "content_digest": ids.digest(body),
        "submitter": "user:ann",
        "base_version": base,
        "reason": "it is late",
    }
    return lab.receive(events.Contract, "contracts", kind=events.ContractKind.AMENDED, **(fields | changed))


def decide(lab: Lab, kind: str = "approve", **changed: Any) -> tuple[Transition, ...]:
    """Have the owner decide on the oldest proposal."""
    item = lab.workflow.proposed[0]
    fields: dict[str, Any] = {
        "person": "user:priya",
        "item_id": item.item_id,
        "content_sha256": item.accepted.contract_sha256,
        "reason": "agreed",
        "minutes_spent": Decimal(4),
    }
    return lab.receive(events.Decision, "decisions", kind=events.DecisionKind(kind), **(fields | changed))


def work(lab: Lab, *task_ids: str) -> None:
    """Have tasks done well, one after the other."""
    for task_id in task_ids:
        offer = lab.start(task_id)
        lab.finish(offer, bodies.good(offer, lab))


@pytest.fixture
def plain() -> Lab:
    """The bench's workflow, with a security requirement and a worker for each task."""
    bench = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers", "t2": "testers", "r1": "reviewers"}.items():
        bench.register(worker_id, pool)
    wanted = document(constraints={"security": ["no secret in a log"], "must_preserve": ["the API"]})
    case = {"kind": "test_run", "task": "test", "command": "suite", "holds_at": "final"}
    wanted["checks"]["no secret in a log"] = [{"id": "secrets", "cases": ["*it*"], **case}]
    wanted["checks"]["the API"] = [{"id": "api", "cases": ["*it*"], **case}]
    bench.submit(wanted)
    return bench


MORE_TOKENS = {"tasks": {"code": {"limits": {"max_tokens": 20_000}}}}
LESS_TOKENS = {"tasks": {"code": {"limits": {"max_tokens": 5000}}}}
CASES = {"id": "more", "kind": "test_run", "task": "test", "command": "suite", "cases": ["*it*"], "holds_at": "final"}
MORE_CHECKS = {
    "definition_of_done": ["committed", "tests pass", "lint is clean", "reviewed", "halves are covered"],
    "checks": {"halves are covered": [CASES]},
}


def test_an_amendment_that_only_tightens_holds_at_once(plain: Lab) -> None:
    """By rule, naming who proposed it; the next offers carry it."""
    (amended,) = amend(plain, LESS_TOKENS)
    assert amended.contract is not None
    named = (amended.contract.proposed_by, amended.contract.approved_by, amended.contract.reason)
    assert named == ("user:ann", "rule:only_tightens", "it is late")
    offer = plain.start("code")
    assert offer.offer is not None
    assert (offer.offer.contract_version, offer.offer.remaining.tokens) == (2, 5000)


def test_two_amendments_of_one_version(plain: Lab) -> None:
    """STATE-1 (a): A holds and the version rises; B is stale, naming both and what differs; A's value stays."""
    amend(plain, LESS_TOKENS)
    (note,) = amend(plain, {"tasks": {"code": {"limits": {"max_tokens": 4000}}}})
    assert (note.kind.value, note.note and note.note.differs) == (
        "stale",
        ("contract_version: read 1, now 2", "tasks.code.limits.max_tokens: differs"),
    )
    assert plain.workflow.contract.tasks["code"].limits.max_tokens == 5000
    work(plain, "code", "test", "lint", "review")
    assert plain.workflow.status.value == "accepted"


def test_an_unrelated_result_is_accepted_beside_an_amendment(plain: Lab) -> None:
    """STATE-1 (c): a result that read an earlier state version is accepted when only other tasks moved on."""
    offer = plain.start("code")
    amend(plain, {"tasks": {"lint": {"limits": {"max_tokens": 5000}}}})
    assert offer.state_version < plain.workflow.version
    assert plain.finish(offer, bodies.good(offer, plain))[0].kind.value == "result_accepted"


WIDENING = {
    "a limit": (MORE_TOKENS, "tasks.code.limits.max_tokens: 15000 -> 20000"),
    "a permission": ({"tasks": {"code": {"permissions": {"paths": ["**"]}}}}, "tasks.code.permissions.paths[0] allows"),
    "a task": (
        {"tasks": {"more": {"task_type": "test", "permissions": {"repository": "none"}}}},
        "tasks.more is a new task",
    ),
    "a removed task": (
        {"tasks": {"lint": None, "review": {"depends_on": ["test"]}}, "checks": {"lint is clean": [CASES]}},
        "tasks.lint is removed",
    ),
    "a task's work": ({"tasks": {"code": {"objective": "Another"}}}, "tasks.code.objective changes"),
    "a command": ({"commands": {"mine": {"argv": ["make"]}}}, "commands.mine is a new command line"),
    "an owner": ({"owner": "user:zoe"}, "owner changes"),
    "a requirement dropped": ({"constraints": {"must_preserve": []}}, "must_preserve[0] is dropped (the-api)"),
    "a check dropped": ({"checks": {"lint is clean": [CASES]}}, "check lint is dropped (lint-is-clean)"),
    "a spawn plan": (
        {"tasks": {"code": {"spawn": {"types": ["code"], "max_subtasks": 1}}}},
        "tasks.code.spawn lets it propose tasks",
    ),
}


@pytest.mark.parametrize(("said", "line"), WIDENING.values(), ids=WIDENING)
def test_what_widens_or_drops_waits_for_the_owner(plain: Lab, said: dict[str, Any], line: str) -> None:
    """It is kept as an inbox item, one line for each; the version in force goes on until a person decides."""
    (proposed,) = amend(plain, said)
    assert (proposed.kind.value, plain.workflow.contract_version) == ("amendment_proposed", 1)
    assert proposed.proposal is not None
    assert any(line in each for each in proposed.proposal.widens), proposed.proposal.widens
    (item,) = plain.workflow.proposed
    assert (item.item_id, item.owner, item.proposer) == (f"w1/{proposed.sequence}", "user:priya", "user:ann")
    assert [(each.what, each.person, each.reason) for each in outstanding_decisions(plain.workflow)] == [
        ("amendment", "user:priya", item.item_id)
    ]
    assert plain.start("code").offer is not None
    plain.check_replay()


def test_a_person_s_approval_lets_it_hold(plain: Lab) -> None:
    """The version names who approved, what it widened and why; the item is gone, the minutes are booked."""
    amend(plain, MORE_TOKENS)
    (amended,) = decide(plain)
    assert amended.contract is not None
    assert amended.resolution is not None
    assert (amended.kind.value, amended.contract.approved_by, amended.minutes_spent) == (
        "contract_amended",
        "user:priya",
        Decimal(4),
    )
    assert amended.contract.widened == ("tasks.code.limits.max_tokens: 15000 -> 20000",)
    assert (amended.resolution.resolution, amended.resolution.reason) == ("approve", "agreed")
    assert (plain.workflow.proposed, plain.workflow.contract_version) == ((), 2)
    assert plain.workflow.contract.tasks["code"].limits.max_tokens == 20_000
    plain.check_replay()


def test_a_person_s_refusal_changes_nothing(plain: Lab) -> None:
    """The version in force stays; the same amendment again is not asked about twice."""
    amend(plain, MORE_TOKENS)
    item = plain.workflow.proposed[0]
    (refused,) = decide(plain, "refuse")
    assert (refused.kind.value, plain.workflow.contract_version, plain.workflow.proposed) == (
        "amendment_refused",
        1,
        (),
    )
    assert refused.resolution is not None
    assert plain.workflow.refused == (item.event_id,)


def test_an_approval_binds_to_the_exact_content_and_needs_a_reason(plain: Lab) -> None:
    """Another hash or no reason decides nothing; the item stays open."""
    amend(plain, MORE_TOKENS)
    for changed in ({"content_sha256": "0" * 64}, {"content_sha256": None}, {"reason": None}, {"reason": ""}):
        (note,) = decide(plain, **changed)
        assert note.kind.value == "stale"
    assert len(plain.workflow.proposed) == 1


def test_a_proposal_on_a_version_that_moved_on_is_refused(plain: Lab) -> None:
    """What a person would decide on no longer fits: it is let go, naming both versions."""
    amend(plain, MORE_TOKENS)
    item = plain.workflow.proposed[0]
    amended, refused = amend(plain, {"limits": {"max_workers": 3}})
    assert (amended.kind.value, refused.kind.value, refused.reason) == (
        "contract_amended",
        "amendment_refused",
        "stale",
    )
    assert refused.note is not None
    assert refused.note.differs == ("contract_version: made on 1, now 2",)
    said = {"person": "user:priya", "item_id": item.item_id, "content_sha256": item.accepted.contract_sha256}
    (note,) = plain.receive(events.Decision, "decisions", kind=events.DecisionKind.APPROVE, reason="x", **said)
    assert note.kind.value == "already_decided"


SECURITY = {
    "dropped": {"constraints": {"security": []}},
    "another check": {"checks": {"no secret in a log": [CASES]}},
    "fewer cases": {"checks": {"no secret in a log": [CASES | {"id": "secrets", "cases": ["*x*"]}]}},
    "another command line": {"commands": {"suite": {"argv": ["true", "{report}"], "report": "junit"}}},
    "no longer security": {"constraints": {"security": [], "must_preserve": ["the API", "no secret in a log"]}},
}


@pytest.mark.parametrize("said", SECURITY.values(), ids=SECURITY)
def test_a_security_requirement_is_never_dropped_or_weakened(plain: Lab, said: dict[str, Any]) -> None:
    """Nobody is even asked."""
    (note,) = amend(plain, said)
    assert (note.kind.value, note.reason) == ("contract_rejected", "security_requirement")
    assert note.rejection is not None
    assert note.rejection.faults
    assert (plain.workflow.proposed, plain.workflow.contract_version) == ((), 1)


REFUSED = {
    "beyond the policy": ({"limits": {"max_tokens": 10**7}}, {}, "invalid", "must be at most 1000000 (policy)"),
    "no document": ({}, {"document": "["}, "invalid", ""),
    "another digest": (LESS_TOKENS, {"content_digest": "0" * 64}, "invalid", "content_digest"),
    "no base": (LESS_TOKENS, {"base_version": None}, "invalid", "base_version is required"),
    "a secret": ({"objective": "use AKIAIOSFODNN7EXAMPLE"}, {}, "invalid", "secret"),
    "another workflow": ({"workflow_id": "w2"}, {}, "invalid", "workflow_id"),
    "an unresolved input": ({"inputs": {"repo": "repo://svc@main"}}, {}, "invalid", "not resolved"),
    "odd shapes": ({"tasks": [], "limits": 3}, {}, "invalid", "tasks"),
}


@pytest.mark.parametrize(("said", "changed", "reason", "line"), REFUSED.values(), ids=REFUSED)
def test_what_the_gate_refuses_is_refused(
    plain: Lab, said: dict[str, Any], changed: dict[str, Any], reason: str, line: str
) -> None:
    """Whatever a client sends is judged, never a fault of the supervisor's."""
    (note,) = amend(plain, said, **changed)
    assert (note.kind.value, note.reason) == ("contract_rejected", reason)
    assert note.rejection is not None
    assert any(line in each for each in note.rejection.faults), note.rejection.faults


def test_the_same_amendment_again_is_a_duplicate(plain: Lab) -> None:
    """Whether it waits for a person or holds already, and whatever base it names."""
    amend(plain, MORE_TOKENS)
    assert [each.kind.value for each in amend(plain, MORE_TOKENS)] == ["duplicate"]
    decide(plain)
    assert [each.kind.value for each in amend(plain, MORE_TOKENS)] == ["duplicate"]
    assert [each.kind.value for each in amend(plain, {}, base=2)] == ["duplicate"]


def test_an_amendment_of_nothing_and_of_what_has_ended(plain: Lab) -> None:
    """A workflow must be there, and open."""
    (note,) = amend(Lab(), LESS_TOKENS)
    assert note.reason == "unknown_workflow"
    plain.cancel()
    (note,) = amend(plain, LESS_TOKENS)
    assert (note.kind.value, note.reason) == ("contract_rejected", "ended")


def test_only_so_many_proposals_wait_at_once(plain: Lab) -> None:
    """Each holds a whole contract: a flood of them is refused."""
    for number in range(11):
        *_, last = amend(plain, {"objective": f"Another {number}"})
    assert (last.reason, len(plain.workflow.proposed)) == ("too_many", 10)


# What an amendment does to work that is done or under way.


def test_a_new_check_of_an_accepted_task_voids_its_evidence(plain: Lab) -> None:
    """It is done anew in another round, and so is what came after it; what came before stays, and so do all charges."""
    work(plain, "code", "test", "lint")
    review = plain.start("review")
    spent = plain.spent()
    found = amend(plain, MORE_CHECKS)
    assert [each.kind.value for each in found] == ["attempt_failed", "contract_amended"]
    assert plain.statuses() == {"code": "completed", "test": "queued", "lint": "completed", "review": "waiting"}
    tasks = plain.workflow.tasks
    assert (tasks["test"].round, tasks["test"].evidence, tasks["test"].reworks) == (2, (), 0)
    assert plain.spent()[0] >= spent[0]
    (note,) = plain.result(review, bodies.good(review, plain))
    assert note.kind.value in {"late_usage", "stale"}
    work(plain, "test", "review")
    assert plain.workflow.status.value == "accepted"
    assert any("halves-are-covered" in each.checks or "more" in each.checks for each in tasks_evidence(plain))
    plain.check_replay()


def tasks_evidence(lab: Lab) -> list[Any]:
    return [evidence for task in lab.workflow.tasks.values() for evidence in task.evidence]


def test_a_changed_limit_voids_no_evidence(plain: Lab) -> None:
    """What was accepted stays accepted when only limits of its task are others now."""
    work(plain, "code")
    amend(plain, LESS_TOKENS)
    assert (plain.status("code"), plain.workflow.tasks["code"].round) == ("completed", 1)


def test_an_attempt_on_a_changed_task_is_charged_counted_and_queued_again(plain: Lab) -> None:
    """Its worker is told to stop; its result is stale; the task goes on under the new contract within its limit."""
    code = plain.start("code")
    plain.renew(code, bodies.USAGE)
    found = amend(plain, LESS_TOKENS)
    assert [each.reason for each in found] == ["superseded", None]
    assert plain.told[-1].kind is DispatchKind.CANCEL
    task = plain.workflow.tasks["code"]
    assert (task.status.value, task.attempts_started, task.spent.tokens) == ("queued", 1, 1500)
    assert plain.result(code, bodies.good(code, plain))[0].kind.value in {"late_usage", "stale"}
    again = plain.start("code")
    assert again.offer is not None
    assert again.offer.attempt == 2


def test_a_new_task_and_the_tasks_that_then_wait_for_it(plain: Lab) -> None:
    """An approved task appears, waiting or queued; one that needs it now waits."""
    work(plain, "code")
    extra = {
        "task_type": "test",
        "depends_on": ["code"],
        "inputs": {"revision": "task://code/revision"},
        "outputs": {"report": "value"},
        "permissions": {"repository": "execute"},
    }
    amend(plain, {"tasks": {"extra": extra, "test": {"depends_on": ["code", "extra"]}}})
    decide(plain)
    assert plain.statuses() == {
        "code": "completed",
        "test": "waiting",
        "lint": "queued",
        "review": "waiting",
        "extra": "queued",
    }
    work(plain, "extra", "lint", "test", "review")
    assert plain.workflow.status.value == "accepted"
    plain.check_replay()


WITHOUT_LINT = {
    "definition_of_done": ["committed", "tests pass", "reviewed"],
    "tasks": {"lint": None, "review": {"depends_on": ["test"]}},
}


def test_a_task_that_nobody_began_can_be_removed(plain: Lab) -> None:
    """It is gone, and the workflow is accepted without it."""
    amend(plain, WITHOUT_LINT)
    decide(plain)
    assert list(plain.workflow.tasks) == ["code", "test", "review"]
    work(plain, "code", "test", "review")
    assert plain.workflow.status.value == "accepted"
    plain.check_replay()


def test_a_task_that_was_worked_on_stays(plain: Lab) -> None:
    """What was booked for it must not vanish: the removal is refused, when asked and when approved meanwhile."""
    work(plain, "code")
    amend(plain, WITHOUT_LINT)
    work(plain, "lint")
    (refused,) = decide(plain)
    assert (refused.kind.value, refused.reason) == ("amendment_refused", "begun")
    (note,) = amend(plain, WITHOUT_LINT | {"objective": "x"})
    assert note.rejection is not None
    assert note.rejection.faults == ("tasks.lint was worked on, or ended: it can't be removed",)


def test_a_later_revision_reruns_every_final_check(plain: Lab) -> None:
    """VALID-8, STATE-1: a fix that is added later is only taken with tests that see it, and those run anew."""
    work(plain, "code", "test")
    fix = {
        "task_type": "code",
        "depends_on": ["code"],
        "inputs": {"revision": "task://code/revision"},
        "outputs": {"revision": "revision"},
        "permissions": {"repository": "read-write:feature"},
    }
    (note,) = amend(plain, {"tasks": {"fix": fix}})
    assert note.rejection is not None
    assert any("and fix makes a later one" in each for each in note.rejection.faults)
    on_fix = {"depends_on": ["fix"], "inputs": {"revision": "task://fix/revision"}, "rework": "fix"}
    committed = {"id": "committed", "kind": "revision", "task": "code", "holds_at": "own"}
    amend(
        plain,
        {
            "tasks": {"fix": fix, "test": on_fix, "review": {"inputs": {"revision": "task://fix/revision"}}},
            "checks": {"committed": [committed]},
        },
    )
    decide(plain)
    assert (plain.status("test"), plain.workflow.tasks["test"].round) == ("waiting", 2)
    work(plain, "code", "fix", "test", "lint", "review")  # a check of `code` changed, too
    assert plain.workflow.status.value == "accepted"


def test_the_workflow_s_end_moves_with_its_limit(plain: Lab) -> None:
    """A longer deadline that a person approved holds for the workflow and for tasks under way."""
    plain.start("code")
    before = plain.workflow.deadline_at
    amend(plain, {"limits": {"deadline_seconds": 9000}, "tasks": {"code": {"limits": {"deadline_seconds": 2800}}}})
    ends = plain.workflow.tasks["code"].deadline_at
    decide(plain)
    assert before is not None
    assert ends is not None
    assert plain.workflow.deadline_at == before + timedelta(seconds=1800)
    assert plain.workflow.tasks["code"].deadline_at == ends + timedelta(seconds=1000)
