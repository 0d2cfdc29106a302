"""The small steps that the folds of several transitions share. Pure; only this package imports it."""

from msgspec.structs import replace

from remit.events.transitions import Transition

from ..limits import spend
from ..state import Attempt, AwaitingReview, Task, Workflow

FIRST = 1  # number of an attempt's first submission; the second one mends it


def with_tasks(workflow: Workflow, *tasks: Task) -> Workflow:
    return replace(workflow, tasks=workflow.tasks | {task.task_id: task for task in tasks})


def task_of(workflow: Workflow, transition: Transition) -> Task:
    return workflow.tasks[transition.task_id or ""]


def with_attempt(task: Task, attempt: Attempt) -> Task:
    others = tuple(attempt if each.attempt_id == attempt.attempt_id else each for each in task.attempts)
    return replace(task, attempts=others)


def without_offer(task: Task, transition: Transition) -> Task:
    """The task without an offer that nobody claimed: it used nothing and reserves nothing any more."""
    kept = tuple(each for each in task.attempts if each.number or each.attempt_id != transition.attempt_id)
    return replace(task, attempts=kept)


def with_next(submissions: tuple[int, ...]) -> tuple[int, ...]:
    """The submissions that were read, and one more: only the next one is ever taken."""
    return (*submissions, len(submissions) + FIRST)


def _read(task: Task, attempt: Attempt) -> tuple[int, ...]:
    """What was read once the attempt is answered; what was sent to the inspector was noted then."""
    return attempt.submissions if isinstance(task.phase, AwaitingReview) else with_next(attempt.submissions)


def settled(task: Task, transition: Transition, outcome: str, *, answered: bool = False) -> Task:
    """The task with the attempt ended and booked; `answered` by a result, so that the same one is a repeat."""
    booking = transition.settlement
    attempt = task.attempt(transition.attempt_id) if transition.attempt_id else None
    if attempt is None or booking is None:
        return task
    ended = replace(
        attempt,
        outcome=outcome,
        submissions=_read(task, attempt) if answered else attempt.submissions,
        booked=booking.usage,
        booked_gbp=booking.cost_gbp,
        held=booking.held if booking.held_until else None,
        held_until=booking.held_until,
    )
    return replace(with_attempt(task, ended), spent=spend(task.spent, booking.usage, booking.cost_gbp))
