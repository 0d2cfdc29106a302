"""The folds of contract versions: what holds from here on, what is asked of a person, what was refused. Pure."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from remit.contract import normal
from remit.contract.normal import Workflow as Contract
from remit.events.base import Evidence
from remit.events.transitions import Transition

from .. import graph
from ..amendment import sent_back
from ..state import BackingOff, Completed, Proposed, Queued, Task, Waiting, Workflow
from .endings import new_round

VOIDING = 2  # the first version of the decider whose contract versions void what rests on another contract
REMEMBERED = 100  # refused amendments
STILL = (Waiting, Queued, BackingOff)  # without an attempt, and nobody's to decide
UNHELD = (*STILL, Completed)


def amended(workflow: Workflow, transition: Transition) -> Workflow:
    """Let a version hold: void what rests on another contract, take up new tasks, let go what is gone."""
    accepted = transition.contract
    if accepted is None:
        return workflow
    contract = normal.decode(accepted.document)
    if transition.decider_version < VOIDING:
        return replace(
            workflow,
            contract=contract,
            contract_version=accepted.contract_version,
            deadline_at=accepted.deadline_at,
        )
    back, by_person = sent_back(workflow, contract), transition.resolution is not None
    carried = {task_id: _carried(workflow, contract, task_id, accepted.deadline_at) for task_id in contract.tasks}
    tasks = {
        task_id: _anew(task, by_person=by_person) if task_id in back and isinstance(task.phase, UNHELD) else task
        for task_id, task in carried.items()
    }
    now = transition.decided_at
    after = replace(
        workflow,
        contract=contract,
        contract_version=accepted.contract_version,
        deadline_at=accepted.deadline_at,
        tasks={task_id: _placed(contract, tasks, task, now) for task_id, task in tasks.items()},
    )
    decided = transition.resolution
    return _without(after, decided.item_id) if decided is not None else after


def _carried(workflow: Workflow, contract: Contract, task_id: str, ends: datetime | None) -> Task:
    task = workflow.tasks.get(task_id)
    if task is None:
        return Task(task_id=task_id, phase=Waiting())
    found = tuple(each for each in task.rework if _can_be_retested(workflow.contract, contract, task_id, each))
    return replace(task, deadline_at=_deadline(workflow, contract, task, ends), rework=found)


def _can_be_retested(before: Contract, after: Contract, task_id: str, found: Evidence) -> bool:
    """Unless the task's own command line is another now, which need not know the cases that failed."""
    mine = {check.command for _, check in after.checks_of(task_id)}
    name = found.command or ""
    return name not in mine or before.commands.get(name) == after.commands.get(name)


def _anew(task: Task, *, by_person: bool) -> Task:
    """The task in another round, told of the defects as before; only a person gives it its attempts back."""
    again = replace(new_round(task), phase=Waiting())
    if by_person:
        return again
    begun = any(each.number and each.round == task.round for each in task.attempts)
    return replace(
        again,
        round=task.round + begun,
        attempts_started=task.attempts_started,
        granted_attempts=task.granted_attempts,
    )


def _deadline(workflow: Workflow, contract: Contract, task: Task, ends: datetime | None) -> datetime | None:
    """The task's end, moved as its limit moves, or with the workflow's where that one bounds it."""
    if task.deadline_at is None:
        return None
    moved = task.deadline_at
    if moved == workflow.deadline_at:
        moved = ends or moved
    else:
        old, new = (each.tasks[task.task_id].limits.deadline_seconds for each in (workflow.contract, contract))
        moved += timedelta(seconds=(new or 0) - (old or 0)) if old is not None and new is not None else timedelta()
    return moved if ends is None else min(moved, ends)


def _placed(contract: Contract, tasks: dict[str, Task], task: Task, now: datetime) -> Task:
    """A task that nobody works on is queued or waits, as its prerequisites are now."""
    if not isinstance(task.phase, STILL):
        return task
    if not graph.prerequisites_met(contract, tasks, task.task_id):
        return replace(task, phase=Waiting())
    return replace(task, phase=Queued(now)) if isinstance(task.phase, Waiting) else task


def proposed(workflow: Workflow, transition: Transition) -> Workflow:
    """Keep a version that widens or drops something until its owner decides."""
    accepted, said, cause = transition.contract, transition.proposal, transition.cause
    if accepted is None or said is None or cause is None:
        return workflow
    item = Proposed(
        item_id=said.item_id,
        event_id=cause.event_id,
        base_version=said.base_version,
        accepted=accepted,
        widens=said.widens,
        proposer=said.proposer,
        owner=said.owner,
        since=transition.decided_at,
    )
    return replace(workflow, proposed=(*workflow.proposed, item))


def refused(workflow: Workflow, transition: Transition) -> Workflow:
    """Let a proposed version go; one that a person refused is not asked about again."""
    said = transition.proposal
    if said is None:
        return workflow
    gone = tuple(each.event_id for each in workflow.proposed if each.item_id == said.item_id)
    return replace(_without(workflow, said.item_id), refused=(*workflow.refused, *gone)[-REMEMBERED:])


def _without(workflow: Workflow, item_id: str) -> Workflow:
    return replace(workflow, proposed=tuple(each for each in workflow.proposed if each.item_id != item_id))
