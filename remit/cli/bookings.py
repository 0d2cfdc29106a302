"""Every booking of a workflow as its transitions tell it, and whether they add up to what is folded. Pure.

Only `remit.cli` imports it. The sums here are made of the events alone, apart from the fold that they are held to.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

from remit.events.base import Usage
from remit.events.transitions import PriceEntry, Transition, TransitionKind
from remit.roles import role

if TYPE_CHECKING:
    from supervisor.state import Spent, Workflow

NONE = Usage()


@dataclass(frozen=True, slots=True)
class Booking:
    """One transition that booked something: an attempt's end, or what it told late (the difference)."""

    sequence: int
    at: datetime
    attempt_id: UUID
    task_id: str
    round: int | None
    attempt: int | None
    worker_id: str | None
    outcome: str
    usage: Usage  # of the whole attempt, as known from then on
    price: PriceEntry
    cost_gbp: Decimal  # booked by this transition; negative where a late report is lower
    late: bool
    overrun: bool


def bookings(transitions: Iterable[Transition]) -> Iterator[Booking]:
    """Every booking in log order; the price is that of the attempt's dispatch."""
    prices: dict[UUID, PriceEntry] = {}
    ended: dict[UUID, Booking] = {}
    for each in transitions:
        if each.attempt_id is None:
            continue
        if each.dispatch is not None:
            prices[each.attempt_id] = each.dispatch.price
        price = prices.get(each.attempt_id)
        found = None if price is None else (_end(each, price) or _late(each, ended.get(each.attempt_id)))
        if found is not None:
            ended[each.attempt_id] = found
            yield found


def _end(each: Transition, price: PriceEntry) -> Booking | None:
    booked = each.settlement
    if booked is None or each.attempt_id is None:
        return None
    outcome = "completed" if each.accepted else (each.ending.outcome if each.ending else each.reason)
    return Booking(
        sequence=each.sequence,
        at=each.decided_at,
        attempt_id=each.attempt_id,
        task_id=each.task_id or "",
        round=each.round,
        attempt=each.attempt,
        worker_id=each.worker_id,
        outcome=outcome or each.kind.value,
        usage=booked.usage,
        price=price,
        cost_gbp=booked.cost_gbp,
        late=False,
        overrun=booked.overrun,
    )


def _late(each: Transition, before: Booking | None) -> Booking | None:
    note = each.note
    if each.kind is not TransitionKind.LATE_USAGE or note is None or note.usage is None or before is None:
        return None
    return Booking(
        sequence=each.sequence,
        at=each.decided_at,
        attempt_id=before.attempt_id,
        task_id=before.task_id,
        round=before.round,
        attempt=before.attempt,
        worker_id=before.worker_id,
        outcome=before.outcome,
        usage=note.usage,
        price=before.price,
        cost_gbp=note.cost_gbp or Decimal(0),
        late=True,
        overrun=note.overrun,
    )


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The sums of the bookings beside the folded ones, and attempts whose cost is not their usage at their price."""

    bookings: int
    booked: "Spent"
    folded: "Spent"
    mispriced: tuple[UUID, ...]

    @property
    def holds(self) -> bool:
        """Whether both say the same, to the last digit."""
        return self.booked == self.folded and not self.mispriced


def reconcile(workflow: "Workflow", found: Iterable[Booking]) -> Reconciled:
    """Add up the bookings: of each attempt the newest usage, and every cost."""
    every = list(found)
    limits, state = role("supervisor.limits"), role("supervisor.state")
    newest = {each.attempt_id: each for each in every}
    costs = dict.fromkeys(newest, Decimal(0))
    for each in every:
        costs[each.attempt_id] += each.cost_gbp
    total: Spent = state.Spent()
    for attempt_id, each in newest.items():
        total = limits.spend(total, each.usage, costs[attempt_id])
    wrong = (
        attempt_id
        for attempt_id, each in newest.items()
        if not each.usage.estimated and limits.cost_of(each.usage, each.price) != costs[attempt_id]
    )
    return Reconciled(len(every), total, limits.spent_by(workflow), tuple(wrong))
