"""A person's decision: cancel, or resolve an open item of the inbox. What finds no open item is noted. Pure."""

from remit.events.inputs import Decision, DecisionKind
from remit.events.transitions import Note, Recovery, Resolution, Stop, StopReason, TransitionKind

from .. import graph
from ..evolve.endings import NOT_HELD
from ..inbox import AMENDMENT, Item, item_of
from ..state import Completed, Workflow
from .amending import DEVELOPMENT, decide_amendment
from .ending import supersede
from .stopping import stop_task, stop_workflow
from .unit import Unit
from .words import in_words

RETRY, STOP = "retry", "stop"
UNVERIFIED = "unverified:"
ON_AMENDMENTS = frozenset({DecisionKind.APPROVE, DecisionKind.REFUSE})
ON_ITEMS = ON_AMENDMENTS | {DecisionKind.RESOLVE}


def on_decision(unit: Unit, event: Decision) -> None:
    """Cancel a task or the workflow, or resolve an item; note whatever comes after the end or speaks of nothing."""
    if event.kind in ON_ITEMS:
        _on_item(unit, event)
    elif event.kind is DecisionKind.CANCEL:
        _on_cancel(unit, event)
    else:
        _note(unit, event, TransitionKind.ALREADY_DECIDED, "no open item waits for this decision")


def _on_cancel(unit: Unit, event: Decision) -> None:
    workflow = unit.workflow
    if not workflow.open or _task_ended(workflow, event.task_id):
        _note(unit, event, TransitionKind.ALREADY_DECIDED, "it has ended already")
    elif event.task_id is not None and event.task_id not in workflow.tasks:
        _note(unit, event, TransitionKind.STALE, "task_id: no such task")
    else:
        _cancel(unit, event)


def _cancel(unit: Unit, event: Decision) -> None:
    owner = unit.workflow.contract.owner
    stop = Stop(stop_reason=StopReason.CANCELLED, owner=owner, person=event.person, detail=_why(event))
    if event.task_id is not None:
        stop_task(unit, event.task_id, stop, minutes=event.minutes_spent)
    else:
        stop_workflow(unit, stop, minutes=event.minutes_spent)


def _on_item(unit: Unit, event: Decision) -> None:
    item = item_of(unit.workflow, event.item_id)
    if item is None:
        _note(unit, event, TransitionKind.ALREADY_DECIDED, "no open item waits for this decision")
    elif objection := _objection(unit, event, item):
        _note(unit, event, TransitionKind.STALE, objection)
    elif item.kind == AMENDMENT:
        decide_amendment(unit, event, next(p for p in unit.workflow.proposed if p.item_id == item.item_id))
    elif event.resolution == RETRY:
        _retry(unit, event, item)
    else:
        stop = Stop(
            stop_reason=StopReason.REFUSED,
            owner=unit.workflow.contract.owner,
            person=event.person,
            detail=_why(event),
        )
        stop_task(unit, item.task_id or "", stop, minutes=event.minutes_spent)


def _objection(unit: Unit, event: Decision, item: Item) -> str | None:
    """Why the decision can't be taken, though its item is open."""
    if event.content_sha256 != item.content_sha256:
        return "content_sha256: not that of the item as it stands"
    if event.person.startswith(UNVERIFIED) and unit.facts.policy.environment != DEVELOPMENT:
        return "person: an unverified identity decides only in a development environment"
    resolved = event.kind is DecisionKind.RESOLVE and event.resolution in {RETRY, STOP}
    if not (event.kind in ON_AMENDMENTS if item.kind == AMENDMENT else resolved):
        return "resolution: not one that this item can have"
    return None


def _retry(unit: Unit, event: Decision, item: Item) -> None:
    if item.reason == NOT_HELD:  # it is made anew, so whoever works on what it made works in vain
        for later in graph.downstream(unit.workflow.contract, item.task_id or ""):
            supersede(unit, unit.task(later), Recovery.NONE)
    resolution = Resolution(
        item_id=item.item_id,
        person=event.person,
        resolution=RETRY,
        reason=_why(event),
        content_sha256=item.content_sha256,
    )
    unit.add(
        TransitionKind.TASK_RESOLVED,
        task=unit.task(item.task_id or ""),
        reason=item.reason,
        resolution=resolution,
        minutes_spent=event.minutes_spent,
    )


def _why(event: Decision) -> str | None:
    return in_words(event.reason)


def _task_ended(workflow: Workflow, task_id: str | None) -> bool:
    task = workflow.tasks.get(task_id or "")
    return task is not None and (isinstance(task.phase, Completed) or task.status.value in {"stopped", "failed"})


def _note(unit: Unit, event: Decision, kind: TransitionKind, why: str) -> None:
    unit.add(
        kind,
        task_id=event.task_id,
        reason=event.kind.value,
        note=Note(event_id=event.event_id, differs=(why,)),
        minutes_spent=event.minutes_spent,
    )
