"""Stopping tasks and workflows: what runs is cancelled and booked, dependants end with their prerequisite. Pure."""

from remit.events.transitions import Settlement, Stop, StopReason, TransitionKind

from .. import graph
from ..limits import settle
from ..state import AwaitingReview, Completed, Quarantined, Stopped, Task
from .unit import Unit

ENDED = (Completed, Stopped, Quarantined)


def stop_task(
    unit: Unit, task_id: str, reason: StopReason, *, person: str | None = None, detail: str | None = None
) -> None:
    """End one task, and in the same step everything that needs its result."""
    _stop(unit, unit.task(task_id), Stop(stop_reason=reason, person=person, detail=detail))
    for later in graph.downstream(unit.workflow.contract, task_id):
        task = unit.task(later)
        if not isinstance(task.phase, ENDED):
            _stop(unit, task, Stop(stop_reason=StopReason.PREREQUISITE_FAILED, detail=f"needs {task_id}"))


def stop_workflow(
    unit: Unit,
    reason: StopReason,
    *,
    others: tuple[StopReason, ...] = (),
    person: str | None = None,
    detail: str | None = None,
) -> None:
    """End the workflow: every attempt under way is cancelled and booked first."""
    stop = Stop(stop_reason=reason, others=others, person=person, detail=detail, owner=unit.workflow.contract.owner)
    for task in unit.workflow.tasks.values():
        if task.current() is not None:
            _stop(unit, task, stop)
    unit.add(TransitionKind.WORKFLOW_STOPPED, reason=reason.value, stop=stop)


def _stop(unit: Unit, task: Task, stop: Stop) -> None:
    unit.add(
        TransitionKind.TASK_STOPPED,
        task=task,
        reason=stop.stop_reason.value,
        stop=stop,
        settlement=booking(unit, task),
    )


def booking(unit: Unit, task: Task) -> Settlement | None:
    """What the attempt under way is booked with: its result's usage, else what renewals told, else all of it.

    An offer that nobody claimed used nothing and is booked with nothing.
    """
    attempt = task.current()
    if attempt is None or attempt.number == 0:
        return None
    if isinstance(task.phase, AwaitingReview):
        return settle(attempt, task.phase.result.usage)
    return settle(attempt, unit.facts.reported.get(attempt.attempt_id))
