"""Task type, pool, capability, tools and risk class: known to the policy and within it."""

from collections.abc import Iterator

from remit.contract.filled import Filled, Task
from remit.faults import Fault, unknown_key

_RISK = ("low", "medium", "high")


def faults(filled: Filled) -> Iterator[Fault]:
    """Per task what the policy does not know or allow."""
    for task in filled.tasks.values():
        path = ("tasks", task.id)
        if task.type is None:
            yield unknown_key(
                (*path, "task_type"), filled.policy.task_types, "a task type of the policy", task.own.task_type
            )
        if task.own.pool is not None and task.pool is None:
            yield unknown_key((*path, "pool"), filled.policy.pools, "a pool of the policy", task.own.pool)
        if task.type is not None:
            yield from _within_pool(task)


def _within_pool(task: Task) -> Iterator[Fault]:
    path, pool = ("tasks", task.id), task.pool
    if pool is None:
        return
    if task.capability not in pool.capabilities:
        yield unknown_key(
            (*path, "capability"), pool.capabilities, f"a capability of pool {task.pool_name}", task.capability
        )
    for number, tool in enumerate(task.tools):
        if tool not in pool.tools:
            yield unknown_key((*path, "tools", number), pool.tools, f"a tool of pool {task.pool_name}", tool)
    if _RISK.index(task.risk_class) > _RISK.index(pool.risk_class):
        yield Fault((*path, "risk_class"), f"must be at most {pool.risk_class} (pool {task.pool_name})")
