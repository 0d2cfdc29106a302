"""One revision line per repository: tasks that may run together never write the same branch."""

from collections.abc import Iterator
from itertools import combinations

from remit.contract.filled import Filled
from remit.faults import Fault


def faults(filled: Filled) -> Iterator[Fault]:
    """Each pair of tasks that may meet on one branch, told at the later one."""
    writers = [task for task in filled.tasks.values() if task.branch]
    for one, other in combinations(writers, 2):
        if one.branch == other.branch and _may_meet(filled, one.id, other.id):
            place = ("tasks", other.id, "permissions", "repository")
            yield Fault(place, f": {one.id} may run at the same time and writes the same branch")


def _may_meet(filled: Filled, one: str, other: str) -> bool:
    if one in filled.prerequisites[other] or other in filled.prerequisites[one]:
        return False
    here, there = filled.repositories(one), filled.repositories(other)
    return bool(here & there) or not here or not there
