"""The stall detector: every open workflow has a next event, with a deadline or a person's name.

What has none, or one that is long past, is an alarm: a fault of ours, or a supervisor that is away. Pure; the
supervisor asks after each decision, `remit doctor` for a whole log, the laws at each step.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from . import graph, limits
from .inputs import Timer, TimerName
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

PATIENCE = timedelta(seconds=60)
ENDED = (Completed, Stopped, Quarantined)
WAITS_FOR: dict[type, TimerName] = {
    Offered: TimerName.OFFER,
    Running: TimerName.SILENCE,
    AwaitingReview: TimerName.INSPECTION,
    Correcting: TimerName.CORRECTION,
    BackingOff: TimerName.BACKOFF,
}
"""The wait that each phase must have; others may end it sooner."""


@dataclass(frozen=True, slots=True)
class Stall:
    """What does not go on: a task, or the workflow as a whole."""

    task_id: str | None
    why: str


def stalls(workflow: Workflow, timers: Iterable[Timer]) -> Iterator[Stall]:
    """Every task of an open workflow that nothing will move; `timers` are the workflow's waits, due or not."""
    if not workflow.open:
        return
    waits = list(timers)
    busy = any(each.task_id for each in waits)  # something ends, and the workflow is looked at again
    if all(isinstance(task.phase, ENDED) for task in workflow.tasks.values()):
        yield Stall(None, "every task has ended, and the workflow has not")
    for task in workflow.tasks.values():
        mine = {each.name for each in waits if each.task_id == task.task_id}
        if not _goes_on(workflow, task, mine, busy=busy):
            yield Stall(task.task_id, f"it is {task.status.value}, and nothing will move it")


def overdue(timers: Iterable[Timer], now: datetime) -> Stall | None:
    """The wait that should have ended longest ago, if that is more than a minute."""
    first = min(timers, key=lambda each: each.due_at, default=None)
    if first is None or now - first.due_at < PATIENCE:
        return None
    return Stall(first.task_id, f"its {first.name.value} was due at {first.due_at:%Y-%m-%d %H:%M:%S} UTC")


def _goes_on(workflow: Workflow, task: Task, timers: set[TimerName], *, busy: bool) -> bool:
    match task.phase:
        case Waiting():
            missing = graph.missing_prerequisites(workflow.contract, workflow.tasks, task.task_id)
            return any(not isinstance(workflow.tasks[each].phase, Stopped) for each in missing)
        case Queued():
            return TimerName.QUEUE_WAIT in timers or (busy and limits.held_back(workflow, task.task_id))
        case Escalated(owner=owner) | AwaitingDecision(owner=owner):
            return bool(owner)
        case Completed() | Stopped() | Quarantined():
            return True
        case _:
            return WAITS_FOR[type(task.phase)] in timers
