"""A task that no worker took: its owner has it once its wait is over, however often it was offered meanwhile. Pure."""

from datetime import timedelta

from remit.events.transitions import StopReason

from .. import limits
from ..state import Queued, Task
from .stopping import escalate
from .unit import Unit


def escalate_unserved(unit: Unit, task: Task) -> None:
    """Escalate a queued task whose wait for a worker is over; one that its workflow holds back waits for none."""
    if not isinstance(task.phase, Queued) or limits.held_back(unit.workflow, task.task_id):
        return
    wait = timedelta(seconds=unit.facts.policy.timeouts.queue_wait_seconds)
    if unit.facts.now >= task.phase.since + wait:
        escalate(unit, task, StopReason.NO_WORKER_AVAILABLE.value, StopReason.NO_WORKER_AVAILABLE)
