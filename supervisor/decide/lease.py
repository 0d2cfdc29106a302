"""A worker's claim or decline. A renewal is soft state and never comes here with a change. Pure."""

from datetime import datetime, timedelta

from remit.events.inputs import Lease, LeaseKind
from remit.events.transitions import Claimed, Note, TransitionKind

from ..state import Attempt, Offered, Task, Workflow
from .unit import Unit
from .unserved import escalate_unserved
from .words import in_words


def on_lease(unit: Unit, event: Lease) -> None:
    """Start the attempt, or give the offer back; a late claim is told that the lease is lost."""
    if event.kind is LeaseKind.RENEWED or not isinstance(unit.state, Workflow):
        return
    task = unit.state.tasks.get(event.task_id)
    attempt = task.attempt(event.attempt_id) if task else None
    if task is not None and attempt is not None and _holds(task, attempt, event, unit):
        if event.kind is LeaseKind.CLAIM:
            begin_attempt(unit, task, attempt)
        else:
            unit.add(TransitionKind.OFFER_DECLINED, task=task, reason=in_words(event.reason) or "declined")
            escalate_unserved(unit, unit.task(task.task_id))
    elif not _repeated(attempt, event):
        _too_late(unit, event)


def _holds(task: Task, attempt: Attempt, event: Lease, unit: Unit) -> bool:
    return (
        unit.workflow.open
        and isinstance(task.phase, Offered)
        and task.phase.attempt_id == event.attempt_id
        and unit.facts.now <= task.phase.until
        and _same(attempt, event)
    )


def _same(attempt: Attempt, event: Lease) -> bool:
    asked = (event.worker_id, event.fencing_token, event.incarnation)
    return asked == (attempt.worker_id, attempt.token, attempt.incarnation)


def _repeated(attempt: Attempt | None, event: Lease) -> bool:
    """The same claim once more: the attempt was begun already, by this very worker process; its end was told then."""
    return attempt is not None and attempt.number > 0 and _same(attempt, event)


def begin_attempt(unit: Unit, task: Task, attempt: Attempt) -> None:
    """Start lease and attempt of the offer that is open."""
    now = unit.facts.now
    claim = Claimed(
        attempt=task.attempts_started + 1,
        incarnation=attempt.incarnation,
        lease_until=now + timedelta(seconds=unit.facts.policy.timeouts.lease_seconds),
        deadline_at=task.deadline_at or _deadline(unit.workflow, task.task_id, now),
        offered_at=attempt.offered_at,
    )
    unit.add(TransitionKind.CLAIMED, task=task, attempt=claim.attempt, claim=claim)


def _deadline(workflow: Workflow, task_id: str, now: datetime) -> datetime | None:
    limits = workflow.contract.tasks[task_id].limits
    running = workflow.clock_stopped_at is None  # else its end moves, and is judged once it goes on
    ends = [workflow.deadline_at] if workflow.deadline_at and running else []
    if limits.deadline_seconds is not None:
        ends.append(now + timedelta(seconds=limits.deadline_seconds))
    if limits.deadline is not None:
        ends.append(datetime.fromisoformat(limits.deadline))
    return min(ends, default=None)


def _too_late(unit: Unit, event: Lease) -> None:
    unit.add(
        TransitionKind.STALE,
        task_id=event.task_id,
        attempt_id=event.attempt_id,
        worker_id=event.worker_id,
        fencing_token=event.fencing_token,
        reason=f"late_{event.kind.value}",
        note=Note(event_id=event.event_id, differs=("the offer is no longer open",)),
    )
