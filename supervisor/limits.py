"""Budget arithmetic: what is left, what an offer reserves, what an attempt costs. Pure."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal

from msgspec.structs import replace

from remit.contract.normal import Limits
from remit.contract.normal import Workflow as Contract
from remit.events.base import Amounts, Usage
from remit.events.transitions import PriceEntry, Settlement, StopReason

from .once import once
from .state import Attempt, Spent, Task, Workflow

PENNY_FRACTION = Decimal("0.000001")
MOST = 10**12  # of any count that a worker may report; money stays below it too
NOTHING = Amounts(cost_gbp=Decimal(0), tokens=0, tool_calls=0, turns=0)
EXHAUSTED = (
    (StopReason.COST_EXHAUSTED, "cost_gbp"),
    (StopReason.TOKENS_EXHAUSTED, "tokens"),
    (StopReason.TOOL_CALLS_EXHAUSTED, "tool_calls"),
    (StopReason.TURNS, "turns"),
)


def ceiling(limits: Limits) -> Amounts:
    """The amounts that a contract's limits allow in all."""
    return Amounts(
        cost_gbp=limits.max_cost_gbp,
        tokens=limits.max_tokens,
        tool_calls=limits.max_tool_calls,
        turns=limits.max_turns,
    )


def plausible(usage: Usage) -> bool:
    """Whether reported usage can be booked: nothing negative, nothing that no attempt could have used."""
    counts = (usage.tokens_in, usage.tokens_out, usage.tool_calls, usage.turns, usage.worker_seconds, usage.cost_gbp)
    return all(0 <= each < MOST for each in counts)


def bookable(usage: Usage, price: PriceEntry) -> bool:
    """Whether reported usage can be booked at that price."""
    return plausible(usage) and cost_of(usage, price) < MOST


def cost_of(usage: Usage, price: PriceEntry) -> Decimal:
    """Pounds of that usage at that price, rounded half-even to the log's six digits."""
    tokens = usage.tokens_in * price.per_1k_tokens_in + usage.tokens_out * price.per_1k_tokens_out
    calls = usage.tool_calls * price.per_tool_call
    seconds = usage.worker_seconds * price.per_worker_second
    return (tokens / 1000 + calls + seconds + usage.cost_gbp).quantize(PENNY_FRACTION, ROUND_HALF_EVEN)


def spend(spent: Spent, usage: Usage, cost: Decimal) -> Spent:
    """`spent` with one more booking."""
    return Spent(
        cost_gbp=spent.cost_gbp + cost,
        tokens=spent.tokens + usage.tokens_in + usage.tokens_out,
        tool_calls=spent.tool_calls + usage.tool_calls,
        turns=spent.turns + usage.turns,
    )


def unspend(spent: Spent, usage: Usage, cost: Decimal) -> Spent:
    """`spent` without an earlier booking."""
    return Spent(
        cost_gbp=spent.cost_gbp - cost,
        tokens=spent.tokens - usage.tokens_in - usage.tokens_out,
        tool_calls=spent.tool_calls - usage.tool_calls,
        turns=spent.turns - usage.turns,
    )


def spent_by(workflow: Workflow) -> Spent:
    """What all tasks of the workflow booked."""
    parts = [task.spent for task in workflow.tasks.values()]
    return Spent(
        cost_gbp=sum((part.cost_gbp for part in parts), Decimal(0)),
        tokens=sum(part.tokens for part in parts),
        tool_calls=sum(part.tool_calls for part in parts),
        turns=sum(part.turns for part in parts),
    )


def reserved_by(tasks: Iterable[Task]) -> Amounts:
    """What open attempts reserve and lost leases still hold."""
    total = NOTHING
    for task in tasks:
        if (claims := _claims_on_budget(task)) is not NOTHING:
            total = claims if total is NOTHING else _combine(total, claims, lambda a, b: a + b)
    return total


@once
def _claims_on_budget(task: Task) -> Amounts:
    total = NOTHING
    for attempt in task.attempts:
        claim = attempt.reserved if attempt.open else attempt.held
        if claim is not None:
            total = _combine(total, claim, lambda a, b: a + b)
    return total


def wanted(workflow: Workflow, task_id: str) -> Amounts:
    """What an offer of the task would reserve: all that the task has left."""
    task = workflow.tasks[task_id]
    return _left(ceiling(workflow.contract.tasks[task_id].limits), task.spent, _claims_on_budget(task))


@once
def available(workflow: Workflow) -> Amounts:
    """What the workflow has neither spent nor reserved."""
    shared = replace(ceiling(workflow.contract.limits), turns=None)  # each task has its turns for itself
    return _left(shared, spent_by(workflow), reserved_by(workflow.tasks.values()))


def blockers(workflow: Workflow, task_id: str) -> tuple[StopReason, ...]:
    """The kinds of budget that keep the task from being offered now, in the order of the stop reasons."""
    known = _blockers(workflow)
    if task_id not in known:
        known[task_id] = tuple(_lacking(wanted(workflow, task_id), available(workflow)))
    return known[task_id]


@once
def _blockers(_: Workflow) -> dict[str, tuple[StopReason, ...]]:
    """By task; filled as it is asked for."""
    return {}


