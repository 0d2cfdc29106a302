"""A worker's result: fenced, read, sent to the inspector, or judged at once when it refers to nothing. Pure."""

from datetime import timedelta

from msgspec.structs import replace

from remit.contract.normal import TaskContract
from remit.events.base import Usage
from remit.events.inputs import ErrorClass, Question, Result, ResultBody, ResultStatus
from remit.events.transitions import InspectionRequest, Note, TransitionKind
from remit.redaction import finds

from ..checks.envelope import envelope_faults, foreign_parts, size_fault, stale_parts
from ..checks.outputs import Outputs, read_outputs
from ..checks.questions import questions
from ..checks.secrets import secret_rules
from ..limits import bookable, cost_of, settle
from ..recovery import Failure
from ..state import Attempt, Offered, Running, Task
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
    elif workflow.open and isinstance(task.phase, Offered) and task.phase.attempt_id == event.attempt_id:
        _before_its_claim(unit, event, task, attempt)
    elif not workflow.open or not isinstance(task.phase, Running) or task.phase.attempt_id != event.attempt_id:
        _late(unit, event, attempt)
    else:
        _current(unit, event, task, attempt)


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
        bare = ResultBody(status=body.status, error_class=body.error_class, usage=body.usage)
        failure = Failure(ErrorClass.RETRYABLE_FAILED, "refused")
        end_attempt(unit, task, bare, failure, (too_large,), kind=TransitionKind.RESULT_REFUSED)
        return
    contract = unit.workflow.contract
    outputs = _outputs(contract.tasks[task.task_id], attempt, body)
    faults = [*envelope_faults(contract, task.task_id, body), *outputs.faults]
    if faults:
        failure = Failure(ErrorClass.RETRYABLE_FAILED, "refused")
        end_attempt(unit, task, body, failure, tuple(faults), kind=TransitionKind.RESULT_REFUSED)
        return
    asked = questions(contract.tasks[task.task_id], attempt.inputs, body, outputs.accepted)
    if asked:
        _ask(unit, task, body, event.submission, asked)
    else:
        judge_result(unit, task, body, outputs.accepted, ())


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
    """A malformed envelope counts as a failed attempt; what the runner knows was used is booked."""
    wrong = event.malformed
    usage = wrong.usage if wrong is not None else None
    body = ResultBody(status=ResultStatus.FAILED, error_class=ErrorClass.RETRYABLE_FAILED, usage=usage)
    faults = wrong.faults if wrong is not None else ("the result carries neither a body nor its faults",)
    end_attempt(unit, task, body, Failure(ErrorClass.RETRYABLE_FAILED, "malformed"), faults)


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
