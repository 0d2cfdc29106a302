"""Stopping tasks and workflows: what runs is cancelled and booked, dependants end with their prerequisite. Pure."""

from decimal import Decimal

from remit.events.transitions import Stop, StopReason, TransitionKind

from .. import graph
from ..state import Completed, Quarantined, Stopped, Task
from .booking import booking
from .unit import Unit

ENDED = (Completed, Stopped, Quarantined)


def stop_task(unit: Unit, task_id: str, stop: Stop, *, minutes: Decimal | None = None) -> None:
    """End one task, and in the same step everything that needs its result; `minutes` of the person who did."""
    _stop(unit, unit.task(task_id), stop, minutes)
    for later in graph.downstream(unit.workflow.contract, task_id):
        task = unit.task(later)
        if not isinstance(task.phase, ENDED):
            _stop(unit, task, Stop(stop_reason=StopReason.PREREQUISITE_FAILED, detail=f"needs {task_id}"))


def stop_workflow(unit: Unit, stop: Stop, *, minutes: Decimal | None = None) -> None:
    """End the workflow: every attempt under way is cancelled and booked first."""
    stop_attempts(unit, stop)
    unit.add(TransitionKind.WORKFLOW_STOPPED, reason=stop.stop_reason.value, stop=stop, minutes_spent=minutes)


def stop_attempts(unit: Unit, stop: Stop, *, but: str | None = None) -> None:
    """Cancel and book every attempt under way, except that of the task `but`."""
    for task in unit.workflow.tasks.values():
        if task.current() is not None and task.task_id != but:
            _stop(unit, task, stop)


def escalate(unit: Unit, task: Task, reason: str, stop_reason: StopReason) -> None:
    """Give a task to its workflow's owner."""
    stop = Stop(stop_reason=stop_reason, owner=unit.workflow.contract.owner)
    unit.add(TransitionKind.TASK_ESCALATED, task=task, reason=reason, stop=stop)


def _stop(unit: Unit, task: Task, stop: Stop, minutes: Decimal | None = None) -> None:
    unit.add(
        TransitionKind.TASK_STOPPED,
        task=task,
        reason=stop.stop_reason.value,
        stop=stop,
        settlement=booking(unit, task),
        minutes_spent=minutes,
    )
