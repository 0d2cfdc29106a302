"""A person's decision. Only `cancel` acts so far; any other finds no open item and is noted. Pure."""

from remit.events.inputs import Decision, DecisionKind
from remit.events.transitions import Note, Stop, StopReason, TransitionKind
from remit.redaction import redact

from ..state import Completed, Workflow
from .stopping import stop_task, stop_workflow
from .unit import Unit


def on_decision(unit: Unit, event: Decision) -> None:
    """Cancel a task or the workflow; note whatever comes after the end."""
    workflow = unit.workflow
    if event.kind is not DecisionKind.CANCEL:
        _note(unit, event, TransitionKind.ALREADY_DECIDED, "no open item waits for this decision")
    elif not workflow.open or _task_ended(workflow, event.task_id):
        _note(unit, event, TransitionKind.ALREADY_DECIDED, "it has ended already")
    elif event.task_id is not None and event.task_id not in workflow.tasks:
        _note(unit, event, TransitionKind.STALE, "task_id: no such task")
    else:
        _cancel(unit, event)


def _cancel(unit: Unit, event: Decision) -> None:
    owner = unit.workflow.contract.owner
    why = redact(event.reason) if event.reason else None
    stop = Stop(stop_reason=StopReason.CANCELLED, owner=owner, person=event.person, detail=why)
    if event.task_id is not None:
        stop_task(unit, event.task_id, stop, minutes=event.minutes_spent)
    else:
        stop_workflow(unit, stop, minutes=event.minutes_spent)


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
