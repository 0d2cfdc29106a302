"""A receipt: before the commit stage exists no effect is authorised, so each is noted and changes nothing. Pure."""

from remit.events.inputs import Receipt
from remit.events.transitions import Note, TransitionKind

from .unit import Unit


def on_receipt(unit: Unit, event: Receipt) -> None:
    """Note it as stale."""
    unit.add(
        TransitionKind.STALE,
        reason="receipt",
        note=Note(event_id=event.event_id, differs=("authorised_sequence: no effect was authorised",)),
    )
