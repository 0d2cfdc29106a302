"""The folds of offers, claims and results: how an attempt begins, is looked at, and is accepted. Pure."""

from uuid import UUID

from msgspec.structs import replace

from remit.events.transitions import Transition, TransitionKind

from .. import graph
from ..state import Attempt, AwaitingReview, Completed, Correcting, Offered, Queued, Running, Task, Waiting, Workflow
from .parts import settled, task_of, with_attempt, with_tasks, without_offer


def dispatched(workflow: Workflow, transition: Transition) -> Workflow:
    task, offer, attempt_id = task_of(workflow, transition), transition.dispatch, transition.attempt_id
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
    return with_tasks(workflow, replace(task, phase=phase, attempts=(*task.attempts, attempt)))


def offer_ended(workflow: Workflow, transition: Transition) -> Workflow:
    task = task_of(workflow, transition)
    since = task.phase.since if isinstance(task.phase, Offered) else transition.decided_at
    return with_tasks(workflow, replace(without_offer(task, transition), phase=Queued(since)))


def claimed(workflow: Workflow, transition: Transition) -> Workflow:
    task, claim, attempt_id = task_of(workflow, transition), transition.claim, transition.attempt_id
    if claim is None or attempt_id is None or (attempt := task.attempt(attempt_id)) is None:
        return workflow
    task = with_attempt(task, replace(attempt, number=claim.attempt))
    return with_tasks(
        workflow,
        replace(
            task,
            phase=Running(attempt_id, transition.decided_at, _offset(transition)),
            attempts_started=task.attempts_started + 1,
            deadline_at=claim.deadline_at,
        ),
    )


def _offset(transition: Transition) -> int:
    cause = transition.cause
    return cause.offset if cause is not None and cause.offset is not None else 0


def inspection_requested(workflow: Workflow, transition: Transition) -> Workflow:
    task, request, attempt_id = task_of(workflow, transition), transition.request, transition.attempt_id
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
        asked=(*_asked_before(task, transition), transition.event_id),
    )
    return with_tasks(workflow, replace(with_attempt(task, replace(attempt, submissions=seen)), phase=phase))


def correction_requested(workflow: Workflow, transition: Transition) -> Workflow:
    task, asked, attempt_id = task_of(workflow, transition), transition.correction, transition.attempt_id
    if asked is None or attempt_id is None or (attempt := task.attempt(attempt_id)) is None:
        return workflow
    seen = tuple(dict.fromkeys((*attempt.submissions, asked.submission)))
    phase = Correcting(attempt_id, asked.until, asked.submission, asked.usage)
    asked_to = replace(attempt, submissions=seen, corrected=True)
    return with_tasks(workflow, replace(with_attempt(task, asked_to), phase=phase, corrected=True))


def _asked_before(task: Task, transition: Transition) -> tuple[UUID, ...]:
    if transition.kind is TransitionKind.INSPECTION_RETRIED and isinstance(task.phase, AwaitingReview):
        return task.phase.asked
    return ()


def result_accepted(workflow: Workflow, transition: Transition) -> Workflow:
    accepted = transition.accepted
    if accepted is None:
        return workflow
    task = replace(
        settled(task_of(workflow, transition), transition, "completed", answered=True),
        phase=Completed(),
        outputs=accepted.outputs,
        evidence=accepted.evidence,
        subject=accepted.subject,
        author=transition.worker_id,
        rework=(),
        resume_from=None,
    )
    return _released(with_tasks(workflow, task), transition)


def _released(workflow: Workflow, transition: Transition) -> Workflow:
    """Queue every waiting task whose prerequisites are now all accepted."""
    ready = [
        replace(task, phase=Queued(transition.decided_at))
        for task in workflow.tasks.values()
        if isinstance(task.phase, Waiting) and graph.prerequisites_met(workflow.contract, workflow.tasks, task.task_id)
    ]
    return with_tasks(workflow, *ready)
