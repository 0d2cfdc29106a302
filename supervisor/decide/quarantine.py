"""Freezing a workflow whose state can't be trusted, or whose decision failed. Pure, and as simple as can be."""

from remit.events.base import Cause
from remit.events.transitions import Note, Rejection, Stop, StopReason, TransitionKind

from ..inputs import Facts
from ..state import State, Workflow
from .stopping import stop_attempts
from .unit import Sealed, Unit


def quarantine(state: State, cause: Cause, facts: Facts, reason: StopReason, detail: str) -> tuple[Sealed, ...]:
    """Quarantine an open workflow; note the fault on one that has ended, or refuse one that has not begun."""
    unit = Unit(state, cause, facts)
    note = Note(event_id=cause.event_id, differs=(detail,))
    if not isinstance(state, Workflow):
        rejection = Rejection(content_digest="", faults=(f"{reason.value}: {detail}",))
        unit.add(TransitionKind.CONTRACT_REJECTED, reason=reason.value, rejection=rejection, note=note)
    elif not state.open:
        unit.add(TransitionKind.STALE, reason=reason.value, note=note)
    else:
        stop = Stop(stop_reason=reason, owner=state.contract.owner, detail=detail)
        stop_attempts(unit, stop)
        unit.add(TransitionKind.WORKFLOW_QUARANTINED, reason=reason.value, stop=stop)
    return tuple(unit.sealed)
