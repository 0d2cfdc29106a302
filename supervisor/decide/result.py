"""A worker's result: fenced, read, sent to the inspector, or judged at once when it refers to nothing. Pure."""

from datetime import timedelta

from msgspec.structs import replace

from remit.contract.normal import TaskContract
from remit.events.base import Usage
from remit.events.inputs import ErrorClass, Question, Result, ResultBody, ResultStatus
from remit.events.transitions import InspectionRequest, Note, TransitionKind
from remit.redaction import finds

from ..checks.envelope import envelope_faults, evidence_fault, foreign_parts, size_fault, stale_parts
from ..checks.outputs import Outputs, read_outputs
from ..checks.questions import questions
from ..checks.secrets import secret_rules
from ..evolve.parts import FIRST
from ..limits import bookable, cost_of, settle
from ..recovery import Failure
from ..state import Attempt, Correcting, Offered, Running, Task
from .correcting import refuse_form
from .ending import end_attempt
from .judging import judge_result, quarantine_attempt
from .lease import begin_attempt
from .unit import Unit


def on_result(unit: Unit, event: Result) -> None:
    """Check lease and token, then the result key, then the envelope; the rest after inspection."""
    workflow = unit.workflow
    task = workflow.tasks.get(event.task_id)
    attempt = task.attempt(event.attempt_id) if task else None
    if task is None or attempt is None:
        _note(unit, event, TransitionKind.STALE, ("attempt_id: not an attempt of this task",))
    elif foreign := foreign_parts(attempt, event):
        _note(unit, event, TransitionKind.STALE, foreign)
    elif event.submission in attempt.submissions:
        _repeated(unit, event)
    elif not _asked_for(attempt, event.submission):
        _note(unit, event, TransitionKind.STALE, ("submission: not the one that is awaited",))
    elif workflow.open and isinstance(task.phase, Offered) and task.phase.attempt_id == event.attempt_id:
        _before_its_claim(unit, event, task, attempt)
    elif not workflow.open or not _awaited(task, event):
        _late(unit, event, attempt)
    else:
        _current(unit, event, task, attempt)


def _asked_for(attempt: Attempt, submission: int) -> bool:
    """The first one always; the second one only where this attempt was asked to mend it; no other, ever."""
    mended = attempt.corrected and attempt.submissions == (FIRST,)
    return submission == (FIRST + 1 if mended else FIRST)


def _awaited(task: Task, event: Result) -> bool:
    at_work = isinstance(task.phase, Running | Correcting)
    return at_work and task.phase.attempt_id == event.attempt_id  # type: ignore[union-attr]  # judged just before


def _before_its_claim(unit: Unit, event: Result, task: Task, attempt: Attempt) -> None:
    """A result that was read before the claim that its worker wrote first, on another topic: it tells of both.

    The offer's own end is judged only when every input was read, so while it is open the claim was in time.
    """
    body = event.result
    if body is not None and (differs := stale_parts(unit.workflow.contract, task.task_id, attempt, event, body)):
        _note(unit, event, TransitionKind.STALE, differs)
        return
    begin_attempt(unit, task, attempt)
    begun = unit.task(task.task_id)
    _current(unit, event, begun, begun.current() or attempt)


def _current(unit: Unit, event: Result, task: Task, attempt: Attempt) -> None:
    if rules := secret_rules(event):
        usage = _usage(event)
        quarantine_attempt(
            unit, task, usage, "secret_found", f"the result holds what looks like a secret: {', '.join(rules)}"
        )
        return
    body = event.result
    if body is None:
        _malformed(unit, event, task)
        return
    differs = stale_parts(unit.workflow.contract, task.task_id, attempt, event, body)
    if differs:
        _note(unit, event, TransitionKind.STALE, differs)
        return
    _read(unit, event, task, attempt, body)


