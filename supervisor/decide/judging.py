"""The judgement of an inspected result: quarantine, refuse, send upstream, or accept. Pure."""

from remit.contract.normal import OutputKind
from remit.errors import ContractInvalidError
from remit.events.base import Evidence, Usage
from remit.events.inputs import Answer, ErrorClass, QuestionKind, ResultBody, ResultStatus, Verdict
from remit.events.transitions import Accepted, AcceptedOutput, Settlement, Stop, StopReason, TransitionKind

from .. import dataflow
from ..checks.evidence import Case, constraint_faults, is_severe, judge
from ..limits import settle
from ..recovery import DISAGREED, Failure
from ..state import Task
from .drafting import adopt, drafted
from .ending import end_attempt
from .spawning import judge_subtasks, spawn
from .stopping import stop_attempts
from .unit import Unit

DOUBTFUL = frozenset({QuestionKind.ARTEFACT, QuestionKind.SECRETS})


def doubts(answers: tuple[Answer, ...]) -> list[Answer]:
    """The answers that leave the state in doubt: bytes that are not what was said, or that hold a secret."""
    return [each for each in answers if each.verdict is Verdict.MISMATCH and each.kind in DOUBTFUL]


def judge_result(
    unit: Unit, task: Task, body: ResultBody, outputs: tuple[AcceptedOutput, ...], answers: tuple[Answer, ...]
) -> None:
    """Judge the current attempt's result with all that the inspector found."""
    if found := doubts(answers):
        detail = "; ".join(_describe(each) for each in found)
        quarantine_attempt(unit, task, body.usage, "inspection_mismatch", detail)
        return
    case = _case(unit, task, body, outputs)
    judgement = judge(case)
    unverified = _inspection_faults(answers)
    # What could not be verified shows no defect that anyone can reproduce.
    failing = () if unverified else judgement.failing
    if body.status is ResultStatus.COMPLETED:
        faults = (*unverified, *_unread(body), *constraint_faults(case), *judgement.faults)
        booking = settle(case.attempt, body.usage)
        faults += _budget_faults(booking)
        faults += _contract_faults(unit, case)
        if not faults and not failing:
            _accept(unit, case, booking, answers)
            return
    else:
        faults = (*_words(body), *unverified)
    _end(unit, case, failing, faults, answers)


def _unread(body: ResultBody) -> tuple[str, ...]:
    return ("output: the stored object can't be read",) if body.output is None else ()


def _case(unit: Unit, task: Task, body: ResultBody, outputs: tuple[AcceptedOutput, ...]) -> Case:
    attempt = task.current()
    if attempt is None:
        raise TypeError(f"task {task.task_id} has no attempt to judge")
    subject = dataflow.work_subject(attempt.inputs, outputs)
    return Case(
        contract=unit.workflow.contract,
        task=task,
        attempt=attempt,
        body=body,
        outputs=outputs,
        subject=subject,
        authors=dataflow.authors(unit.workflow, task.task_id),
    )


def _inspection_faults(answers: tuple[Answer, ...]) -> tuple[str, ...]:
    return tuple(_describe(each) for each in answers if each.verdict is not Verdict.MATCH)


def _describe(answer: Answer) -> str:
    found = f": {', '.join(answer.found[:5])}" if answer.found else ""
    return f"inspection {answer.kind.value}: {answer.verdict.value}{found}"


def _budget_faults(booking: Settlement) -> tuple[str, ...]:
    return ("budget: the attempt used more than was reserved for it",) if booking.overrun else ()


def _words(body: ResultBody) -> tuple[str, ...]:
    reason = f": {body.blocked_reason.value}" if body.blocked_reason else ""
    return (f"the worker says {body.status.value}{reason}",)


def quarantine_attempt(unit: Unit, task: Task, usage: Usage | None, reason: str, detail: str) -> None:
    """Quarantine the workflow for what this attempt handed in: every attempt is stopped and booked."""
    attempt = task.current()
    if attempt is None:
        raise TypeError(f"task {task.task_id} has no attempt to quarantine")
    stop = Stop(stop_reason=StopReason.UNTRUSTED_STATE, owner=unit.workflow.contract.owner, detail=detail)
    stop_attempts(unit, stop, but=task.task_id)
    unit.add(
        TransitionKind.WORKFLOW_QUARANTINED,
        task=task,
        reason=reason,
        settlement=settle(attempt, usage),
        stop=stop,
    )


def _end(
    unit: Unit, case: Case, failing: tuple[Evidence, ...], faults: tuple[str, ...], answers: tuple[Answer, ...]
) -> None:
    claimed_done = case.body.status is ResultStatus.COMPLETED
    shown = faults or tuple(f"failing case {each}" for e in failing for each in e.failed_cases)
    end_attempt(
        unit,
        case.task,
        case.body,
        _failure(case, failing),
        shown,
        kind=TransitionKind.RESULT_REFUSED if claimed_done else TransitionKind.ATTEMPT_FAILED,
        failing=failing,
        answers=answers,
    )


def _failure(case: Case, failing: tuple[Evidence, ...]) -> Failure:
    body, reproducible, severe = case.body, bool(failing), any(map(is_severe, failing))
    if reproducible and case.contract.tasks[case.task.task_id].verifies is not None:
        return Failure(ErrorClass.RETRYABLE_FAILED, DISAGREED)
    if body.status is ResultStatus.COMPLETED:
        return Failure(ErrorClass.RETRYABLE_FAILED, "refused", reproducible, severe=severe)
    blocked = f"blocked:{body.blocked_reason.value}" if body.blocked_reason else body.status.value
    return Failure(body.error_class, blocked, reproducible, body.retry_after_seconds or 0, severe)


def _accept(unit: Unit, case: Case, booking: Settlement, answers: tuple[Answer, ...]) -> None:
    task, drafts = case.task, _drafts(case.outputs)
    spawned = judge_subtasks(unit, case, drafted(unit, drafts, task.task_id))
    accepted = Accepted(
        outputs=case.outputs,
        evidence=case.body.evidence,
        answers=answers,
        subject=case.subject,
        first_pass=task.round == 1 and task.attempts_started == 1,
        subtasks=spawned.taken,
        refused_subtasks=spawned.refused,
    )
    unit.add(TransitionKind.RESULT_ACCEPTED, task=task, accepted=accepted, settlement=booking)
    adopt(unit, drafts, task.task_id, case.attempt.worker_id)
    spawn(unit, spawned, task.task_id, case.attempt.worker_id)


def _drafts(outputs: tuple[AcceptedOutput, ...]) -> list[AcceptedOutput]:
    return [each for each in outputs if each.kind == OutputKind.CONTRACT.value]


def _contract_faults(unit: Unit, case: Case) -> tuple[str, ...]:
    """What a drafted contract widens or breaks: the gate runs on it before the result is accepted."""
    try:
        drafted(unit, _drafts(case.outputs), case.task.task_id)
    except ContractInvalidError as error:
        return tuple(f"output: {fault}" for fault in error.faults)
    return ()
