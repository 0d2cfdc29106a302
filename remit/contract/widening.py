"""What another version of a contract would widen or drop against the approved one. Pure; the amendments import it.

A version may tighten: lower limits, narrower grants, paths, tools and spawn plans, more requirements, checks and
constraints. Whatever else differs is named here: a fault of a worker's draft, a question to a person in an amendment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from remit.contract.normal import Check, Command, Limits, Permissions, Requirement, SpawnPlan, TaskContract, Workflow
from remit.contract.verification import without_verifications
from remit.faults import Path
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
_STAYS = "must stay as approved"
_MORE = "is more than the approved version grants"


@dataclass(frozen=True)
class Difference:
    """One place where a version is wider than the approved one, or other.

    `rule` is what a draft breaks there, `effect` what a person would allow. Dropping or weakening a security
    requirement is nobody's to allow.
    """

    path: Path
    rule: str
    effect: str
    security: bool = False


def widening(current: Workflow, version: Workflow, policy_commands: Mapping[str, Command]) -> Iterator[Difference]:
    """Every place where `version` is wider than `current`, or other; tasks of verifiers are the policy's own."""
    current, version = without_verifications(current), without_verifications(version)
    yield from _same(current, version, (*_SAME_WORKFLOW, "data_classification", "effects"), ())
    yield from _kept("constraints", current.constraints, version.constraints)
    yield from _kept("inputs", current.inputs, version.inputs)
    yield from limits(current.limits, version.limits, ("limits",))
    yield from _requirements(current, version)
    yield from _commands(current, version, policy_commands)
    yield from _tasks(current.tasks, version.tasks)


def _same(
    current: msgspec.Struct, version: msgspec.Struct, fields: tuple[str, ...], path: Path
) -> Iterator[Difference]:
    for field in fields:
        if getattr(current, field) != getattr(version, field):
            yield Difference((*path, field), _STAYS, "changes")


def _kept(part: str, current: Mapping[str, object], version: Mapping[str, object]) -> Iterator[Difference]:
    for name, value in current.items():
        if version.get(name) != value:
            yield Difference((part, name), _STAYS, "changes" if name in version else "is dropped")


def limits(current: Limits, version: Limits, path: Path, whose: str = "approved version") -> Iterator[Difference]:
    """Limits of `version` that are above those of `current`."""
    for field in Limits.__struct_fields__:
        most, value = getattr(current, field), getattr(version, field)
        if most is not None and (value is None or _key(value) > _key(most)):
            yield Difference((*path, field), f"must be at most {most} ({whose})", f": {most} -> {value or 'unlimited'}")


def _key(value: Any) -> Any:  # noqa: ANN401  (int, Decimal or a deadline)
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _requirements(current: Workflow, version: Workflow) -> Iterator[Difference]:
    new = {(one.source, one.task, one.text): one for one in version.requirements}
    for number, one in enumerate(current.requirements):
        other = new.get((one.source, one.task, one.text))
        path = _requirement_path(current, number)
        if other is None:
            yield Difference(path, "of the approved version is missing", f"is dropped ({one.id})", one.security)
        else:
            yield from _requirement(one, other, path)


def _requirement(one: Requirement, other: Requirement, path: Path) -> Iterator[Difference]:
    if (other.mandatory, other.security) != (one.mandatory, one.security):
        yield Difference(path, _STAYS, f"changes ({one.id})", one.security)
    checks: dict[str, Check] = {check.id: check for check in other.checks}
    for check in one.checks:
        if checks.get(check.id) != check:
            effect = f": check {check.id} {'changes' if check.id in checks else 'is dropped'} ({one.id})"
            yield Difference(path, f": check {check.id} {_STAYS}", effect, one.security)


def _requirement_path(workflow: Workflow, number: int) -> Path:
    """The place of a requirement in its list of the approved version."""
    source, task = workflow.requirements[number].source, workflow.requirements[number].task
    position = sum((one.source, one.task) == (source, task) for one in workflow.requirements[:number])
    if source != "definition_of_done":
        return ("constraints", source, position)
    return (source, position) if task is None else ("tasks", task, source, position)


def _commands(current: Workflow, version: Workflow, policy_commands: Mapping[str, Command]) -> Iterator[Difference]:
    secured = {check.command for one in current.requirements if one.security for check in one.checks}
    for name, command in version.commands.items():
        if command not in (current.commands.get(name), policy_commands.get(name)):
            effect = "changes" if name in current.commands else "is a new command line"
            rule = "is not a command of the approved version or the policy"
            yield Difference(("commands", name), rule, effect, security=name in secured)
    for name, command in current.commands.items():
        if version.commands.get(name, command) != command:
            yield Difference(("commands", name), _STAYS, "changes", security=name in secured)


def _tasks(current: Mapping[str, TaskContract], version: Mapping[str, TaskContract]) -> Iterator[Difference]:
    for task_id in version:
        if task_id not in current:
            yield Difference(("tasks", task_id), "is not a task of the approved version", "is a new task")
    for task_id, task in current.items():
        if task_id in version:
            yield from _task(task, version[task_id])
        else:
            yield Difference(("tasks", task_id), "of the approved version is missing", "is removed")


def _task(current: TaskContract, version: TaskContract) -> Iterator[Difference]:
    path: Path = ("tasks", current.task_id)
    yield from _same(current, version, _SAME_TASK, path)
    yield from limits(current.limits, version.limits, (*path, "limits"))
    yield from permissions(current.permissions, version.permissions, (*path, "permissions"))
    for number, tool in enumerate(version.tools):
        if tool not in current.tools:
            yield Difference((*path, "tools", number), "is not a tool of the approved version", "is a further tool")
    if version.spawn is not None:
        yield from _spawn(current.spawn, version.spawn, (*path, "spawn"))


def permissions(current: Permissions, version: Permissions, path: Path) -> Iterator[Difference]:
    """Grants and paths of `version` beyond those of `current`."""
    for resource, grant in version.grants.items():
        had = current.grants.get(resource, "none")
        if not covers([had], grant):
            yield Difference((*path, resource), _MORE, f": {had} -> {grant}")
    if current.paths and not version.paths:
        yield Difference((*path, "paths"), _MORE, "allows every path")
    for number, glob in enumerate(version.paths):
        if current.paths and not covers_path(current.paths, glob):
            yield Difference((*path, "paths", number), _MORE, "allows further paths")


def _spawn(current: SpawnPlan | None, version: SpawnPlan, path: Path) -> Iterator[Difference]:
    if current is None:
        yield Difference(path, _MORE, "lets it propose tasks")
        return
    for number, name in enumerate(version.types):
        if name not in current.types:
            yield Difference((*path, "types", number), _MORE, "is a further type")
    for field in ("max_subtasks", "max_cost_gbp"):
        most, value = getattr(current, field), getattr(version, field)
        if most is not None and (value is None or value > most):
            yield Difference((*path, field), _MORE, f": {most} -> {value or 'unlimited'}")
