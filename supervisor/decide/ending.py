"""The end of an attempt without acceptance: booked, and what follows by the recovery table. Pure."""

from remit.contract.normal import Workflow as Contract
from remit.events.base import Evidence
from remit.events.inputs import Answer, ErrorClass, ResultBody
from remit.events.transitions import Ending, Recovery, Settlement, TransitionKind

from .. import graph
from ..evolve import SUPERSEDED
from ..limits import most_attempts, settle
from ..recovery import DISAGREED, Counts, Failure, Verdict, verdict
from ..state import Attempt, AwaitingReview, Correcting, Offered, Running, Task
from .booking import booking
from .unit import Unit

MOST_FAULTS, LONGEST_FAULT = 100, 1000


def end_attempt(
    unit: Unit,
    task: Task,
    body: ResultBody,
    failure: Failure,
    faults: tuple[str, ...],
    *,
    kind: TransitionKind = TransitionKind.ATTEMPT_FAILED,
    failing: tuple[Evidence, ...] = (),
    answers: tuple[Answer, ...] = (),
) -> None:
    """End the current attempt on a result that is not accepted; a result without usage books its reservation."""
    follows = verdict(
        failure,
        counts(unit.workflow.contract, unit.workflow.tasks, task),
        unit.facts.policy.timeouts,
        now=unit.facts.now,
        cause=unit.cause.event_id,
    )
    attempt = _attempt(task)
    ending = _ending(
        unit, attempt, failure, follows, faults=faults, failing=failing, evidence=body.evidence, answers=answers
    )
    close(unit, task, kind, ending, settle(attempt, body.usage))


def lose_attempt(unit: Unit, task: Task, outcome: str) -> None:
    """End the current attempt because its lease is gone; the unreported rest stays held for a while."""
    failure = Failure(ErrorClass.RETRYABLE_FAILED, outcome)
    follows = verdict(
        failure,
        counts(unit.workflow.contract, unit.workflow.tasks, task),
        unit.facts.policy.timeouts,
        now=unit.facts.now,
        cause=unit.cause.event_id,
    )
    ending = _ending(unit, _attempt(task), failure, follows)
    close(unit, task, TransitionKind.LEASE_EXPIRED, ending, booking(unit, task))


def close(unit: Unit, task: Task, kind: TransitionKind, ending: Ending, booked: Settlement | None) -> None:
    """Write the ending; a rework first ends what still runs on the old revision."""
    if ending.recovery is Recovery.REWORK and ending.rework_task:
        sent_back = (ending.rework_task, *graph.downstream(unit.workflow.contract, ending.rework_task))
        for task_id in sent_back:
            if task_id != task.task_id:
                supersede(unit, unit.task(task_id), Recovery.NONE)
    unit.add(kind, task=unit.task(task.task_id), ending=ending, settlement=booked, reason=ending.outcome)


def supersede(unit: Unit, task: Task, recovery: Recovery) -> None:
    """End the task's open attempt, if it has one: what it works on is about to be replaced, no failure counts."""
    if isinstance(task.phase, Offered):
        unit.add(TransitionKind.OFFER_EXPIRED, task=task, reason=SUPERSEDED)
    elif task.current() is not None:
        ending = Ending(outcome=SUPERSEDED, error_class=ErrorClass.UNKNOWN, faults=(), recovery=recovery)
        booked = booking(unit, task)
        unit.add(TransitionKind.ATTEMPT_FAILED, task=task, ending=ending, settlement=booked, reason=SUPERSEDED)


def counts(contract: Contract, tasks: dict[str, Task], task: Task) -> Counts:
    """What was used up of the task's attempts, and of the reworks of the task that mends its findings."""
    wanted = contract.tasks[task.task_id]
    target = wanted.rework if wanted.rework in tasks and wanted.rework != task.task_id else None
    return Counts(
        attempts=task.attempts_started,
        max_attempts=most_attempts(contract, task),
        rework_task=target,
        reworks=tasks[target].reworks if target else 0,
        max_reworks=_most_reworks(contract, tasks[target]) if target else None,
        disagreements=sum(each.outcome == DISAGREED and each.round == task.round for each in task.attempts),
    )


def _most_reworks(contract: Contract, task: Task) -> int | None:
    most = contract.tasks[task.task_id].limits.max_reworks
    return None if most is None else most + task.granted_reworks


def told(faults: tuple[str, ...]) -> tuple[str, ...]:
    """As many and as much of them as people read, so that any number of failing cases fits into a record."""
    more = (f"and {len(faults) - MOST_FAULTS} more",) if len(faults) > MOST_FAULTS else ()
    return (*(each[:LONGEST_FAULT] for each in faults[:MOST_FAULTS]), *more)


def _attempt(task: Task) -> Attempt:
    attempt = task.current()
    if attempt is None or not isinstance(task.phase, Running | AwaitingReview | Correcting):
        raise TypeError(f"task {task.task_id} has no attempt under way")
    return attempt


def _ending(
    unit: Unit,
    attempt: Attempt,
    failure: Failure,
    follows: Verdict,
    *,
    faults: tuple[str, ...] = (),
    failing: tuple[Evidence, ...] = (),
    evidence: tuple[Evidence, ...] = (),
    answers: tuple[Answer, ...] = (),
) -> Ending:
    return Ending(
        outcome=failure.outcome,
        error_class=failure.error_class,
        faults=told(faults),
        recovery=follows.recovery,
        recovery_reason=follows.reason,
        not_before=follows.not_before,
        rework_task=follows.rework_task,
        failing=failing,
        evidence=tuple(each for each in evidence if each not in failing),
        answers=answers,
        owner=unit.workflow.contract.owner if follows.recovery is Recovery.ESCALATE else None,
        checkpoint=unit.facts.saved.get(attempt.attempt_id),
    )
