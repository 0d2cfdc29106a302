"""evolve(state, transition) -> state: the fold. Pure, and total over what decide yields; it decides nothing.

What a transition implies for other tasks (dependants become ready, a rework sends them back) is worked out here,
so that history needs one transition per fact.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import assert_never

from msgspec.structs import replace

from remit.contract import normal
from remit.events.transitions import NOTES, Ending, Recovery, Transition, TransitionKind, WorkflowStatus

from . import graph
from .limits import held_back, spend, unspend
from .state import (
    Attempt,
    AwaitingReview,
    BackingOff,
    Completed,
    Escalated,
    Offered,
    Phase,
    Quarantined,
    Queued,
    Running,
    State,
    Stopped,
    Task,
    Unborn,
    Waiting,
    Workflow,
)

SUPERSEDED = "superseded"
FIRST = 1  # number of an attempt's first submission


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
        workflow,
        sequence=transition.sequence,
        version=transition.version,
        generation=transition.writer.generation,
        last_id=transition.event_id,
        status=_status(workflow),
    )


def _status(workflow: Workflow) -> WorkflowStatus:
    if not workflow.open:
        return workflow.status
    waits = any(isinstance(task.phase, Escalated) for task in workflow.tasks.values())
    return WorkflowStatus.ESCALATED if waits else WorkflowStatus.RUNNING


def _apply(workflow: Workflow, transition: Transition) -> Workflow:
    if transition.kind in NOTES:
        return _late_usage(workflow, transition) if transition.kind is TransitionKind.LATE_USAGE else workflow
    handler = HANDLERS.get(transition.kind)
    return workflow if handler is None else handler(workflow, transition)


def _freed(before: Workflow, after: Workflow, transition: Transition) -> Workflow:
    """Let the wait for a worker begin where the workflow's own limits no longer hold a queued task back."""
    queued = [task for task in after.tasks.values() if isinstance(task.phase, Queued)] if before is not after else []
    freed = [
        replace(task, phase=Queued(transition.decided_at))
        for task in queued
        if before.tasks[task.task_id].phase == task.phase
        and held_back(before, task.task_id)
        and not held_back(after, task.task_id)
    ]
    return _with(after, *freed)


def _with(workflow: Workflow, *tasks: Task) -> Workflow:
    return replace(workflow, tasks=workflow.tasks | {task.task_id: task for task in tasks})


def _task(workflow: Workflow, transition: Transition) -> Task:
    return workflow.tasks[transition.task_id or ""]


def _with_attempt(task: Task, attempt: Attempt) -> Task:
    others = tuple(attempt if each.attempt_id == attempt.attempt_id else each for each in task.attempts)
    return replace(task, attempts=others)


def _amended(workflow: Workflow, transition: Transition) -> Workflow:
    accepted = transition.contract
    if accepted is None:
        return workflow
    return replace(
        workflow,
        contract=normal.decode(accepted.document),
        contract_version=accepted.contract_version,
        deadline_at=accepted.deadline_at,
    )


def _policy_changed(workflow: Workflow, transition: Transition) -> Workflow:
    return replace(workflow, policy_sha256=transition.policy_sha256 or workflow.policy_sha256)


def _dispatched(workflow: Workflow, transition: Transition) -> Workflow:
    task, offer, attempt_id = _task(workflow, transition), transition.dispatch, transition.attempt_id
    if offer is None or attempt_id is None:
        return workflow
    attempt = Attempt(
        attempt_id=attempt_id,
        token=transition.sequence,
        worker_id=transition.worker_id or "",
        incarnation=offer.incarnation,
        pool=offer.pool,
        round=task.round,
        contract_sha256=offer.contract_sha256,
        inputs=offer.inputs,
        price=offer.price,
        reserved=offer.reserved,
        offered_at=transition.decided_at,
    )
    phase = Offered(attempt_id, offer.offer_until, offer.queued_at)
    return _with(workflow, replace(task, phase=phase, attempts=(*task.attempts, attempt)))


def _offer_ended(workflow: Workflow, transition: Transition) -> Workflow:
    task = _task(workflow, transition)
    since = task.phase.since if isinstance(task.phase, Offered) else transition.decided_at
    return _with(workflow, replace(_without_offer(task, transition), phase=Queued(since)))


def _without_offer(task: Task, transition: Transition) -> Task:
    """The task without an offer that nobody claimed: it used nothing and reserves nothing any more."""
    kept = tuple(each for each in task.attempts if each.number or each.attempt_id != transition.attempt_id)
    return replace(task, attempts=kept)


