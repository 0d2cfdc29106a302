"""What a drafted contract version would widen or drop against the approved one. Pure; only the gate imports it.

A draft may tighten: lower limits, narrower grants, paths and tools, more requirements, checks and constraints. Whatever
else differs is a fault.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from remit.contract.normal import Check, Command, Limits, Permissions, TaskContract, Workflow
from remit.faults import Fault, Path
from remit.policy.permissions import covers, covers_path

_SAME_WORKFLOW = ("schema_version", "tenant_id", "workflow_id", "workflow_type", "owner", "objective")
_SAME_TASK = (
    "task_type",
    "capability",
    "pool",
    "objective",
    "depends_on",
    "inputs",
    "outputs",
    "risk_class",
    "output_schema",
    "rework",
)


def widening(current: Workflow, draft: Workflow, policy_commands: Mapping[str, Command]) -> Iterator[Fault]:
    """Every place where `draft` is wider than `current`, or other."""
    yield from _same(current, draft, (*_SAME_WORKFLOW, "data_classification", "effects"), ())
    yield from _kept("constraints", current.constraints, draft.constraints)
    yield from _kept("inputs", current.inputs, draft.inputs)
    yield from _limits(current.limits, draft.limits, ("limits",))
    yield from _requirements(current, draft)
    yield from _commands(current, draft, policy_commands)
    yield from _tasks(current, draft)


def _same(current: msgspec.Struct, draft: msgspec.Struct, fields: tuple[str, ...], path: Path) -> Iterator[Fault]:
    for field in fields:
        if getattr(current, field) != getattr(draft, field):
            yield Fault((*path, field), "must stay as approved")


def _kept(part: str, current: Mapping[str, object], draft: Mapping[str, object]) -> Iterator[Fault]:
    for name, value in current.items():
        if draft.get(name) != value:
            yield Fault((part, name), "must stay as approved")


def _limits(current: Limits, draft: Limits, path: Path) -> Iterator[Fault]:
    for field in Limits.__struct_fields__:
        most, value = getattr(current, field), getattr(draft, field)
        if most is not None and (value is None or _key(value) > _key(most)):
            yield Fault((*path, field), f"must be at most {most} (approved version)")


def _key(value: Any) -> Any:  # noqa: ANN401  (int, Decimal or a deadline)
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _requirements(current: Workflow, draft: Workflow) -> Iterator[Fault]:
    new = {(one.source, one.task, one.text): one for one in draft.requirements}
    for number, one in enumerate(current.requirements):
        other = new.get((one.source, one.task, one.text))
        path = _requirement_path(current, number)
        if other is None:
            yield Fault(path, "of the approved version is missing")
            continue
        if (other.mandatory, other.security) != (one.mandatory, one.security):
            yield Fault(path, "must stay as approved")
        checks: dict[str, Check] = {check.id: check for check in other.checks}
        for check in one.checks:
            if checks.get(check.id) != check:
                yield Fault(path, f": check {check.id} must stay as approved")


def _requirement_path(workflow: Workflow, number: int) -> Path:
    """The place of a requirement in its list of the approved version."""
    source, task = workflow.requirements[number].source, workflow.requirements[number].task
    position = sum((one.source, one.task) == (source, task) for one in workflow.requirements[:number])
    if source != "definition_of_done":
        return ("constraints", source, position)
    return (source, position) if task is None else ("tasks", task, source, position)


def _commands(current: Workflow, draft: Workflow, policy_commands: Mapping[str, Command]) -> Iterator[Fault]:
    for name, command in draft.commands.items():
        if command not in (current.commands.get(name), policy_commands.get(name)):
            yield Fault(("commands", name), "is not a command of the approved version or the policy")
    for name, command in current.commands.items():
        if draft.commands.get(name, command) != command:
            yield Fault(("commands", name), "must stay as approved")


def _tasks(current: Workflow, draft: Workflow) -> Iterator[Fault]:
    for task_id in draft.tasks:
        if task_id not in current.tasks:
            yield Fault(("tasks", task_id), "is not a task of the approved version")
    for task_id, task in current.tasks.items():
        if task_id in draft.tasks:
            yield from _task(task, draft.tasks[task_id])
        else:
            yield Fault(("tasks", task_id), "of the approved version is missing")


def _task(current: TaskContract, draft: TaskContract) -> Iterator[Fault]:
    path: Path = ("tasks", current.task_id)
    yield from _same(current, draft, _SAME_TASK, path)
    yield from _limits(current.limits, draft.limits, (*path, "limits"))
    yield from _permissions(current.permissions, draft.permissions, (*path, "permissions"))
    for number, tool in enumerate(draft.tools):
        if tool not in current.tools:
            yield Fault((*path, "tools", number), "is not a tool of the approved version")


def _permissions(current: Permissions, draft: Permissions, path: Path) -> Iterator[Fault]:
    for resource, grant in draft.grants.items():
        if not covers([current.grants.get(resource, "none")], grant):
            yield Fault((*path, resource), "is more than the approved version grants")
    if current.paths and not draft.paths:
        yield Fault((*path, "paths"), "is more than the approved version grants")
    for number, glob in enumerate(draft.paths):
        if current.paths and not covers_path(current.paths, glob):
            yield Fault((*path, "paths", number), "is more than the approved version grants")
