"""What a workflow comes to after each step: accepted, stopped, or still under way. Acceptance is judged first. Pure."""

from typing import NamedTuple

from remit.contract.normal import Check, Requirement
from remit.events.base import Subject
from remit.events.transitions import RequirementHeld, Stop, StopReason, TransitionKind, WorkflowGate

from .. import dataflow, limits
from ..evolve.endings import NOT_HELD
from ..state import (
    AwaitingReview,
    BackingOff,
    Completed,
    Correcting,
    Offered,
    Queued,
    Running,
    Stopped,
    Task,
    Workflow,
    phases,
)
from .stopping import ENDED, stop_workflow
from .unit import Unit

TO_BE_OFFERED = frozenset({Queued, BackingOff})
UNDER_WAY = frozenset({Offered, Running, AwaitingReview, Correcting})


def conclude(unit: Unit) -> None:
    """Accept if everything holds; stop if nothing can go on."""
    if phases(unit.workflow) & TO_BE_OFFERED:
        _escalate_spent(unit)
    found = phases(unit.workflow)
    if found <= {Completed}:
        _pass_gate(unit)
    elif found <= set(ENDED):
        stop_workflow(unit, Stop(stop_reason=_first_stop(unit.workflow), owner=unit.workflow.contract.owner))
    elif Queued in found and not found & UNDER_WAY:
        _stop_if_spent(unit)


def _escalate_spent(unit: Unit) -> None:
    """A task that may start no further attempt is its owner's: an amendment may have lowered the limit under it."""
    workflow = unit.workflow
    for task in workflow.tasks.values():
        most = limits.most_attempts(workflow.contract, task)
        if isinstance(task.phase, Queued | BackingOff) and most is not None and task.attempts_started >= most:
            stop = Stop(stop_reason=StopReason.ATTEMPTS_EXHAUSTED, owner=workflow.contract.owner)
            unit.add(TransitionKind.TASK_ESCALATED, task=task, reason=StopReason.ATTEMPTS_EXHAUSTED.value, stop=stop)


def _pass_gate(unit: Unit) -> None:
    workflow = unit.workflow
    held = tuple(requirement_held(workflow, each) for each in workflow.contract.requirements)
    missing = [each for each in held if each.mandatory and not each.held]
    if missing:
        _escalate_unheld(unit, missing)
        return
    gate = WorkflowGate(
        development_acceptance="approved",
        deployment_authorisation="pending" if workflow.contract.effects else "not_required",
        final_subjects=dataflow.final_subjects(workflow),
        requirements=held,
        authoriser=_authoriser(unit) if workflow.contract.effects else None,
    )
    stop = Stop(stop_reason=StopReason.ACCEPTED)
    unit.add(TransitionKind.WORKFLOW_ACCEPTED, reason=StopReason.ACCEPTED.value, gate=gate, stop=stop)


def _authoriser(unit: Unit) -> str:
    people = unit.facts.policy.roles.get("deployment", [])
    return ", ".join(people) or unit.workflow.contract.owner


def _escalate_unheld(unit: Unit, missing: list[RequirementHeld]) -> None:
    """All tasks were accepted, yet a requirement does not hold at the final subject: its owner must look."""
    wanting = {each.requirement_id for each in missing}
    for task_id, details in _unheld(unit.workflow, wanting).items():
        owner = unit.workflow.contract.owner
        stop = Stop(stop_reason=StopReason.UNTRUSTED_STATE, owner=owner, detail="; ".join(details))
        unit.add(TransitionKind.TASK_ESCALATED, task=unit.task(task_id), reason=NOT_HELD, stop=stop)


def _unheld(workflow: Workflow, wanting: set[str]) -> dict[str, list[str]]:
    """By task each check that does not hold, with the subject it was made on and the one it needs."""
    found: dict[str, list[str]] = {}
    for requirement in workflow.contract.requirements:
        for check in requirement.checks if requirement.id in wanting else ():
            if not _check_held(workflow, check):
                found.setdefault(check.task, []).append(_shortfall(workflow, requirement, check))
    return found


def _shortfall(workflow: Workflow, requirement: Requirement, check: Check) -> str:
    now = standing(workflow, check)
    on, needs = ", ".join(now.made_on) or "nothing", ", ".join(now.must_hold_at) or "any subject"
    return f"{requirement.id}/{check.id}: made on {on}, must hold at {needs}"


class Standing(NamedTuple):
    """A check: the revisions or digests that its evidence speaks of, and those at which it must hold (none: any)."""

    check_id: str
    holds_at: str
    made_on: tuple[str, ...]
    must_hold_at: tuple[str, ...]
    held: bool


def standing(workflow: Workflow, check: Check) -> Standing:
    """Where a check stands now."""
    task = workflow.tasks[check.task]
    made = {_name(each.subject or task.subject) for each in task.evidence if check.id in each.checks}
    wanted = dataflow.expected_subject(workflow, check.task, check.holds_at) or ()
    names = tuple(map(_name, wanted))
    return Standing(check.id, check.holds_at.value, tuple(sorted(made)), names, _check_held(workflow, check))


def _name(subject: Subject | None) -> str:
    return (subject and (subject.revision or subject.digest)) or "no subject"


def requirement_held(workflow: Workflow, requirement: Requirement) -> RequirementHeld:
    """Whether every check of the requirement has evidence at the subject where it must hold."""
    return RequirementHeld(
        requirement_id=requirement.id,
        text=requirement.text,
        mandatory=requirement.mandatory,
        held=all(_check_held(workflow, check) for check in requirement.checks),
        checks=tuple(check.id for check in requirement.checks),
    )


def _check_held(workflow: Workflow, check: Check) -> bool:
    task = workflow.tasks[check.task]
    subjects = dataflow.expected_subject(workflow, check.task, check.holds_at)
    if not isinstance(task.phase, Completed):
        return False
    return any(check.id in each.checks and _at(each.subject, subjects, task) for each in task.evidence)


def _at(found: Subject | None, wanted: tuple[Subject, ...] | None, task: Task) -> bool:
    """Evidence that names no subject of its own speaks of its task's."""
    return wanted is None or (found or task.subject) in wanted


def _first_stop(workflow: Workflow) -> StopReason:
    """The reason that comes first in the closed order, dependants' own reason last."""
    order = list(StopReason)
    reasons = [task.phase.reason for task in workflow.tasks.values() if isinstance(task.phase, Stopped)]
    return min(reasons, key=order.index, default=StopReason.UNTRUSTED_STATE)


def _stop_if_spent(unit: Unit) -> None:
    """A ready task that can't be reserved while nothing runs and nothing is held ends the workflow."""
    workflow = unit.workflow
    if limits.reserved_by(workflow.tasks.values()) != limits.NOTHING:
        return
    ready = [task for task in workflow.tasks.values() if isinstance(task.phase, Queued)]
    lacking = [limits.blockers(workflow, task.task_id) for task in ready]
    if all(lacking):
        first, *others = sorted({each for one in lacking for each in one}, key=list(StopReason).index)
        owner = workflow.contract.owner
        stop_workflow(unit, Stop(stop_reason=first, others=tuple(others), owner=owner))
