"""The dependency graph of a contract: who is ready, who comes after whom. Pure."""

from collections.abc import Mapping

from remit.contract.normal import Workflow as Contract

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
    found: set[str] = set()
    frontier = [task_id]
    while frontier:
        later = [each for each in contract.dependants_of(frontier.pop()) if each not in found]
        found.update(later)
        frontier.extend(later)
    return tuple(each for each in contract.tasks if each in found)


def upstream(contract: Contract, task_id: str) -> frozenset[str]:
    """Every task that this one depends on, directly or not."""
    return frozenset(each for each in contract.tasks if task_id in downstream(contract, each))
