"""The folds of what ends an attempt without acceptance, and of what follows: retry, rework, late usage. Pure."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import assert_never

from msgspec.structs import replace

from remit.events.inputs import ErrorClass
from remit.events.transitions import Ending, Recovery, Transition, TransitionKind

from .. import graph
from ..limits import spend, unspend
from ..recovery import DISAGREED
from ..state import AwaitingDecision, BackingOff, Escalated, Phase, Queued, Stopped, Task, Waiting, Workflow
from .parts import settled, task_of, with_attempt, with_next, with_tasks

SUPERSEDED = "superseded"
NOT_HELD = "requirement_not_held"  # all tasks were accepted, and the gate was not passed
ASKING = 2  # the first version of the decider whose questions of workers pause the elapsed time
HELD = (Stopped, Escalated, AwaitingDecision)  # a person ended it, or has it
NEXT_ATTEMPT = frozenset({Recovery.RETRY, Recovery.REASSIGN})  # of the same task, which is given what failed


def attempt_ended(workflow: Workflow, transition: Transition) -> Workflow:
    ending = transition.ending
    if ending is None:
        return workflow
    answered = transition.kind is not TransitionKind.LEASE_EXPIRED and ending.outcome != SUPERSEDED
    task = settled(task_of(workflow, transition), transition, ending.outcome, answered=answered)
    if ending.recovery is Recovery.REWORK and ending.rework_task:
        return _rework(with_tasks(workflow, task), task.task_id, ending, transition)
    told = ending.recovery in NEXT_ATTEMPT and ending.outcome != DISAGREED  # a second verifier looks for itself
    given = ending.failing if told else ()
    return with_tasks(
        workflow,
        replace(
            task,
            phase=_after(ending, transition),
            rework=given or task.rework,
            resume_from=ending.checkpoint or task.resume_from,
        ),
    )


def _after(ending: Ending, transition: Transition) -> Phase:
    match ending.recovery:
        case Recovery.RETRY:
            return BackingOff(ending.not_before or transition.decided_at)
        case Recovery.REASSIGN:
            return Queued(transition.decided_at)
        case Recovery.ESCALATE:
            return _with_a_person(ending, transition)
        case Recovery.REWORK | Recovery.NONE | Recovery.UNKNOWN:
            return Waiting()
        case _:
            assert_never(ending.recovery)


def _with_a_person(ending: Ending, transition: Transition) -> Phase:
    """A question of the worker's pauses the elapsed time, a ladder that is spent does not."""
    reason, owner = ending.recovery_reason or ending.outcome, ending.owner or ""
    if ending.error_class is ErrorClass.NEEDS_REVIEW and transition.decider_version >= ASKING:
        return AwaitingDecision(reason, owner, transition.sequence, transition.decided_at)
    return Escalated(reason, owner, transition.sequence)


def task_resolved(workflow: Workflow, transition: Transition) -> Workflow:
    """A person lets an item's task be tried once more: one more attempt, or rework, than its limit; no sum is reset."""
    task, now = task_of(workflow, transition), transition.decided_at
    ready = graph.prerequisites_met(workflow.contract, workflow.tasks, task.task_id)
    phase = Queued(now) if ready else Waiting()  # what it needs may have been sent back meanwhile
    again = replace(task, phase=phase, deadline_at=_end_after_a_wait(task, transition))
    if transition.reason == NOT_HELD:
        return with_tasks(workflow, replace(new_round(again), phase=phase), *_sent_back(workflow, task.task_id))
    granted = _granted(workflow, task) if transition.reason == "reworks_exhausted" else ()
    return with_tasks(workflow, replace(again, granted_attempts=_attempts_granted(workflow, task)), *granted)


def _end_after_a_wait(task: Task, transition: Transition) -> datetime | None:
    """The task's end: anew where it was what ended it, later by its own wait for an answer, else as it was."""
    if transition.reason == "elapsed" or task.deadline_at is None:
        return None
    waited = transition.decided_at - task.phase.since if isinstance(task.phase, AwaitingDecision) else timedelta()
    return task.deadline_at + waited


def _attempts_granted(workflow: Workflow, task: Task) -> int:
    """As many beyond the limit as one more attempt needs."""
    most = workflow.contract.tasks[task.task_id].limits.max_attempts
    return task.granted_attempts if most is None else max(task.granted_attempts, task.attempts_started + 1 - most)


def _granted(workflow: Workflow, finder: Task) -> tuple[Task, ...]:
    """The task that mends what this one finds, with one more rework."""
    target = workflow.tasks.get(workflow.contract.tasks[finder.task_id].rework or "")
    return () if target is None else (replace(target, granted_reworks=target.granted_reworks + 1),)


def _sent_back(workflow: Workflow, task_id: str) -> list[Task]:
    """Whatever used the task's output waits anew."""
    later = (workflow.tasks[each] for each in graph.downstream(workflow.contract, task_id))
    return [replace(new_round(task), phase=Waiting()) for task in later if not isinstance(task.phase, HELD)]


def _rework(workflow: Workflow, finder: str, ending: Ending, transition: Transition) -> Workflow:
    """Send the defect upstream: its author gets a new round, everything after it waits again."""
    target = workflow.tasks[ending.rework_task or ""]
    mended = replace(
        new_round(target),
        phase=Queued(transition.decided_at),
        reworks=target.reworks + 1,
        rework=ending.failing,
    )
    later = [
        replace(new_round(task), phase=Waiting(), rework=ending.failing if task_id == finder else task.rework)
        for task_id in graph.downstream(workflow.contract, target.task_id)
        for task in (workflow.tasks[task_id],)
        if not isinstance(task.phase, HELD)
    ]
    return with_tasks(workflow, mended, *later)


def new_round(task: Task) -> Task:
    """The task without anything that was accepted or counted in its round."""
    started = task.attempts_started > 0
    return replace(
        task,
        round=task.round + started,
        attempts_started=0,
        granted_attempts=0,
        outputs=(),
        evidence=(),
        subject=None,
        author=None,
        resume_from=None,
    )


def backoff_ended(workflow: Workflow, transition: Transition) -> Workflow:
    return with_tasks(workflow, replace(task_of(workflow, transition), phase=Queued(transition.decided_at)))


def reservation_released(workflow: Workflow, transition: Transition) -> Workflow:
    task = task_of(workflow, transition)
    attempt = task.attempt(transition.attempt_id) if transition.attempt_id else None
    if attempt is None:
        return workflow
    return with_tasks(workflow, with_attempt(task, replace(attempt, held=None, held_until=None)))


def late_usage(workflow: Workflow, transition: Transition) -> Workflow:
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
        submissions=with_next(attempt.submissions),
        booked=note.usage,
        booked_gbp=attempt.booked_gbp + cost,
        held=None,
        held_until=None,
    )
    return with_tasks(workflow, replace(with_attempt(task, told), spent=spent))
