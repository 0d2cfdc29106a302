"""Money: what the fold says was spent is the sum of what attempts settled, and nothing stays reserved."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from chaos.history import History, Key
from remit.events.base import Usage
from remit.events.transitions import Transition
from supervisor import limits
from supervisor.fold import fold
from supervisor.state import State, Workflow, initial


@dataclass
class Booked:
    """The bookings of a workflow, added up from its transitions alone."""

    cost: Decimal = Decimal(0)
    usage: dict[UUID | None, Usage] = field(default_factory=dict)  # of each attempt; a late report replaces
    settled: list[UUID | None] = field(default_factory=list)

    def take(self, event: Transition) -> None:
        """Add what one transition books."""
        if event.settlement is not None:
            self.cost += event.settlement.cost_gbp
            self.usage[event.attempt_id] = event.settlement.usage
            self.settled.append(event.attempt_id)
        if event.note is not None and event.note.usage is not None:
            self.cost += event.note.cost_gbp or Decimal(0)
            self.usage[event.attempt_id] = event.note.usage


def booked(events: list[Transition]) -> Booked:
    """The bookings of these transitions."""
    found = Booked()
    for event in events:
        found.take(event)
    return found


def budgets(history: History, _submitted: list[Key]) -> list[str]:
    """Spent = the sum of settlements; each attempt settled at most once, every one that began settled in the end."""
    found = []
    for key, events in history.workflows.items():
        state: State = initial(*key)
        for event in events:
            state = fold(state, event).state
        if isinstance(state, Workflow):
            found += [f"{'/'.join(key)}: {fault}" for fault in _unbalanced(state, booked(events))]
    return found


def _unbalanced(workflow: Workflow, books: Booked) -> Iterator[str]:
    spent = limits.spent_by(workflow)
    tokens = sum(each.tokens_in + each.tokens_out for each in books.usage.values())
    calls = sum(each.tool_calls for each in books.usage.values())
    if (spent.cost_gbp, spent.tokens, spent.tool_calls) != (books.cost, tokens, calls):
        yield f"spent {spent}, but settled {books.cost}, {tokens} tokens, {calls} calls"
    if len(books.settled) != len(set(books.settled)):
        yield "an attempt was settled twice"
    begun = {each.attempt_id for task in workflow.tasks.values() for each in task.attempts if each.outcome is not None}
    unsettled = begun - set(books.settled)
    claimed = {each.attempt_id for task in workflow.tasks.values() for each in task.attempts if each.number}
    if unsettled & claimed:
        yield f"{len(unsettled & claimed)} attempts ended without a settlement"
    if not workflow.open and limits.open_attempts(workflow):
        yield "an attempt is open though the workflow ended"
