"""What may happen next in a workflow, what it waits for, and what a person has yet to decide: functions of its state.

Pure; the command line shows them. They decide nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from . import graph, limits
from .state import (
    AwaitingDecision,
    AwaitingReview,
    BackingOff,
    Completed,
    Correcting,
    Escalated,
    Offered,
    Quarantined,
    Queued,
    Running,
    Stopped,
    Task,
    Waiting,
    Workflow,
)

SUPERVISOR = "supervisor"


@dataclass(frozen=True, slots=True)
class Action:
    """One next step: what, by whom, on which task (None: the workflow), and until when or from when."""

    name: str
    by: str
    task_id: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Outstanding:
    """A decision that a person owes; `person` None where the policy's roles name who."""

    what: str
    person: str | None
    task_id: str | None = None
    reason: str | None = None


def next_permitted_actions(workflow: Workflow) -> tuple[Action, ...]:
    """Every step that the state permits now, tasks in file order; none for a workflow that has ended."""
    if not workflow.open:
        return ()
    steps = [step for task in workflow.tasks.values() for step in _steps(workflow, task)]
    return (*steps, Action("cancel", workflow.contract.owner, at=workflow.deadline_at))


def _steps(workflow: Workflow, task: Task) -> Iterator[Action]:
    phase, task_id = task.phase, task.task_id
    match phase:
        case Queued():
            if not limits.blockers(workflow, task_id):
                yield Action("dispatch", SUPERVISOR, task_id)
        case Offered():
            yield Action("claim", _worker(task), task_id, phase.until)
        case Running():
            yield Action("submit_result", _worker(task), task_id, task.deadline_at)
        case AwaitingReview():
            yield Action("judge_result", SUPERVISOR, task_id, phase.ask_until)
        case BackingOff():
            yield Action("retry", SUPERVISOR, task_id, phase.until)
        case Correcting():
            yield Action("correct_result", _worker(task), task_id, phase.until)
        case Escalated() | AwaitingDecision():
            yield Action("resolve", phase.owner, task_id)
        case Waiting() | Completed() | Stopped() | Quarantined():
            pass
        case _:
            assert_never(phase)


def _worker(task: Task) -> str:
    attempt = task.current()
    return attempt.worker_id if attempt else ""


def outstanding_decisions(workflow: Workflow) -> tuple[Outstanding, ...]:
    """What waits for a person: escalated tasks, amendments, states in doubt, the deployment of what was accepted."""
    found = [
        Outstanding("escalated", task.phase.owner, task.task_id, task.phase.reason)
        for task in workflow.tasks.values()
        if workflow.open and isinstance(task.phase, Escalated | AwaitingDecision)
    ]
    found += [
        Outstanding("quarantined", workflow.contract.owner, task.task_id, task.phase.reason)
        for task in workflow.tasks.values()
        if isinstance(task.phase, Quarantined)
    ]
    if workflow.open:
        found += [Outstanding("amendment", each.owner, None, each.item_id) for each in workflow.proposed]
    if workflow.deployment_authorisation == "pending":
        found.append(Outstanding("deployment_authorisation", None))
    return tuple(found)


def waits_for(workflow: Workflow, task_id: str) -> str | None:  # noqa: PLR0911 - one case for each phase
    """What the task waits for, in words; None where it waits for nothing."""
    task, contract = workflow.tasks[task_id], workflow.contract.tasks[task_id]
    phase = task.phase
    match phase:
        case Waiting():
            return f"missing prerequisite: {_prerequisites(workflow, task_id)}"
        case Queued():
            return held_back_by(workflow, task_id) or f"a worker of pool {contract.pool}"
        case Offered() | Running():
            return f"worker {_worker(task)}"
        case AwaitingReview():
            return "the inspection of its result"
        case BackingOff():
            return "its back-off"
        case Correcting():
            return f"worker {_worker(task)}, which mends its result"
        case Escalated() | AwaitingDecision():
            return f"{phase.owner}: {phase.reason}"
        case Completed() | Stopped() | Quarantined():
            return None
        case _:
            assert_never(phase)


def _prerequisites(workflow: Workflow, task_id: str) -> str:
    """The tasks that it waits for, each with where it stands."""
    missing = graph.missing_prerequisites(workflow.contract, workflow.tasks, task_id)
    return ", ".join(f"{each} ({workflow.tasks[each].status.value})" for each in missing)


def held_back_by(workflow: Workflow, task_id: str) -> str | None:
    """The limit of its workflow that keeps a queued task from being offered, in words; None if a worker may have it."""
    if lacking := [each.value for each in limits.blockers(workflow, task_id)]:
        return f"budget: {', '.join(lacking)}"
    if limits.enough_at_work(workflow):
        return f"workers: {workflow.contract.limits.max_workers} attempts at once are all that its workflow may have"
    return None


def empty_because(workflow: Workflow) -> str | None:
    """Why no task of the workflow can be offered to a worker now, in words; None while one can."""
    if not workflow.open:
        return f"finished: {workflow.stop_reason.value if workflow.stop_reason else workflow.status.value}"
    tasks = workflow.tasks.values()
    queued = [task.task_id for task in tasks if isinstance(task.phase, Queued)]
    if queued:
        held = [held_back_by(workflow, task_id) for task_id in queued]
        return None if None in held else held[0]
    waiting = [task.task_id for task in tasks if isinstance(task.phase, Waiting)]
    if waiting:
        return f"missing prerequisite: {waiting[0]} waits for {_prerequisites(workflow, waiting[0])}"
    unfinished = [task for task in tasks if not isinstance(task.phase, Completed)]
    standing = ", ".join(f"{task.task_id} is {task.status.value}" for task in unfinished)
    return f"no task is queued: {standing}"