def _claimed(workflow: Workflow, transition: Transition) -> Workflow:
    task, claim, attempt_id = _task(workflow, transition), transition.claim, transition.attempt_id
    if claim is None or attempt_id is None or (attempt := task.attempt(attempt_id)) is None:
        return workflow
    task = _with_attempt(task, replace(attempt, number=claim.attempt))
    return _with(
        workflow,
        replace(
            task,
            phase=Running(attempt_id, transition.decided_at),
            attempts_started=task.attempts_started + 1,
            deadline_at=claim.deadline_at,
        ),
    )


def _inspection_requested(workflow: Workflow, transition: Transition) -> Workflow:
    task, request, attempt_id = _task(workflow, transition), transition.request, transition.attempt_id
    if request is None or attempt_id is None or (attempt := task.attempt(attempt_id)) is None:
        return workflow
    seen = tuple(dict.fromkeys((*attempt.submissions, request.submission)))
    phase = AwaitingReview(
        attempt_id=attempt_id,
        request_id=transition.event_id,
        result=request.result,
        submission=request.submission,
        questions=request.questions,
        ask_until=request.ask_until,
        tries=request.tries,
    )
    return _with(workflow, replace(_with_attempt(task, replace(attempt, submissions=seen)), phase=phase))


def _settled(task: Task, transition: Transition, outcome: str, *, answered: bool = False) -> Task:
    """The task with the attempt ended and booked; `answered` by a result, so that the same one is a repeat."""
    booking = transition.settlement
    attempt = task.attempt(transition.attempt_id) if transition.attempt_id else None
    if attempt is None or booking is None:
        return task
    ended = replace(
        attempt,
        outcome=outcome,
        submissions=attempt.submissions or (FIRST,) * answered,
        booked=booking.usage,
        booked_gbp=booking.cost_gbp,
        held=booking.held if booking.held_until else None,
        held_until=booking.held_until,
    )
    return replace(_with_attempt(task, ended), spent=spend(task.spent, booking.usage, booking.cost_gbp))


def _result_accepted(workflow: Workflow, transition: Transition) -> Workflow:
    accepted = transition.accepted
    if accepted is None:
        return workflow
    task = replace(
        _settled(_task(workflow, transition), transition, "completed", answered=True),
        phase=Completed(),
        outputs=accepted.outputs,
        evidence=accepted.evidence,
        subject=accepted.subject,
        author=transition.worker_id,
        rework=(),
    )
    return _released(_with(workflow, task), transition)


def _released(workflow: Workflow, transition: Transition) -> Workflow:
    """Queue every waiting task whose prerequisites are now all accepted."""
    ready = [
        replace(task, phase=Queued(transition.decided_at))
        for task in workflow.tasks.values()
        if isinstance(task.phase, Waiting) and graph.prerequisites_met(workflow.contract, workflow.tasks, task.task_id)
    ]
    return _with(workflow, *ready)


def _attempt_ended(workflow: Workflow, transition: Transition) -> Workflow:
    ending = transition.ending
    if ending is None:
        return workflow
    answered = transition.kind is not TransitionKind.LEASE_EXPIRED and ending.outcome != SUPERSEDED
    task = _settled(_task(workflow, transition), transition, ending.outcome, answered=answered)
    if ending.recovery is Recovery.REWORK and ending.rework_task:
        return _rework(_with(workflow, task), task.task_id, ending, transition)
    return _with(workflow, replace(task, phase=_after(ending, transition)))


def _after(ending: Ending, transition: Transition) -> Phase:
    match ending.recovery:
        case Recovery.RETRY:
            return BackingOff(ending.not_before or transition.decided_at)
        case Recovery.REASSIGN:
            return Queued(transition.decided_at)
        case Recovery.ESCALATE:
            return Escalated(ending.recovery_reason or ending.outcome, ending.owner or "")
        case Recovery.REWORK | Recovery.NONE | Recovery.UNKNOWN:
            return Waiting()
        case _:
            assert_never(ending.recovery)


def _rework(workflow: Workflow, finder: str, ending: Ending, transition: Transition) -> Workflow:
    """Send the defect upstream: its author gets a new round, everything after it waits again."""
    target = workflow.tasks[ending.rework_task or ""]
    mended = replace(
        _new_round(target),
        phase=Queued(transition.decided_at),
        reworks=target.reworks + 1,
        rework=ending.failing,
    )
    later = [
        replace(_new_round(task), phase=Waiting(), rework=ending.failing if task_id == finder else task.rework)
        for task_id in graph.downstream(workflow.contract, target.task_id)
        for task in (workflow.tasks[task_id],)
        if not isinstance(task.phase, Stopped | Escalated)  # a person ended it, or has it
    ]
    return _with(workflow, mended, *later)


def _new_round(task: Task) -> Task:
    started = task.attempts_started > 0
    return replace(
        task,
        round=task.round + started,
        attempts_started=0,
        outputs=(),
        evidence=(),
        subject=None,
        author=None,
    )


def _backoff_ended(workflow: Workflow, transition: Transition) -> Workflow:
    return _with(workflow, replace(_task(workflow, transition), phase=Queued(transition.decided_at)))


