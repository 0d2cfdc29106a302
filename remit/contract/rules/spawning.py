"""Spawn plans: task types that the policy knows, and no more money than the workflow has."""

from collections.abc import Iterator

from remit.contract.filled import Filled
from remit.contract.limits import workflow_limit
from remit.faults import Fault, unknown_key


def faults(filled: Filled) -> Iterator[Fault]:
    """Per task with a plan of its own what nobody could grant; a type's plan was judged with its policy."""
    most = workflow_limit(filled, "max_cost_gbp")
    for task in filled.tasks.values():
        plan = task.own.spawn
        if plan is None:
            continue
        path = ("tasks", task.id, "spawn")
        for number, name in enumerate(plan.types):
            if name not in filled.policy.task_types:
                place = (*path, "types", number)
                yield unknown_key(place, filled.policy.task_types, "a task type of the policy", name)
        if plan.max_cost_gbp is not None and most is not None and plan.max_cost_gbp > most:
            yield Fault((*path, "max_cost_gbp"), f"must be at most {most} (workflow)")
