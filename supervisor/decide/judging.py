"""The judgement of an inspected result: quarantine, refuse, send upstream, or accept. Pure."""

import json

from remit import ids
from remit.contract.amend import amend
from remit.contract.normal import OutputKind
from remit.errors import ContractInvalidError
from remit.events.base import SubjectKind, Usage
from remit.events.inputs import Answer, ErrorClass, QuestionKind, ResultBody, ResultStatus, Verdict
from remit.events.transitions import Accepted, AcceptedOutput, Stop, StopReason, TransitionKind
from remit.subjects import subject_of

from .. import dataflow, graph
from ..checks.evidence import Case, Judgement, judge
from ..limits import settle
from ..recovery import Failure
from ..state import Attempt, Task
from .contract import accepted_contract
from .ending import end_attempt
from .unit import Unit

DOUBTFUL = frozenset({QuestionKind.ARTEFACT, QuestionKind.SECRETS, QuestionKind.OUTPUT})


def judge_result(
    unit: Unit, task: Task, body: ResultBody, outputs: tuple[AcceptedOutput, ...], answers: tuple[Answer, ...]
) -> None:
    """Judge the current attempt's result with all that the inspector found."""
    doubts = [each for each in answers if each.verdict is Verdict.MISMATCH and each.kind in DOUBTFUL]
    if doubts:
        _quarantine(unit, task, body, doubts)
        return
    case = _case(unit, task, body, outputs)
    judgement = judge(case)
    if body.status is ResultStatus.COMPLETED:
        faults = (*_inspection_faults(answers), *judgement.faults, *_budget_faults(case, body.usage))
        faults += _contract_faults(unit, outputs)
        if not faults and not judgement.failing:
            _accept(unit, case, answers)
            return
    else:
        faults = _words(body)
    _end(unit, case, judgement, faults, answers)


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
        author=_author(unit, task, attempt),
    )


def _author(unit: Unit, task: Task, attempt: Attempt) -> str | None:
    """Who made the revision that the task was given."""
    subject = subject_of(attempt.inputs)
    if subject.kind is not SubjectKind.GIT:
        return None
    before = graph.upstream(unit.workflow.contract, task.task_id)
    makers = [each for each in unit.workflow.tasks.values() if each.task_id in before and each.subject == subject]
    return next((each.author for each in makers if any(output.subject == subject for output in each.outputs)), None)


def _inspection_faults(answers: tuple[Answer, ...]) -> tuple[str, ...]:
    return tuple(_describe(each) for each in answers if each.verdict is not Verdict.MATCH)


def _describe(answer: Answer) -> str:
    found = f": {', '.join(answer.found[:5])}" if answer.found else ""
    return f"inspection {answer.kind.value}: {answer.verdict.value}{found}"


def _budget_faults(case: Case, usage: Usage | None) -> tuple[str, ...]:
    booking = settle(case.attempt, usage)
    return ("budget: the attempt used more than was reserved for it",) if booking.overrun else ()


def _words(body: ResultBody) -> tuple[str, ...]:
    reason = f": {body.blocked_reason.value}" if body.blocked_reason else ""
    return (f"the worker says {body.status.value}{reason}",)


def _quarantine(unit: Unit, task: Task, body: ResultBody, doubts: list[Answer]) -> None:
    attempt = task.current()
    if attempt is None:
        raise TypeError(f"task {task.task_id} has no attempt to quarantine")
    detail = "; ".join(_describe(each) for each in doubts)
    unit.add(
        TransitionKind.WORKFLOW_QUARANTINED,
        task=task,
        reason="inspection_mismatch",
        settlement=settle(attempt, body.usage),
        stop=Stop(stop_reason=StopReason.UNTRUSTED_STATE, owner=unit.workflow.contract.owner, detail=detail),
    )


def _end(unit: Unit, case: Case, judgement: Judgement, faults: tuple[str, ...], answers: tuple[Answer, ...]) -> None:
    claimed_done = case.body.status is ResultStatus.COMPLETED
    shown = faults or tuple(f"failing case {each}" for e in judgement.failing for each in e.failed_cases)
    end_attempt(
        unit,
        case.task,
        case.body,
        _failure(case.body, reproducible=bool(judgement.failing)),
        shown,
        kind=TransitionKind.RESULT_REFUSED if claimed_done else TransitionKind.ATTEMPT_FAILED,
        failing=judgement.failing,
        answers=answers,
    )


def _failure(body: ResultBody, *, reproducible: bool) -> Failure:
    if body.status is ResultStatus.COMPLETED:
        return Failure(ErrorClass.RETRYABLE_FAILED, "refused", reproducible)
    blocked = f"blocked:{body.blocked_reason.value}" if body.blocked_reason else body.status.value
    return Failure(body.error_class, blocked, reproducible, body.retry_after_seconds or 0)


def _accept(unit: Unit, case: Case, answers: tuple[Answer, ...]) -> None:
    task = case.task
    accepted = Accepted(
        outputs=case.outputs,
        evidence=case.body.evidence,
        answers=answers,
        subject=case.subject,
        first_pass=task.round == 1 and task.attempts_started == 1,
    )
    booking = settle(case.attempt, case.body.usage)
    unit.add(TransitionKind.RESULT_ACCEPTED, task=task, accepted=accepted, settlement=booking)
    for draft in _drafts(case.outputs):
        _amend(unit, case, draft)


def _drafts(outputs: tuple[AcceptedOutput, ...]) -> list[AcceptedOutput]:
    return [each for each in outputs if each.kind == OutputKind.CONTRACT.value]


def _contract_faults(unit: Unit, outputs: tuple[AcceptedOutput, ...]) -> tuple[str, ...]:
    """What a drafted contract widens or breaks: the gate runs on it before the result is accepted."""
    faults: list[str] = []
    for draft in _drafts(outputs):
        try:
            amend(unit.workflow.contract, json.loads(draft.value or "null"), unit.facts.policy, now=unit.facts.now)
        except ContractInvalidError as error:
            faults += [f"output.{draft.name}: {fault}" for fault in error.faults]
    return tuple(faults)


def _amend(unit: Unit, case: Case, draft: AcceptedOutput) -> None:
    workflow = unit.workflow
    document = json.loads(draft.value or "null")
    amended = amend(workflow.contract, document, unit.facts.policy, now=unit.facts.now)
    record = accepted_contract(
        amended,
        version=workflow.contract_version + 1,
        content_digest=ids.digest(document),
        submitter=workflow.submitter,
        submitted_at=workflow.submitted_at,
        proposed_by=case.attempt.worker_id,
        approved_by="rule:only_tightens",
    )
    unit.add(TransitionKind.CONTRACT_AMENDED, task_id=case.task.task_id, contract=record)
