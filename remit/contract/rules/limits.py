"""Limits: a task's within the workflow's, the workflow's within the policy's; deadlines real and ahead."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from remit.contract.deadlines import deadline_rule, in_utc, parse_deadline
from remit.contract.file import ContractLimits
from remit.contract.filled import Filled, Task
from remit.contract.limits import PER_TASK, SHARED, WORKFLOW_ONLY, workflow_limit
from remit.contract.normal import Limits
from remit.faults import Fault, Path


def faults(filled: Filled) -> Iterator[Fault]:
    """Every limit that is above the one that holds it."""
    own = filled.file.limits
    for field in (*SHARED, *PER_TASK, *WORKFLOW_ONLY):
        most = getattr(filled.policy.limits.max, field)
        yield from _above(getattr(own, field), most, "policy", ("limits", field))
    yield from _deadline(filled, own, ("limits", "deadline"), filled.approved_limits())
    for task in filled.tasks.values():
        yield from _task(filled, task)
    most = workflow_limit(filled, "max_tasks")
    if most is not None and len(filled.tasks) > most:
        yield Fault(("tasks",), f": {len(filled.tasks)} tasks, limits.max_tasks is {most}")


def _task(filled: Filled, task: Task) -> Iterator[Fault]:
    own, path = task.own.limits, ("tasks", task.id, "limits")
    for field in (*SHARED, *PER_TASK):
        most, whose = _ceiling(filled, field)
        yield from _above(getattr(own, field), most, whose, (*path, field))
    for field in WORKFLOW_ONLY:
        if getattr(own, field) is not None:
            yield Fault((*path, field), "is a limit of the workflow, not of a task")
    yield from _deadline(filled, own, (*path, "deadline"), filled.approved_limits(task.id))


def _ceiling(filled: Filled, field: str) -> tuple[Any, str]:
    """What bounds a task's limit, and whose bound it is; the workflow's unless the policy's is lower."""
    workflow, policy = workflow_limit(filled, field), getattr(filled.policy.limits.max, field)
    if field == "deadline_seconds" and filled.file.limits.deadline is not None:
        workflow = filled.file.limits.deadline_seconds  # an absolute deadline bounds the task by itself
    if workflow is None or (policy is not None and policy < workflow):
        return policy, "policy"
    return workflow, "workflow"


def _above(value: Any, most: Any, whose: str, path: Path) -> Iterator[Fault]:  # noqa: ANN401  (int or Decimal)
    if value is not None and most is not None and value > most:
        yield Fault(path, f"must be at most {most} ({whose})")


def _deadline(filled: Filled, own: ContractLimits, path: Path, approved: Limits | None) -> Iterator[Fault]:
    if own.deadline is None or (approved is not None and _is_at(own.deadline, approved.deadline)):
        return
    rule = deadline_rule(own.deadline, filled.now, filled.policy.limits.max.deadline_seconds)
    if rule is not None:
        yield Fault(path, rule)


def _is_at(text: str, instant: str | None) -> bool:
    return isinstance(parse_deadline(text), datetime) and in_utc(text) == instant
