"""Dependencies: known, each once, without a cycle; and whom a failing check goes back to."""

from collections import deque
from collections.abc import Iterator

from remit.contract.filled import Filled
from remit.faults import Fault, unknown_key


def faults(filled: Filled) -> Iterator[Fault]:
    """Unknown and repeated dependencies, cycles, and a `rework` that names no prerequisite."""
    for task_id, task in filled.file.tasks.items():
        for number, other in enumerate(task.depends_on):
            place = ("tasks", task_id, "depends_on", number)
            if other not in filled.tasks:
                yield unknown_key(place, filled.tasks, "a task of this workflow", other)
            elif other in task.depends_on[:number]:
                yield Fault(place, "stands twice")
        yield from _rework(filled, task_id)
    yield from _cycles(filled)


def _rework(filled: Filled, task_id: str) -> Iterator[Fault]:
    target = filled.file.tasks[task_id].rework
    place = ("tasks", task_id, "rework")
    if target is None:
        return
    if target not in filled.tasks:
        yield unknown_key(place, filled.tasks, "a task of this workflow", target)
    elif target not in filled.prerequisites[task_id]:
        yield Fault(place, "must be a task that this one depends on")


def _cycles(filled: Filled) -> Iterator[Fault]:
    """One fault per knot of tasks, at its first task in file order, with the shortest way round."""
    told: set[str] = set()
    for task_id in filled.tasks:
        reach = filled.prerequisites[task_id]
        if task_id in reach and task_id not in told:
            told |= {other for other in reach if task_id in filled.prerequisites[other]}
            yield Fault(("tasks", task_id, "depends_on"), f": cycle {' -> '.join(_way_round(filled, task_id))}")


def _way_round(filled: Filled, start: str) -> list[str]:
    open_ = deque([[start]])
    seen: set[str] = set()
    while open_:
        way = open_.popleft()
        for other in filled.file.tasks[way[-1]].depends_on:
            if other == start:
                return [*way, start]
            if other in filled.file.tasks and other not in seen:
                seen.add(other)
                open_.append([*way, other])
    return [start]
