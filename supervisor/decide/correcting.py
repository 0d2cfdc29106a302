"""The one request to mend an envelope in the life of a task; after it what doesn't fit is a failed attempt. Pure."""

from datetime import timedelta

from remit.events.inputs import Answer, ErrorClass, ResultBody
from remit.events.transitions import Correction, TransitionKind

from ..evolve.parts import FIRST
from ..recovery import MALFORMED, Failure
from ..state import Task
from .ending import end_attempt, told
from .unit import Unit


def refuse_form(
    unit: Unit,
    task: Task,
    submission: int,
    body: ResultBody,
    faults: tuple[str, ...],
    *,
    kind: TransitionKind = TransitionKind.RESULT_REFUSED,
    answers: tuple[Answer, ...] = (),
) -> None:
    """Ask the same worker, under the same lease, to mend what it sent; end the attempt if the task was asked before."""
    if not task.corrected and submission == FIRST:
        _ask(unit, task, submission, body, faults)
    else:
        end_attempt(
            unit, task, body, Failure(ErrorClass.RETRYABLE_FAILED, MALFORMED), faults, kind=kind, answers=answers
        )


def _ask(unit: Unit, task: Task, submission: int, body: ResultBody, faults: tuple[str, ...]) -> None:
    until = unit.facts.now + timedelta(seconds=unit.facts.policy.timeouts.correction_seconds)
    correction = Correction(faults=told(faults), submission=submission, until=until, usage=body.usage)
    unit.add(TransitionKind.CORRECTION_REQUESTED, task=task, correction=correction, reason=MALFORMED)
