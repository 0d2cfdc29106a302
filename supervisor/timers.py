"""Deadlines are data in the state: which waits are there, and which are over. Pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from remit.policy.model import Policy, Timeouts

from . import limits
from .inputs import Timer, TimerName
from .leases import LeaseBook
from .once import once
from .state import AwaitingReview, BackingOff, Correcting, Offered, Queued, Running, Task, Workflow

WAITS = frozenset({Queued, Offered, Running, AwaitingReview, Correcting, BackingOff})


def waits(
    workflow: Workflow,
    leases: LeaseBook,
    incarnations: Mapping[str, UUID],
    timeouts: Timeouts,
    newest: Policy | None = None,
) -> Iterator[Timer]:
    """Every wait of the workflow, due or not; `timeouts` are those of its own policy.

    `incarnations`: the newest process of each registered worker. `newest`: the policy that now governs workers.
    """
    if workflow.open and workflow.deadline_at is not None and workflow.clock_stopped_at is None:
        yield Timer(TimerName.WORKFLOW_DEADLINE, workflow.deadline_at)
    for task in workflow.tasks.values():
        if task.attempts:
            yield from _held(task)
        if type(task.phase) in WAITS and workflow.open:
            yield from _of_phase(workflow, task, leases, incarnations, timeouts)
        if isinstance(task.phase, Queued) and workflow.open and not served(workflow, task.task_id, newest):
            yield Timer(TimerName.NO_ELIGIBLE_WORKER, task.phase.since, task.task_id)


def served(workflow: Workflow, task_id: str, newest: Policy | None) -> bool:
    """Whether the policy knows any worker that could have the task: a pool of that name, with that capability."""
    task = workflow.contract.tasks[task_id]
    pool = newest.pools.get(task.pool) if newest is not None else None
    return newest is None or (pool is not None and task.capability in pool.capabilities)


def due(timers: Iterator[Timer], now: datetime) -> list[Timer]:
    """Those that are over, the longest first, one per task: what follows may end the others."""
    over: dict[str | None, Timer] = {}
    for timer in sorted((each for each in timers if each.due_at <= now), key=_order):
        over.setdefault(timer.task_id, timer)
    return sorted(over.values(), key=_order)


def _order(timer: Timer) -> tuple[datetime, str, str]:
    return (timer.due_at, timer.name.value, timer.task_id or "")


@once
def _held(task: Task) -> tuple[Timer, ...]:
    return tuple(
        Timer(TimerName.HELD, attempt.held_until, task.task_id, attempt.attempt_id)
        for attempt in task.attempts
        if attempt.held_until is not None
    )


def _of_phase(
    workflow: Workflow, task: Task, leases: LeaseBook, incarnations: Mapping[str, UUID], timeouts: Timeouts
) -> Iterator[Timer]:
    match task.phase:
        case Queued():
            yield from _deadline(task)
            yield from _of_queue(workflow, task, task.phase, timeouts)
        case Offered(attempt_id=attempt_id, until=until):
            yield Timer(TimerName.OFFER, until, task.task_id, attempt_id)
            yield from _replaced(task, incarnations)
        case Running(attempt_id=attempt_id):
            yield from _deadline(task, attempt_id)
            yield from _of_lease(task.task_id, attempt_id, leases, timeouts)
            yield from _replaced(task, incarnations)
        case AwaitingReview(attempt_id=attempt_id, ask_until=until):
            yield Timer(TimerName.INSPECTION, until, task.task_id, attempt_id)
        case Correcting(attempt_id=attempt_id, until=until):
            yield from _deadline(task, attempt_id)
            yield Timer(TimerName.CORRECTION, until, task.task_id, attempt_id)
            yield from _replaced(task, incarnations)
        case BackingOff(until=until):
            yield from _deadline(task)
            yield Timer(TimerName.BACKOFF, until, task.task_id)
        case _:
            pass


def _deadline(task: Task, attempt_id: UUID | None = None) -> Iterator[Timer]:
    if task.deadline_at is not None:
        yield Timer(TimerName.TASK_DEADLINE, task.deadline_at, task.task_id, attempt_id)


def _of_queue(workflow: Workflow, task: Task, phase: Queued, timeouts: Timeouts) -> Iterator[Timer]:
    """The wait for a worker; a task that its own workflow's limits hold back waits for none."""
    if not limits.held_back(workflow, task.task_id):
        until = phase.since + timedelta(seconds=timeouts.queue_wait_seconds)
        yield Timer(TimerName.QUEUE_WAIT, until, task.task_id)


def _of_lease(task_id: str, attempt_id: UUID, leases: LeaseBook, timeouts: Timeouts) -> Iterator[Timer]:
    lease = leases.get(attempt_id)
    if lease is None:
        return
    silent = lease.seen_at + timedelta(seconds=timeouts.lease_seconds)
    still = lease.moved_at + timedelta(seconds=timeouts.no_progress_seconds)
    yield Timer(TimerName.SILENCE, silent, task_id, attempt_id)
    yield Timer(TimerName.NO_PROGRESS, still, task_id, attempt_id)


def _replaced(task: Task, incarnations: Mapping[str, UUID]) -> Iterator[Timer]:
    """A new process of the same worker id ends what the old one had, at once."""
    attempt = task.current()
    newest = incarnations.get(attempt.worker_id) if attempt is not None else None
    if attempt is not None and newest is not None and newest != attempt.incarnation:
        yield Timer(TimerName.INCARNATION, attempt.offered_at, task.task_id, attempt.attempt_id)
