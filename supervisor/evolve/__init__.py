"""evolve(state, transition) -> state: the fold. Pure, and total over what decide yields; it decides nothing.

What a transition implies for other tasks (dependants become ready, a rework sends them back) is worked out here,
so that history needs one transition per fact.
"""

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from remit.contract import normal
from remit.events.transitions import NOTES, Transition, TransitionKind, WorkflowStatus

from ..limits import held_back
from ..state import AwaitingDecision, Escalated, Queued, State, Task, Unborn, Waiting, Workflow, phases
from . import amending, attempts, endings, stops
from .endings import SUPERSEDED
from .parts import with_tasks

__all__ = ["SUPERSEDED", "evolve"]


def evolve(state: State, transition: Transition) -> State:
    """The state after one more transition of its key."""
    match state:
        case Unborn():
            return _birth(state, transition)
        case Workflow():
            return _stamp(_freed(state, _apply(state, transition), transition), transition)
        case _:
            assert_never(state)


def _birth(state: Unborn, transition: Transition) -> State:
    if transition.contract is None or transition.kind is not TransitionKind.CONTRACT_ACCEPTED:
        return replace(state, sequence=transition.sequence, generation=transition.writer.generation)
    accepted = transition.contract
    contract = normal.decode(accepted.document)
    return Workflow(
        sequence=transition.sequence,
        version=transition.version,
        generation=transition.writer.generation,
        last_id=transition.event_id,
        status=WorkflowStatus.RUNNING,
        contract=contract,
        contract_version=accepted.contract_version,
        content_digest=accepted.content_digest,
        submitter=accepted.submitter,
        policy_sha256=transition.policy_sha256 or "",
        submitted_at=accepted.submitted_at,
        deadline_at=accepted.deadline_at,
        tasks={task_id: _newborn(contract, task_id, transition) for task_id in contract.tasks},
    )


def _newborn(contract: normal.Workflow, task_id: str, transition: Transition) -> Task:
    ready = not contract.tasks[task_id].depends_on
    return Task(task_id=task_id, phase=Queued(transition.decided_at) if ready else Waiting())


def _stamp(workflow: Workflow, transition: Transition) -> Workflow:
    return replace(
        _clocked(workflow, transition),
        sequence=transition.sequence,
        version=transition.version,
        generation=transition.writer.generation,
        last_id=transition.event_id,
        status=_status(workflow),
    )


def _clocked(workflow: Workflow, transition: Transition) -> Workflow:
    """Stop the elapsed time while a worker asks a person, and let the workflow's end move by as much."""
    since, asks = workflow.clock_stopped_at, AwaitingDecision in phases(workflow)
    if asks == (since is not None):
        return workflow
    if since is None:
        return replace(workflow, clock_stopped_at=transition.decided_at)
    ends = workflow.deadline_at and workflow.deadline_at + (transition.decided_at - since)
    return replace(workflow, clock_stopped_at=None, deadline_at=ends)


def _status(workflow: Workflow) -> WorkflowStatus:
    if not workflow.open:
        return workflow.status
    waits = phases(workflow) & {Escalated, AwaitingDecision}
    return WorkflowStatus.ESCALATED if waits else WorkflowStatus.RUNNING


def _apply(workflow: Workflow, transition: Transition) -> Workflow:
    if transition.kind in NOTES:
        return endings.late_usage(workflow, transition) if transition.kind is TransitionKind.LATE_USAGE else workflow
    handler = HANDLERS.get(transition.kind)
    return workflow if handler is None else handler(workflow, transition)


def _freed(before: Workflow, after: Workflow, transition: Transition) -> Workflow:
    """Let the wait for a worker begin where the workflow's own limits no longer hold a queued task back."""
    if before is after or not after.open or Queued not in phases(after):
        return after
    freed = [
        replace(task, phase=Queued(transition.decided_at))
        for task in after.tasks.values()
        if isinstance(task.phase, Queued)
        and (earlier := before.tasks.get(task.task_id)) is not None
        and earlier.phase == task.phase
        and held_back(before, task.task_id)
        and not held_back(after, task.task_id)
    ]
    return with_tasks(after, *freed) if freed else after


def _policy_changed(workflow: Workflow, transition: Transition) -> Workflow:
    return replace(workflow, policy_sha256=transition.policy_sha256 or workflow.policy_sha256)


HANDLERS: dict[TransitionKind, Callable[[Workflow, Transition], Workflow]] = {
    TransitionKind.CONTRACT_AMENDED: amending.amended,
    TransitionKind.AMENDMENT_PROPOSED: amending.proposed,
    TransitionKind.AMENDMENT_REFUSED: amending.refused,
    TransitionKind.POLICY_CHANGED: _policy_changed,
    TransitionKind.DISPATCHED: attempts.dispatched,
    TransitionKind.OFFER_DECLINED: attempts.offer_ended,
    TransitionKind.OFFER_EXPIRED: attempts.offer_ended,
    TransitionKind.CLAIMED: attempts.claimed,
    TransitionKind.CORRECTION_REQUESTED: attempts.correction_requested,
    TransitionKind.TASK_RESOLVED: endings.task_resolved,
    TransitionKind.INSPECTION_REQUESTED: attempts.inspection_requested,
    TransitionKind.INSPECTION_RETRIED: attempts.inspection_requested,
    TransitionKind.RESULT_ACCEPTED: attempts.result_accepted,
    TransitionKind.RESULT_REFUSED: endings.attempt_ended,
    TransitionKind.ATTEMPT_FAILED: endings.attempt_ended,
    TransitionKind.LEASE_EXPIRED: endings.attempt_ended,
    TransitionKind.BACKOFF_ENDED: endings.backoff_ended,
    TransitionKind.RESERVATION_RELEASED: endings.reservation_released,
    TransitionKind.TASK_ESCALATED: stops.task_escalated,
    TransitionKind.TASK_STOPPED: stops.task_stopped,
    TransitionKind.WORKFLOW_ACCEPTED: stops.workflow_accepted,
    TransitionKind.WORKFLOW_STOPPED: stops.workflow_stopped,
    TransitionKind.WORKFLOW_QUARANTINED: stops.workflow_quarantined,
}
