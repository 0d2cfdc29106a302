"""One line for each kind of step that people watch for."""

from typing import Any
from uuid import UUID

import pytest

from remit.cli.telling import TELLERS, told
from remit.events.inputs import ErrorClass
from remit.events.transitions import (
    NOTES,
    Accepted,
    ContractAccepted,
    Correction,
    Ending,
    Proposal,
    Recovery,
    RefusedSubtask,
    Resolution,
    Transition,
    TransitionKind,
    WorkflowStatus,
    Writer,
)
from tests.supervisor.world import START

BOOKKEEPING = {
    TransitionKind.UNKNOWN,
    TransitionKind.DISPATCHED,
    TransitionKind.INSPECTION_RETRIED,
    TransitionKind.BACKOFF_ENDED,
    TransitionKind.RESERVATION_RELEASED,
}


def transition(kind: str, **said: Any) -> Transition:
    common: dict[str, Any] = {
        "event_id": UUID(int=1),
        "tenant_id": "default",
        "workflow_id": "w1",
        "occurred_at": START,
        "producer": "test",
        "sequence": 7,
        "version": 7,
        "writer": Writer(instance="s1", generation=1),
        "decider_version": 1,
        "decided_at": START,
        "workflow_status": WorkflowStatus.RUNNING,
        "round": 1,
        "attempt": 2,
        "worker_id": "shell-1",
    }
    return Transition(kind=TransitionKind(kind), **(common | said))


def test_every_kind_is_told_or_known_as_bookkeeping() -> None:
    """A kind that is added must be given words, or named here."""
    assert set(TransitionKind) - NOTES - TELLERS.keys() == BOOKKEEPING


def ending(**said: Any) -> Ending:
    common: dict[str, Any] = {
        "outcome": "needs_review",
        "error_class": ErrorClass.NEEDS_REVIEW,
        "faults": (),
        "recovery": Recovery.ESCALATE,
        "owner": "user:priya",
    }
    return Ending(**(common | said))


AMENDED = ContractAccepted(
    contract_version=3,
    content_digest="d",
    contract_sha256="c",
    document="{}",
    submitter="user:priya",
    submitted_at=START,
    approved_by="user:omar",
    widened=("limits.max_tokens: 10 -> 20",),
)
PROPOSAL = Proposal(item_id="w1/7", base_version=1, widens=("limits",), proposer="user:priya", owner="user:omar")
ASKED = Correction(faults=("status is required",), submission=1, until=START)
DECIDED = Resolution(item_id="w1/6", person="user:priya", resolution="retry", reason="looked at it")
ACCEPTED = "a: accepted (round 1, attempt 2) on 0 pieces of evidence"
SPAWNED = Accepted(
    outputs=(),
    evidence=(),
    answers=(),
    first_pass=True,
    subtasks=("b1", "b2"),
    refused_subtasks=(RefusedSubtask(task_id="b3", reason="task_limit"),),
)


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            transition("correction_requested", task_id="a", correction=ASKED),
            "a: result does not fit, shell-1 is asked once to mend it: status is required",
        ),
        (
            transition("task_resolved", task_id="a", resolution=DECIDED),
            "a: user:priya decided on w1/6: retry (looked at it)",
        ),
        (
            transition("amendment_proposed", proposal=PROPOSAL),
            "amendment of contract version 1 by user:priya waits for user:omar (item w1/7): it widens limits",
        ),
        (
            transition(
                "amendment_refused", resolution=Resolution(item_id="w1/7", person="user:omar", resolution="refuse")
            ),
            "amendment refused by user:omar",
        ),
        (transition("amendment_refused", reason="base_version"), "amendment refused: base_version"),
        (
            transition("contract_amended", contract=AMENDED),
            "contract version 3 holds, approved by user:omar; it widens: limits.max_tokens: 10 -> 20",
        ),
        (
            transition("result_accepted", task_id="a", accepted=SPAWNED),
            f"{ACCEPTED}; further tasks: b1, b2; tasks refused: b3: task_limit",
        ),
        (
            transition("attempt_failed", task_id="a", ending=ending()),
            "a: needs_review (round 1, attempt 2) -> user:priya is asked",
        ),
        (
            transition("attempt_failed", task_id="a", ending=ending(error_class=ErrorClass.PERMANENT_FAILED)),
            "a: needs_review (round 1, attempt 2) -> escalated to user:priya",
        ),
    ],
)
def test_the_line(found: Transition, line: str) -> None:
    """Who, what, why, on one line."""
    assert told(found) == line
