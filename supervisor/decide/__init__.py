"""decide(state, input, facts) -> transitions: the supervisor's judgement. Pure: no clock, no randomness, no I/O.

One file per kind of input; the match in front is all there is here. An empty tuple means nothing to do. `decided` is
the same judgement with the state after each transition, for whoever writes them.
"""

from typing import assert_never

from remit.events import inputs as events
from remit.events.transitions import Transition

from ..inputs import Assignment, Facts, Input, Received, Timer, cause_of
from ..state import State, Workflow
from . import assignment, contract, decision, inspection, lease, receipt, result, timer
from .acceptance import conclude
from .unit import Sealed, Unit


def decide(state: State, item: Input, facts: Facts) -> tuple[Transition, ...]:
    """What follows from one input, in order; every transition is accepted by evolve in turn."""
    return tuple(each.transition for each in decided(state, item, facts))


def decided(state: State, item: Input, facts: Facts) -> tuple[Sealed, ...]:
    """What follows from one input, in order, each transition with the state that evolve makes of it."""
    unit = Unit(state, cause_of(state, item), facts)
    match item:
        case Received():
            _on_event(unit, item)
        case Timer():
            timer.on_timer(unit, item)
        case Assignment():
            assignment.on_assignment(unit, item)
        case _:
            assert_never(item)
    if unit.sealed and isinstance(unit.state, Workflow) and unit.state.open:
        conclude(unit)
    return tuple(unit.sealed)


def _on_event(unit: Unit, item: Received) -> None:
    match item.event:
        case events.Contract():
            contract.on_contract(unit, item.event)
        case events.Lease():
            lease.on_lease(unit, item.event)
        case events.Result():
            result.on_result(unit, item.event)
        case events.Inspection():
            inspection.on_inspection(unit, item.event)
        case events.Decision():
            decision.on_decision(unit, item.event)
        case events.Receipt():
            receipt.on_receipt(unit, item.event)
        case _:
            assert_never(item.event)
