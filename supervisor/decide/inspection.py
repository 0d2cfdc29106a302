"""What the inspector found: asked again when it could not look, judged otherwise. Pure."""

from datetime import timedelta

from msgspec.structs import replace

from remit.events.inputs import Answer, Inspection, QuestionKind, ResultBody, ResultStatus, Verdict
from remit.events.transitions import InspectionRequest, Note, Stop, StopReason, TransitionKind

from ..checks.outputs import Outputs, read_outputs
from ..checks.questions import questions
from ..limits import settle
from ..recovery import back_off
from ..state import AwaitingReview, Task
from .correcting import refuse_form
from .judging import doubts, judge_result
from .unit import Unit

MAX_TRIES = 5
UNREACHABLE = "unreachable"  # reason of a request that is not to be asked before its time
UNSEEN = frozenset({Verdict.UNREACHABLE, Verdict.TIMED_OUT, Verdict.UNKNOWN})


def on_inspection(unit: Unit, event: Inspection) -> None:
    """Judge the result that was asked about; an answer to another question changes nothing.

    An answer may come after its questions were asked again: a whole one is as good as the newest.
    """
    task = unit.workflow.tasks.get(event.task_id)
    if task is None or not isinstance(task.phase, AwaitingReview) or not _awaited(task.phase, event):
        unit.add(
            TransitionKind.STALE,
            task_id=event.task_id,
            attempt_id=event.attempt_id,
            reason="inspection",
            note=Note(event_id=event.event_id, differs=("request_id: nobody waits for this answer",)),
        )
    elif _unseen(task.phase, event.answers):
        _wait(unit, task, task.phase)
    else:
        _judge(unit, task, task.phase, event.answers)


def _awaited(phase: AwaitingReview, event: Inspection) -> bool:
    earlier = event.request_id in phase.asked and not _unseen(phase, event.answers)
    return event.request_id == phase.request_id or earlier


def _unseen(phase: AwaitingReview, answers: tuple[Answer, ...]) -> bool:
    answered = {each.question_id for each in answers if each.verdict not in UNSEEN}
    return any(question.id not in answered for question in phase.questions)


def _wait(unit: Unit, task: Task, phase: AwaitingReview) -> None:
    """Nobody could look: the same questions lie until a back-off is over, and are asked again then."""
    wait = back_off(phase.tries, unit.facts.policy.timeouts, unit.cause.event_id)
    _again(unit, task, phase, wait, reason=UNREACHABLE)


def ask_again(unit: Unit, task: Task, phase: AwaitingReview) -> None:
    """Ask once more; after the last try the owner has it. No attempt is counted."""
    wait = timedelta(seconds=unit.facts.policy.timeouts.inspection_seconds)
    _again(unit, task, replace(phase, tries=phase.tries + 1), wait, reason="asked_again")


def _again(unit: Unit, task: Task, phase: AwaitingReview, wait: timedelta, *, reason: str) -> None:
    if phase.tries > MAX_TRIES or (phase.tries == MAX_TRIES and reason == UNREACHABLE):
        _unreachable(unit, task, phase)
        return
    request = InspectionRequest(
        result=phase.result,
        submission=phase.submission,
        questions=phase.questions,
        ask_until=unit.facts.now + wait,
        tries=phase.tries,
    )
    unit.add(TransitionKind.INSPECTION_RETRIED, task=task, request=request, reason=reason)


def _unreachable(unit: Unit, task: Task, phase: AwaitingReview) -> None:
    attempt = task.current()
    unit.add(
        TransitionKind.TASK_ESCALATED,
        task=task,
        reason="inspection_unreachable",
        settlement=settle(attempt, phase.result.usage) if attempt else None,
        stop=Stop(stop_reason=StopReason.UNTRUSTED_STATE, owner=unit.workflow.contract.owner),
    )


def _judge(unit: Unit, task: Task, phase: AwaitingReview, answers: tuple[Answer, ...]) -> None:
    body = _with_stored_output(phase.result, answers)
    if doubts(answers) or body.artefact_ref is not None:
        judge_result(unit, task, phase.result, (), answers)  # in doubt, or its stored output can't be read
        return
    outputs = _outputs(unit, task, body)
    if outputs.faults:
        refuse_form(unit, task, phase.submission, body, outputs.faults, answers=answers)
        return
    if phase.result.artefact_ref is not None:
        _ask_about(unit, task, phase, body, outputs)
    else:
        judge_result(unit, task, body, outputs.accepted, answers)


def _ask_about(unit: Unit, task: Task, phase: AwaitingReview, body: ResultBody, outputs: Outputs) -> None:
    """Now that the stored output is read, ask about all that it names."""
    attempt = task.current()
    if attempt is None:
        return
    asked = questions(unit.workflow.contract.tasks[task.task_id], attempt.inputs, body, outputs.accepted)
    if not asked:
        judge_result(unit, task, body, outputs.accepted, ())
        return
    request = InspectionRequest(
        result=body,
        submission=phase.submission,
        questions=asked,
        ask_until=unit.facts.now + timedelta(seconds=unit.facts.policy.timeouts.inspection_seconds),
        tries=1,
    )
    unit.add(TransitionKind.INSPECTION_REQUESTED, task=task, request=request)


def _with_stored_output(body: ResultBody, answers: tuple[Answer, ...]) -> ResultBody:
    """An output that was stored as an object is read as if it had come inline."""
    content = next((each.content for each in answers if each.kind is QuestionKind.OUTPUT and each.content), None)
    return body if content is None else replace(body, output=content, artefact_ref=None)


def _outputs(unit: Unit, task: Task, body: ResultBody) -> Outputs:
    attempt = task.current()
    if attempt is None or body.output is None or body.status is not ResultStatus.COMPLETED:
        return Outputs((), ())
    return read_outputs(unit.workflow.contract.tasks[task.task_id], attempt.inputs, body.output)
