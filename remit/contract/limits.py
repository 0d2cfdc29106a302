"""Effective limits: what a contract says, else its share, else the policy's default; never unlimited. Pure.

What is used up (seconds, pounds, tokens, tool calls) is shared: a task that says nothing gets its type's amount, else
the workflow's divided by the number of tasks. What is counted per task (attempts, reworks, turns) is a ceiling that
each task has for itself. Tasks, depth and workers are the workflow's alone.
"""

from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from typing import Any

from remit.contract import normal
from remit.contract.deadlines import in_utc, seconds_until
from remit.contract.filled import Filled, Task
from remit.policy.model import LimitsModel

SHARED = ("deadline_seconds", "max_cost_gbp", "max_tokens", "max_tool_calls")
PER_TASK = ("max_attempts", "max_reworks", "max_turns")
WORKFLOW_ONLY = ("max_tasks", "max_depth", "max_workers")
_MONEY_STEP = Decimal("0.000001")


def workflow_limits(filled: Filled) -> normal.Limits:
    """Limits of the whole workflow; needs a file without faults."""
    own = filled.file.limits
    values: dict[str, Any] = {field: workflow_limit(filled, field) for field in (*SHARED, *PER_TASK, *WORKFLOW_ONLY)}
    if own.deadline is not None:
        values["deadline"] = in_utc(own.deadline)
        if own.deadline_seconds is None:
            values["deadline_seconds"] = seconds_until(own.deadline, filled.now)
    return normal.Limits(**values)


def workflow_limit(filled: Filled, field: str) -> Any:  # noqa: ANN401  (int, Decimal or None by field)
    """One limit of the workflow: its own, else the policy's default, lifted to what a task asks of a per-task one."""
    own = getattr(filled.file.limits, field)
    if own is not None:
        return own
    default = getattr(filled.policy.limits.default, field)
    asked = [getattr(task.own.limits, field) for task in filled.tasks.values()] if field in PER_TASK else []
    return _greatest([default, *asked])


def task_limits(filled: Filled, task: Task, workflow: normal.Limits) -> normal.Limits:
    """Limits of one task; needs a file without faults."""
    own = task.own.limits
    values: dict[str, Any] = {
        field: _own_or_type(task, field, getattr(workflow, field), share)
        for fields, share in ((SHARED, share(len(filled.tasks))), (PER_TASK, _whole))
        for field in fields
    }
    if own.deadline is not None:
        values["deadline"] = in_utc(own.deadline)
    return normal.Limits(**values)


def _own_or_type(task: Task, field: str, whole: Any, share: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    own = getattr(task.own.limits, field)
    if own is not None:
        return own
    typical = getattr(task.type.limits if task.type else LimitsModel(), field)
    if typical is not None:
        return _least([typical, whole])
    return share(whole)


def share(tasks: int) -> Callable[[Any], Any]:
    """What one of so many tasks gets of a whole that is used up: rounded down, counts at least 1."""

    def part(whole: Any) -> Any:  # noqa: ANN401  (int, Decimal or None)
        if isinstance(whole, Decimal):
            return (whole / tasks).quantize(_MONEY_STEP, ROUND_DOWN)
        return None if whole is None else max(1, whole // tasks)

    return part


def _whole(whole: Any) -> Any:  # noqa: ANN401  (int, Decimal or None)
    return whole


def _greatest(values: list[Any]) -> Any:  # noqa: ANN401  (int, Decimal or None)
    return _fold(max, values)


def _least(values: list[Any]) -> Any:  # noqa: ANN401  (int, Decimal or None)
    return _fold(min, values)


def _fold(choose: Callable[..., Any], values: list[Any]) -> Any:  # noqa: ANN401  (int, Decimal or None)
    known = [value for value in values if value is not None]
    return choose(known) if known else None
