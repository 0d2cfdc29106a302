"""What an attempt is booked with when something other than its own result ends it. Pure."""

from datetime import datetime, timedelta

from remit.events.transitions import Settlement

from ..limits import settle
from ..state import AwaitingReview, Correcting, Task
from .unit import Unit


def booking(unit: Unit, task: Task) -> Settlement | None:
    """What the task's attempt under way used: by its result under review, else by what its renewals told.

    A worker that is at work may go on using until it learns of the end, so what it did not report stays held. An
    offer that nobody claimed used nothing and is not booked.
    """
    attempt = task.current()
    if attempt is None or attempt.number == 0:
        return None
    if isinstance(task.phase, AwaitingReview):
        return settle(attempt, task.phase.result.usage)
    if isinstance(task.phase, Correcting):
        return settle(attempt, task.phase.usage, held_until=held_until(unit))
    return settle(attempt, unit.facts.reported.get(attempt.attempt_id), held_until=held_until(unit))


def held_until(unit: Unit) -> datetime:
    """Until when the rest of a reservation stays held once its lease is gone."""
    return unit.facts.now + timedelta(seconds=unit.facts.policy.timeouts.grant_grace_seconds)
