"""Permissions: one grant for each resource of the pool, within it; branches and paths that are real ones."""

from collections.abc import Iterator

from remit.contract.filled import Filled, Task
from remit.contract.normal import OutputKind
from remit.faults import Fault, unknown_key
from remit.policy.model import Pool
from remit.policy.permissions import covers, covers_path, is_branch, is_path_glob


def faults(filled: Filled) -> Iterator[Fault]:
    """Per task missing, unknown and too wide grants, and bad paths."""
    for task in filled.tasks.values():
        if task.pool is not None:
            yield from _grants(task, task.pool)
            yield from _paths(task, task.pool)
            yield from _revision(task)


def _grants(task: Task, pool: Pool) -> Iterator[Fault]:
    path = ("tasks", task.id, "permissions")
    for resource, grant in task.grants.items():
        if resource not in pool.permissions:
            yield unknown_key((*path, resource), pool.permissions, f"a resource of pool {task.pool_name}")
        elif not covers(pool.permissions[resource], grant):
            yield Fault((*path, resource), f"is more than pool {task.pool_name} allows")
        elif grant.startswith("read-write:") and not is_branch(grant.removeprefix("read-write:")):
            yield Fault((*path, resource), "must name a git branch")
    for resource in pool.permissions:
        if resource not in task.grants:
            yield Fault((*path, resource), "is required")


def _revision(task: Task) -> Iterator[Fault]:
    """A new revision is a write, so it needs the grant to write."""
    if "repository" in task.grants and not task.branch:
        for name, kind in task.outputs.items():
            if kind == OutputKind.REVISION:
                yield Fault(
                    ("tasks", task.id, "outputs", name), "is a revision, but permissions.repository grants no write"
                )


def _paths(task: Task, pool: Pool) -> Iterator[Fault]:
    path = ("tasks", task.id, "permissions", "paths")
    for number, glob in enumerate(task.own.permissions.paths):
        if not is_path_glob(glob):
            yield Fault((*path, number), "must be a glob inside the repository")
        elif pool.paths and not covers_path(pool.paths, glob):
            yield Fault((*path, number), f"is more than pool {task.pool_name} allows")
    if pool.paths and task.branch and not task.own.permissions.paths:
        yield Fault(path, f"is required: pool {task.pool_name} is bound to paths")
