"""The dependency graph of a contract: who is ready, who comes after whom. Pure."""

from collections.abc import Callable, Mapping

from remit.contract.normal import Workflow as Contract

from .once import once
from .state import Completed, Task


def prerequisites_met(contract: Contract, tasks: Mapping[str, Task], task_id: str) -> bool:
    """Whether every task that this one depends on was accepted."""
    return not missing_prerequisites(contract, tasks, task_id)


def missing_prerequisites(contract: Contract, tasks: Mapping[str, Task], task_id: str) -> tuple[str, ...]:
    """The tasks that this one still waits for, in declared order."""
    needed = contract.tasks[task_id].depends_on
    return tuple(each for each in needed if not isinstance(tasks[each].phase, Completed))


def downstream(contract: Contract, task_id: str) -> tuple[str, ...]:
    """Every task that depends on this one, directly or not, in file order."""
    found = _reached(task_id, contract.dependants_of)
    return tuple(each for each in contract.tasks if each in found)


def upstream(contract: Contract, task_id: str) -> frozenset[str]:
    """Every task that this one depends on, directly or not."""
    return frozenset(_reached(task_id, lambda each: contract.tasks[each].depends_on))


def _reached(task_id: str, nearest: Callable[[str], tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    frontier = [task_id]
    while frontier:
        further = [each for each in nearest(frontier.pop()) if each not in found]
        found.update(further)
        frontier.extend(further)
    return found


@once
def in_order(contract: Contract) -> tuple[str, ...]:
    """All tasks, each after what it depends on, else in file order."""
    depth = {task_id: len(upstream(contract, task_id)) for task_id in contract.tasks}
    return tuple(sorted(contract.tasks, key=lambda task_id: depth[task_id]))
