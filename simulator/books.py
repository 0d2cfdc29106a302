"""Books of one workflow, kept from its transitions alone: what is reserved, spent, held and begun. For law 7.

It uses nothing of the supervisor's own arithmetic, so that a fault there can't hide itself. Pure.
"""

from collections import Counter
from decimal import Decimal
from uuid import UUID

from remit.contract.normal import Limits, Workflow, decode
from remit.events.base import Amounts, Usage
from remit.events.transitions import Settlement, Transition, TransitionKind

from .laws import bends, hold

Sums = tuple[Decimal, int, int]
LAW = "7 (bounded)"
FREED = frozenset({TransitionKind.OFFER_DECLINED, TransitionKind.OFFER_EXPIRED})


class Books:
    """Of one workflow."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.contract: Workflow | None = None
        self.bent = False  # an overrun was recorded, or the limits were lowered
        self.spent: dict[str, Sums] = {}
        self.begun: Counter[tuple[str, int]] = Counter()  # by task and round
        self.granted: Counter[str] = Counter()  # attempts, by people
        self._booked: dict[UUID, Usage] = {}
        self._reserved: dict[UUID, tuple[str, Amounts]] = {}  # by attempt: its task, what it keeps from others

    def note(self, each: Transition) -> None:
        """Enter one transition, and hold the sums against the limits."""
        self.bent |= bends(each)
        if each.contract is not None:
            self.contract = decode(each.contract.document)
            _spawned(self.contract)
        self._enter(each)
        if self.contract is not None:
            self._attempts(self.contract)
            if not self.bent:
                self._sums(self.contract)

    def _enter(self, each: Transition) -> None:
        task_id, attempt_id = each.task_id or "", each.attempt_id
        if each.kind is TransitionKind.CLAIMED:
            self.begun[task_id, each.round or 1] += 1
        elif each.kind is TransitionKind.TASK_RESOLVED:
            self.granted[task_id] += 1
        if attempt_id is None:
            return
        if each.dispatch is not None:
            self._reserved[attempt_id] = (task_id, each.dispatch.reserved)
        elif each.kind in FREED or each.kind is TransitionKind.RESERVATION_RELEASED:
            self._reserved.pop(attempt_id, None)
        if each.settlement is not None:
            self._settle(task_id, attempt_id, each.settlement)
        elif each.kind is TransitionKind.LATE_USAGE and each.note is not None and each.note.usage is not None:
            self._book(task_id, attempt_id, each.note.usage, each.note.cost_gbp or Decimal(0))
            self._reserved.pop(attempt_id, None)
        elif each.kind is TransitionKind.TASK_STOPPED:
            self._reserved.pop(attempt_id, None)

    def _settle(self, task_id: str, attempt_id: UUID, booked: Settlement) -> None:
        self._book(task_id, attempt_id, booked.usage, booked.cost_gbp)
        self._reserved.pop(attempt_id, None)
        if booked.held_until is not None:
            self._reserved[attempt_id] = (task_id, booked.held)

    def _book(self, task_id: str, attempt_id: UUID, usage: Usage, cost: Decimal) -> None:
        """What is booked anew replaces the counts booked before; the cost is told as a difference."""
        before = self._booked.get(attempt_id, Usage())
        self._booked[attempt_id] = usage
        tokens = usage.tokens_in + usage.tokens_out - before.tokens_in - before.tokens_out
        calls = usage.tool_calls - before.tool_calls
        self.spent[task_id] = _plus(self.spent.get(task_id, _NOTHING), (cost, tokens, calls))

    def _attempts(self, contract: Workflow) -> None:
        for (task_id, round_), begun in self.begun.items():
            if task_id not in contract.tasks:
                continue
            most = contract.tasks[task_id].limits.max_attempts
            allowed = None if most is None or self.bent else most + self.granted[task_id]
            hold(allowed is None or begun <= allowed, LAW, f"round {round_} of {task_id} began {begun} attempts")

    def _sums(self, contract: Workflow) -> None:
        claims: dict[str, Sums] = dict(self.spent)
        for task_id, amounts in self._reserved.values():
            kept = (amounts.cost_gbp or Decimal(0), amounts.tokens or 0, amounts.tool_calls or 0)
            claims[task_id] = _plus(claims.get(task_id, _NOTHING), kept)
        total = _NOTHING
        for task_id, sums in claims.items():
            if task_id in contract.tasks:
                _at_most(sums, contract.tasks[task_id].limits, task_id)
            total = _plus(total, sums)
        _at_most(total, contract.limits, "the workflow")

    @property
    def cost(self) -> Decimal:
        """All that is spent, in pounds."""
        return sum((each[0] for each in self.spent.values()), Decimal(0))


def _spawned(contract: Workflow) -> None:
    """Proposed tasks stay within their plans, and within the workflow's counts."""
    children = Counter(each.parent for each in contract.tasks.values() if each.parent is not None)
    for parent, count in children.items():
        plan = contract.tasks[parent].spawn
        hold(plan is not None and count <= plan.max_subtasks, LAW, f"{parent} has {count} proposed tasks")
    deepest = max((each.depth for each in contract.tasks.values()), default=0)
    limits = contract.limits
    hold(limits.max_depth is None or deepest <= limits.max_depth, LAW, f"a task at depth {deepest}")
    count = len(contract.tasks)
    hold(limits.max_tasks is None or count <= limits.max_tasks, LAW, f"{count} tasks")


_NOTHING: Sums = (Decimal(0), 0, 0)


def _plus(one: Sums, other: Sums) -> Sums:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def _at_most(sums: Sums, limits: Limits, whose: str) -> None:
    within = (
        limits.max_cost_gbp is None or sums[0] <= limits.max_cost_gbp,
        limits.max_tokens is None or sums[1] <= limits.max_tokens,
        limits.max_tool_calls is None or sums[2] <= limits.max_tool_calls,
    )
    hold(all(within), LAW, f"{whose} has spent or reserved {sums}, more than {limits}")