def _lacking(want: Amounts, free: Amounts) -> Iterator[StopReason]:
    for reason, name in EXHAUSTED:
        need = getattr(want, name)
        if (need is not None and need <= 0) or not _at_most(need, getattr(free, name)):
            yield reason


def open_attempts(workflow: Workflow) -> list[Attempt]:
    """The attempts that are offered, running or under review."""
    currents = [task.current() for task in workflow.tasks.values()] if workflow.open else []
    return [each for each in currents if each is not None]


def most_attempts(contract: Contract, task: Task) -> int | None:
    """How many attempts of a round may start: the contract's limit, and what people granted on top of it."""
    most = contract.tasks[task.task_id].limits.max_attempts
    return None if most is None else most + task.granted_attempts


@once
def enough_at_work(workflow: Workflow) -> bool:
    """Whether as many attempts are open as the workflow may have at once."""
    allowed = workflow.contract.limits.max_workers
    return allowed is not None and len(open_attempts(workflow)) >= allowed


def held_back(workflow: Workflow, task_id: str) -> bool:
    """Whether the workflow's own limits keep the task from being offered now: it waits for no worker then."""
    return enough_at_work(workflow) or bool(blockers(workflow, task_id))


def fits(wanted: Amounts, available: Amounts) -> bool:
    """Whether `wanted` is no more than `available` in each kind; unlimited wants fit only the unlimited."""
    return all(_at_most(getattr(wanted, name), getattr(available, name)) for _, name in EXHAUSTED)


def settle(attempt: Attempt, usage: Usage | None, *, held_until: datetime | None = None) -> Settlement:
    """Book an attempt: `usage` None, or one that can't be, books its whole reservation as estimated.

    With `held_until` (a lost lease) what was not reported stays held until then.
    """
    known = usage is not None and bookable(usage, attempt.price)
    booked = usage if usage is not None and known else estimate(attempt.reserved)
    cost = cost_of(booked, attempt.price) if known else _estimated_cost(attempt, booked)
    rest = _rest(attempt.reserved, booked, cost)
    keeps = held_until is not None and known
    return Settlement(
        usage=booked,
        cost_gbp=cost,
        released=NOTHING if keeps else rest,
        held=rest if keeps else NOTHING,
        held_until=held_until if keeps else None,
        overrun=_overrun(attempt.reserved, booked, cost),
    )


def estimate(reserved: Amounts) -> Usage:
    """The whole reservation as usage."""
    return Usage(
        tokens_in=reserved.tokens or 0,
        tool_calls=reserved.tool_calls or 0,
        turns=reserved.turns or 0,
        estimated=True,
    )


def _estimated_cost(attempt: Attempt, booked: Usage) -> Decimal:
    if attempt.reserved.cost_gbp is not None:
        return attempt.reserved.cost_gbp
    return cost_of(booked, attempt.price)


def _rest(reserved: Amounts, usage: Usage, cost: Decimal) -> Amounts:
    used = spend(Spent(), usage, cost)
    rest = _left(reserved, used, NOTHING)
    return _combine(rest, NOTHING, max)


def _overrun(reserved: Amounts, usage: Usage, cost: Decimal) -> bool:
    spent = spend(Spent(), usage, cost)
    used = Amounts(cost_gbp=cost, tokens=spent.tokens, tool_calls=spent.tool_calls, turns=spent.turns)
    return not fits(used, reserved)


def _left(limit: Amounts, spent: Spent, reserved: Amounts) -> Amounts:
    return Amounts(
        cost_gbp=_minus(limit.cost_gbp, spent.cost_gbp, reserved.cost_gbp),
        tokens=_minus_count(limit.tokens, spent.tokens, reserved.tokens),
        tool_calls=_minus_count(limit.tool_calls, spent.tool_calls, reserved.tool_calls),
        turns=_minus_count(limit.turns, spent.turns, reserved.turns),
    )


def _minus(limit: Decimal | None, spent: Decimal, reserved: Decimal | None) -> Decimal | None:
    return None if limit is None else limit - spent - (reserved or Decimal(0))


def _minus_count(limit: int | None, spent: int, reserved: int | None) -> int | None:
    return None if limit is None else limit - spent - (reserved or 0)


def _at_most(wanted: Decimal | None, available: Decimal | None) -> bool:
    return available is None or (wanted is not None and wanted <= available)


def _combine(one: Amounts, other: Amounts, by: Callable[..., Decimal]) -> Amounts:
    """Combine kind by kind; None is unlimited on the right and stays None on the left."""

    def each(a: Decimal | int | None, b: Decimal | int | None) -> Decimal | int | None:
        if a is None:
            return None
        return a if b is None else by(a, b)

    return Amounts(
        cost_gbp=each(one.cost_gbp, other.cost_gbp),  # type: ignore[arg-type]
        tokens=each(one.tokens, other.tokens),  # type: ignore[arg-type]
        tool_calls=each(one.tool_calls, other.tool_calls),  # type: ignore[arg-type]
        turns=each(one.turns, other.turns),  # type: ignore[arg-type]
    )
