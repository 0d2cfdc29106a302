"""Ten tasks that may each use a third of the budget are ready at once, and ten slots are free."""

from typing import Any

from remit.cli.folded import Folded
from remit.roles import role

from .arena import Arena
from .guard import Fact, Guard
from .workflows import workflow

BUDGET, EACH, TASKS = 12_000, 4_000, 10


def run(arena: Arena) -> list[Fact]:
    arena.worker("spender", "spender", "--slots", str(TASKS))
    tasks = {f"part-{n}": {"limits": {"max_tokens": EACH}} for n in range(TASKS)}
    limits = {"deadline_seconds": 300, "max_tokens": BUDGET, "max_workers": TASKS}
    arena.submit(workflow("budget-race", tasks, limits=limits))
    arena.until(lambda folded: folded.ended, "end")
    most, at_once = _highest(arena.folded)
    workflow_ = arena.folded.workflow
    return [
        Fact(f"never more than {at_once} of {TASKS} tasks were out at once", at_once == BUDGET // EACH),
        Fact(f"spent and reserved together were never more than {most} of {BUDGET} tokens", most <= BUDGET),
        Fact(
            f"it stopped when what was left could not cover another task: {workflow_.stop_reason}",
            workflow_.stop_reason == "tokens_exhausted",
        ),
        Fact("and spent no more than its budget", role("supervisor.limits").spent_by(workflow_).tokens <= BUDGET),
    ]


def _highest(folded: Folded) -> tuple[int, int]:
    """The most tokens spent and reserved at any version of the log, and the most attempts at once."""
    limits, again = role("supervisor.limits"), Folded(folded.tenant_id, folded.workflow_id)
    tokens = attempts = 0
    for entry in folded.entries:
        again.take([entry])
        state: Any = again.state
        tokens = max(tokens, limits.spent_by(state).tokens + limits.reserved_by(state.tasks.values()).tokens)
        attempts = max(attempts, len(limits.open_attempts(state)))
    return tokens, attempts


GUARD = Guard(
    name="budget-race",
    tries=f"{TASKS} tasks that may use {EACH} tokens each are ready at once, of a workflow that may use {BUDGET}",
    stopped_by="reservation in the dispatch's own transaction: what may be used is taken off before the work begins",
    run=run,
)
