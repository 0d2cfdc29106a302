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
    """What waits for a person: escalated tasks, states in doubt, the deployment of what was accepted."""
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
    if workflow.deployment_authorisation == "pending":
        found.append(Outstanding("deployment_authorisation", None))
    return tuple(found)


def waits_for(workflow: Workflow, task_id: str) -> str | None:  # noqa: PLR0911 - one case for each phase
    """What the task waits for, in words; None where it waits for nothing."""
    task, contract = workflow.tasks[task_id], workflow.contract.tasks[task_id]
    phase = task.phase
    match phase:
        case Waiting():
            return (
                f"prerequisites: {', '.join(graph.missing_prerequisites(workflow.contract, workflow.tasks, task_id))}"
            )
        case Queued():
            lacking = [each.value for each in limits.blockers(workflow, task_id)]
            return f"budget: {', '.join(lacking)}" if lacking else f"a worker of pool {contract.pool}"
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
