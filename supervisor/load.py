"""What this supervisor has given out: open attempts by worker and by pool. Pure."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from .state import Offered, Running, Task, Workflow

LONG_AGO, NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Load:
    """The load of all workflows together, kept as they change."""

    def __init__(self) -> None:
        """Start with nothing given out."""
        self.attempts: dict[str, list[datetime]] = {}  # by worker, sorted: since when it counts each of them itself
        self.pools: Counter[str] = Counter()

    def change(self, before: Workflow | None, after: Workflow | None) -> None:
        """Replace a workflow's part of the load."""
        for worker_id, pool, known_at in _given(before, after):
            self.take(worker_id, pool, known_at)
        for worker_id, pool, known_at in _given(after, before):
            self.give(worker_id, pool, known_at)

    def give(self, worker_id: str, pool: str, known_at: datetime) -> None:
        """Count one attempt, which the worker counts itself from then on."""
        insort(self.attempts.setdefault(worker_id, []), known_at)
        self.pools[pool] += 1

    def take(self, worker_id: str, pool: str, known_at: datetime) -> None:
        """Count one such attempt no more."""
        mine = self.attempts[worker_id]
        del mine[bisect_left(mine, known_at)]
        if not mine:
            del self.attempts[worker_id]
        self.pools[pool] -= 1

    def of(self, worker_id: str) -> int:
        """How many attempts the worker has of this supervisor."""
        return len(self.attempts.get(worker_id, ()))

    def unknown_at(self, worker_id: str, at: datetime) -> int:
        """How many of them it did not count yet when it spoke at that time."""
        mine = self.attempts.get(worker_id, [])
        return len(mine) - bisect_left(mine, at)


def _given(workflow: Workflow | None, other: Workflow | None) -> Iterator[tuple[str, str, datetime]]:
    """The attempts under way of a workflow, but for those of tasks that are the same in the other."""
    same = other.tasks if other is not None and other.open else {}
    for task_id, task in workflow.tasks.items() if workflow is not None and workflow.open else ():
        if same.get(task_id) is not task and (attempt := task.current()) is not None:
            yield attempt.worker_id, attempt.pool, _known_at(task)


def _known_at(task: Task) -> datetime:
    """Since when the worker counts the task's attempt among its busy slots: its claim; an offer, never yet."""
    match task.phase:
        case Offered():
            return NEVER
        case Running(claimed_at=claimed_at):
            return claimed_at
        case _:
            return LONG_AGO