def _reservation_released(workflow: Workflow, transition: Transition) -> Workflow:
    task = _task(workflow, transition)
    attempt = task.attempt(transition.attempt_id) if transition.attempt_id else None
    if attempt is None:
        return workflow
    return _with(workflow, _with_attempt(task, replace(attempt, held=None, held_until=None)))


def _task_escalated(workflow: Workflow, transition: Transition) -> Workflow:
    stop = transition.stop
    owner = (stop.owner if stop else None) or workflow.contract.owner
    phase = Escalated(transition.reason or "", owner)
    task = _settled(_task(workflow, transition), transition, "escalated", answered=True)
    return _with(workflow, replace(task, phase=phase))


def _task_stopped(workflow: Workflow, transition: Transition) -> Workflow:
    stop = transition.stop
    if stop is None:
        return workflow
    task = _settled(_without_offer(_task(workflow, transition), transition), transition, stop.stop_reason.value)
    return _with(workflow, replace(task, phase=Stopped(stop.stop_reason)))


def _workflow_accepted(workflow: Workflow, transition: Transition) -> Workflow:
    gate, stop = transition.gate, transition.stop
    if gate is None or stop is None:
        return workflow
    return replace(
        workflow,
        status=WorkflowStatus.ACCEPTED,
        stop_reason=stop.stop_reason,
        development_acceptance=gate.development_acceptance,
        deployment_authorisation=gate.deployment_authorisation,
    )


def _workflow_stopped(workflow: Workflow, transition: Transition) -> Workflow:
    stop = transition.stop
    if stop is None:
        return workflow
    ended = [
        replace(task, phase=Stopped(stop.stop_reason))
        for task in workflow.tasks.values()
        if not isinstance(task.phase, Completed | Stopped | Quarantined)
    ]
    return replace(_with(workflow, *ended), status=WorkflowStatus.STOPPED, stop_reason=stop.stop_reason)


def _workflow_quarantined(workflow: Workflow, transition: Transition) -> Workflow:
    stop = transition.stop
    if stop is None:
        return workflow
    frozen = workflow
    if transition.task_id is not None:
        task = _settled(_task(workflow, transition), transition, "quarantined", answered=True)
        frozen = _with(workflow, replace(task, phase=Quarantined(transition.reason or "")))
    return replace(frozen, status=WorkflowStatus.QUARANTINED, stop_reason=stop.stop_reason)


def _late_usage(workflow: Workflow, transition: Transition) -> Workflow:
    """Replace what was booked for an ended attempt by what its worker reports late; what was held is free."""
    note = transition.note
    task = workflow.tasks.get(transition.task_id or "")
    attempt = task.attempt(transition.attempt_id) if task and transition.attempt_id else None
    if task is None or attempt is None or attempt.booked is None or note is None or note.usage is None:
        return workflow
    cost = note.cost_gbp or Decimal(0)
    spent = spend(unspend(task.spent, attempt.booked, attempt.booked_gbp), note.usage, attempt.booked_gbp + cost)
    told = replace(
        attempt,
        submissions=attempt.submissions or (FIRST,),
        booked=note.usage,
        booked_gbp=attempt.booked_gbp + cost,
        held=None,
        held_until=None,
    )
    return _with(workflow, replace(_with_attempt(task, told), spent=spent))


HANDLERS: dict[TransitionKind, Callable[[Workflow, Transition], Workflow]] = {
    TransitionKind.CONTRACT_AMENDED: _amended,
    TransitionKind.POLICY_CHANGED: _policy_changed,
    TransitionKind.DISPATCHED: _dispatched,
    TransitionKind.OFFER_DECLINED: _offer_ended,
    TransitionKind.OFFER_EXPIRED: _offer_ended,
    TransitionKind.CLAIMED: _claimed,
    TransitionKind.INSPECTION_REQUESTED: _inspection_requested,
    TransitionKind.INSPECTION_RETRIED: _inspection_requested,
    TransitionKind.RESULT_ACCEPTED: _result_accepted,
    TransitionKind.RESULT_REFUSED: _attempt_ended,
    TransitionKind.ATTEMPT_FAILED: _attempt_ended,
    TransitionKind.LEASE_EXPIRED: _attempt_ended,
    TransitionKind.BACKOFF_ENDED: _backoff_ended,
    TransitionKind.RESERVATION_RELEASED: _reservation_released,
    TransitionKind.TASK_ESCALATED: _task_escalated,
    TransitionKind.TASK_STOPPED: _task_stopped,
    TransitionKind.WORKFLOW_ACCEPTED: _workflow_accepted,
    TransitionKind.WORKFLOW_STOPPED: _workflow_stopped,
    TransitionKind.WORKFLOW_QUARANTINED: _workflow_quarantined,
}
