"""Revision lines of a filled file: which revision a task works on, and which task makes a line's last one.

Pure; the gate's rules import it. It orders tasks as the supervisor does when it looks for the final revision.
"""

from remit.contract.filled import Filled


def seen_by(filled: Filled, task_id: str) -> str | None:
    """The task whose revision `task_id` speaks of: itself if it makes one, else its first git input's maker.

    None where that input is a commit from outside, or where there is none.
    """
    return task_id if filled.makes_revision(task_id) else _source(filled, task_id)[0]


def last_maker(filled: Filled, task_id: str) -> str | None:
    """The task that makes the last revision of the repository that `task_id` works in."""
    repository = _repository(filled, task_id)
    makers = [other for other in filled.tasks if filled.makes_revision(other)]
    same = [other for other in makers if _repository(filled, other) == repository]
    order = {other: (len(filled.prerequisites[other]), number) for number, other in enumerate(filled.tasks)}
    return max(same, key=lambda other: order[other], default=None)


def _source(filled: Filled, task_id: str) -> tuple[str | None, str | None]:
    """Maker and repository of the first git input, as far as this step tells."""
    for _, found in filled.references(task_id):
        if found.kind == "repo":
            return None, found.name
        producer = filled.tasks.get(found.name) if found.kind == "task" else None
        if producer is not None and producer.outputs.get(found.detail) == "revision":
            return producer.id, None
    return None, None


def _repository(filled: Filled, task_id: str) -> str | None:
    seen: set[str] = set()
    current: str | None = task_id
    while current is not None and current not in seen:
        seen.add(current)
        current, name = _source(filled, current)
        if name is not None:
            return name
    return None
