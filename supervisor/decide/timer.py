"""A wait that is over. Each is checked against the state again: one that no longer applies does nothing. Pure."""

from collections.abc import Callable

from remit.events.transitions import Stop, StopReason, TransitionKind

from ..inputs import Timer, TimerName
from ..state import AwaitingReview, BackingOff, Correcting, Offered, Queued, Running, Task, Workflow
from .ending import lose_attempt
from .inspection import ask_again
from .stopping import escalate, stop_workflow
from .unit import Unit
from .unserved import escalate_unserved


def on_timer(unit: Unit, item: Timer) -> None:
    """Do what the wait was for."""
    if not isinstance(unit.state, Workflow):
        return
    if item.name is TimerName.HELD:
        _release(unit, item)
    elif unit.state.open and item.name is TimerName.WORKFLOW_DEADLINE:
        stop_workflow(unit, Stop(stop_reason=StopReason.ELAPSED, owner=unit.state.contract.owner))
    elif unit.state.open and item.task_id in unit.state.tasks:
        HANDLERS[item.name](unit, unit.task(item.task_id or ""), item)


def _offer(unit: Unit, task: Task, item: Timer) -> None:
    if isinstance(task.phase, Offered) and task.phase.attempt_id == item.attempt_id:
        unit.add(TransitionKind.OFFER_EXPIRED, task=task, reason=item.name.value)
        escalate_unserved(unit, unit.task(task.task_id))


def _lost(unit: Unit, task: Task, item: Timer) -> None:
    if isinstance(task.phase, Running | Correcting) and task.phase.attempt_id == item.attempt_id:
        lose_attempt(unit, task, item.name.value)


def _incarnation(unit: Unit, task: Task, item: Timer) -> None:
    if isinstance(task.phase, Offered):
        _offer(unit, task, item)
    else:
        _lost(unit, task, item)


def _deadline(unit: Unit, task: Task, item: Timer) -> None:
    if isinstance(task.phase, Running | Correcting):
        _lost(unit, task, item)
    elif isinstance(task.phase, Queued | BackingOff):
        escalate(unit, task, "elapsed", StopReason.ELAPSED)


def _backoff(unit: Unit, task: Task, item: Timer) -> None:
    if isinstance(task.phase, BackingOff):
        unit.add(TransitionKind.BACKOFF_ENDED, task=task, reason=item.name.value)


def _queue_wait(unit: Unit, task: Task, _: Timer) -> None:
    escalate_unserved(unit, task)


def _no_eligible_worker(unit: Unit, task: Task, _: Timer) -> None:
    if isinstance(task.phase, Queued):
        escalate(unit, task, StopReason.NO_ELIGIBLE_WORKER.value, StopReason.NO_ELIGIBLE_WORKER)


def _inspection(unit: Unit, task: Task, item: Timer) -> None:
    if isinstance(task.phase, AwaitingReview) and task.phase.attempt_id == item.attempt_id:
        ask_again(unit, task, task.phase)


def _release(unit: Unit, item: Timer) -> None:
    task = unit.workflow.tasks.get(item.task_id or "")
    attempt = task.attempt(item.attempt_id) if task and item.attempt_id else None
    if task is None or attempt is None or attempt.held is None:
        return
    unit.add(
        TransitionKind.RESERVATION_RELEASED,
        task_id=task.task_id,
        attempt_id=attempt.attempt_id,
        worker_id=attempt.worker_id,
        fencing_token=attempt.token,
        reason=item.name.value,
    )


HANDLERS: dict[TimerName, Callable[[Unit, Task, Timer], None]] = {
    TimerName.OFFER: _offer,
    TimerName.SILENCE: _lost,
    TimerName.NO_PROGRESS: _lost,
    TimerName.TASK_DEADLINE: _deadline,
    TimerName.INCARNATION: _incarnation,
    TimerName.BACKOFF: _backoff,
    TimerName.QUEUE_WAIT: _queue_wait,
    TimerName.NO_ELIGIBLE_WORKER: _no_eligible_worker,
    TimerName.INSPECTION: _inspection,
    TimerName.CORRECTION: _lost,
}
