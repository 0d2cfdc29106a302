"""Data classification: known to the policy, and within what each task's pool may see."""

from collections.abc import Iterator

from remit.contract.filled import Filled
from remit.faults import Fault, unknown_key


def faults(filled: Filled) -> Iterator[Fault]:
    """An unknown classification, or a pool that may not see such data."""
    asked, order = filled.file.data_classification, filled.policy.data_classifications
    if asked is None:
        return
    if asked not in order:
        yield unknown_key(("data_classification",), order, "a data classification of the policy", asked)
        return
    for task in filled.tasks.values():
        most = task.pool.data_classification if task.pool else None
        if most is not None and order.index(asked) > order.index(most):
            yield Fault(("data_classification",), f"is more than pool {task.pool_name} may see")
