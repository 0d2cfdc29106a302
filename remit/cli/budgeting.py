"""What `budget` tells, as one document: each limit with what was spent, reserved, held and is left; and the bookings.

Only `remit.cli` imports it. Values are JSON's own, but for times and money, which the printers write as text.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec

from remit.cli.bookings import Booking, Reconciled, bookings, reconcile
from remit.cli.folded import Folded
from remit.events.transitions import NOTES
from remit.instants import aware
from remit.roles import role

if TYPE_CHECKING:
    from supervisor.state import Attempt, Spent, Task

Document = dict[str, Any]
Number = Decimal | int
AMOUNTS = ("cost_gbp", "tokens", "tool_calls", "turns")
ENDED = frozenset({"completed", "failed", "stopped", "quarantined"})
SILENT = (
    "A silent attempt is booked with what it reported last; the rest of its reservation is held until its grant has "
    "run out and the grace after it, then it is free. Where no report was seen the whole reservation is booked, as "
    "estimated. A late result replaces what was booked."
)


def document(folded: Folded, now: datetime) -> Document:
    """Everything that `budget` tells; the text form is printed from it."""
    aware(now, "now")
    workflow = folded.workflow
    found = list(bookings(entry.transition for entry in folded.entries))
    return {
        "workflow_id": workflow.workflow_id,
        "tenant_id": workflow.tenant_id,
        "status": workflow.status.value,
        "policy_sha256": workflow.policy_sha256,
        "workflow": _of_workflow(folded, now),
        "tasks": [{"task_id": each, **_of_task(folded, task, now)} for each, task in workflow.tasks.items()],
        "bookings": [_booking(each) for each in found],
        "reconciled": _reconciled(reconcile(workflow, found)),
        "silent_attempts": SILENT,
    }


def _of_workflow(folded: Folded, now: datetime) -> Document:
    workflow, limits = folded.workflow, folded.workflow.contract.limits
    tasks = list(workflow.tasks.values())
    spent = role("supervisor.limits").spent_by(workflow)
    most = role("supervisor.limits").ceiling(limits)
    lines = _amounts({name: getattr(most, name) for name in AMOUNTS} | {"turns": None}, spent, _attempts(tasks))
    started = len([attempt for attempt in _attempts(tasks) if attempt.number])
    offered = len([task for task in tasks if task.status.value == "offered"])
    until = _stopped_at(folded) or workflow.clock_stopped_at or now
    return lines | {
        "attempts": _line(None, started, offered, 0),  # each task has its attempts for itself
        "seconds": _clock(limits.deadline_seconds, workflow.deadline_at, until),
    }


def _of_task(folded: Folded, task: "Task", now: datetime) -> Document:
    workflow = folded.workflow
    limits = workflow.contract.tasks[task.task_id].limits
    most = role("supervisor.limits").ceiling(limits)
    lines = _amounts({name: getattr(most, name) for name in AMOUNTS}, task.spent, task.attempts)
    allowed = role("supervisor.limits").most_attempts(workflow.contract, task)
    until = _ended_at(folded, task) or workflow.clock_stopped_at or now
    return lines | {
        "attempts": _line(allowed, task.attempts_started, int(task.status.value == "offered"), 0),
        "seconds": _clock(limits.deadline_seconds, task.deadline_at, until),
    }


def _attempts(tasks: Iterable["Task"]) -> list["Attempt"]:
    return [attempt for task in tasks for attempt in task.attempts]


def _amounts(most: dict[str, Number | None], spent: "Spent", attempts: Iterable["Attempt"]) -> Document:
    every = list(attempts)
    return {
        name: _line(
            most[name],
            getattr(spent, name),
            sum((getattr(each.reserved, name) or 0 for each in every if each.open), 0),
            sum((getattr(each.held, name) or 0 for each in every if each.held is not None and not each.open), 0),
        )
        for name in AMOUNTS
    }


def _line(limit: Number | None, spent: Number, reserved: Number, held: Number) -> Document:
    left = None if limit is None else limit - spent - reserved - held
    return {"limit": limit, "spent": spent, "reserved": reserved, "held": held, "remaining": left}


def _clock(limit: int | None, deadline_at: datetime | None, until: datetime) -> Document:
    """Elapsed time; what a question to a person took has moved the deadline and does not count."""
    if limit is None:
        return _line(None, 0, 0, 0)
    if deadline_at is None:
        return _line(limit, 0, 0, 0)
    return _line(limit, limit - int((deadline_at - until).total_seconds()), 0, 0)


def _ended_at(folded: Folded, task: "Task") -> datetime | None:
    if task.status.value not in ENDED:
        return None
    changes = (each.transition for each in reversed(folded.entries))
    ended = next((each for each in changes if any(one.task_id == task.task_id for one in each.changes)), None)
    return ended.decided_at if ended is not None else None


def _stopped_at(folded: Folded) -> datetime | None:
    if folded.workflow.open:
        return None
    moves = (each.transition for each in reversed(folded.entries))
    return next(each.decided_at for each in moves if each.kind not in NOTES)


def _booking(booking: Booking) -> Document:
    return {
        "sequence": booking.sequence,
        "at": booking.at,
        "task_id": booking.task_id,
        "round": booking.round,
        "attempt": booking.attempt,
        "attempt_id": booking.attempt_id,
        "worker_id": booking.worker_id,
        "outcome": booking.outcome,
        "usage": msgspec.to_builtins(booking.usage),
        "price": msgspec.to_builtins(booking.price),
        "cost_gbp": booking.cost_gbp,
        "estimated": booking.usage.estimated,
        "late": booking.late,
        "overrun": booking.overrun,
    }


def _reconciled(found: Reconciled) -> Document:
    return {
        "holds": found.holds,
        "bookings": found.bookings,
        "booked": {name: getattr(found.booked, name) for name in AMOUNTS},
        "folded": {name: getattr(found.folded, name) for name in AMOUNTS},
        "mispriced": list(found.mispriced),
    }