def _read(unit: Unit, event: Result, task: Task, attempt: Attempt, body: ResultBody) -> None:
    if (too_large := size_fault(body)) is not None:
        _refuse(unit, task, ResultBody(status=body.status, error_class=body.error_class, usage=body.usage), too_large)
        return
    contract = unit.workflow.contract
    outputs = _outputs(contract.tasks[task.task_id], attempt, body)
    if faults := [*envelope_faults(body), *outputs.faults]:
        refuse_form(unit, task, event.submission, body, tuple(faults))
        return
    if (unproven := evidence_fault(contract, task.task_id, body)) is not None:
        _refuse(unit, task, body, unproven)
        return
    asked = questions(contract.tasks[task.task_id], attempt.inputs, body, outputs.accepted)
    if asked:
        _ask(unit, task, body, event.submission, asked)
    else:
        judge_result(unit, task, body, outputs.accepted, ())


def _refuse(unit: Unit, task: Task, body: ResultBody, fault: str) -> None:
    failure = Failure(ErrorClass.RETRYABLE_FAILED, "refused")
    end_attempt(unit, task, body, failure, (fault,), kind=TransitionKind.RESULT_REFUSED)


def _outputs(task: TaskContract, attempt: Attempt, body: ResultBody) -> Outputs:
    if body.output is None or body.status is not ResultStatus.COMPLETED:
        return Outputs((), ())
    return read_outputs(task, attempt.inputs, body.output)


def _ask(unit: Unit, task: Task, body: ResultBody, submission: int, asked: tuple[Question, ...]) -> None:
    request = InspectionRequest(
        result=body,
        submission=submission,
        questions=asked,
        ask_until=unit.facts.now + timedelta(seconds=unit.facts.policy.timeouts.inspection_seconds),
        tries=1,
    )
    unit.add(TransitionKind.INSPECTION_REQUESTED, task=task, request=request)


def _malformed(unit: Unit, event: Result, task: Task) -> None:
    """A malformed envelope may be mended once; else it is a failed attempt, and what the runner knows is booked."""
    wrong = event.malformed
    usage = wrong.usage if wrong is not None else None
    body = ResultBody(status=ResultStatus.FAILED, error_class=ErrorClass.RETRYABLE_FAILED, usage=usage)
    faults = wrong.faults if wrong is not None else ("the result carries neither a body nor its faults",)
    refuse_form(unit, task, event.submission, body, faults, kind=TransitionKind.ATTEMPT_FAILED)


def _repeated(unit: Unit, event: Result) -> None:
    """A result key seen before changes nothing."""
    _note(unit, event, TransitionKind.DUPLICATE, (f"submission {event.submission} of this attempt was read before",))


def _late(unit: Unit, event: Result, attempt: Attempt) -> None:
    """A result of an attempt that ended: its usage is booked, nothing else changes."""
    usage = _usage(event)
    differs = (f"attempt: ended as {attempt.outcome}" if attempt.outcome else "attempt: not running",)
    if attempt.booked is None or usage is None or not bookable(usage, attempt.price):
        _note(unit, event, TransitionKind.STALE, differs)
        return
    difference = cost_of(usage, attempt.price) - attempt.booked_gbp
    overrun = settle(attempt, usage).overrun
    note = Note(event_id=event.event_id, differs=differs, usage=usage, cost_gbp=difference, overrun=overrun)
    _note(unit, event, TransitionKind.LATE_USAGE, differs, note)


def _usage(event: Result) -> Usage | None:
    """What was used; without the model's name if that is a secret."""
    said = event.result or event.malformed
    usage = said.usage if said is not None else None
    return replace(usage, model=None) if usage is not None and usage.model and finds(usage.model) else usage


def _note(unit: Unit, event: Result, kind: TransitionKind, differs: tuple[str, ...], note: Note | None = None) -> None:
    unit.add(
        kind,
        task_id=event.task_id,
        attempt_id=event.attempt_id,
        worker_id=event.worker_id,
        fencing_token=event.fencing_token,
        reason="result",
        note=note or Note(event_id=event.event_id, differs=differs),
    )
