"""Tasks that a worker proposes, judged against the plan and the contract of the task that proposes them. Pure.

A plan grants types, depth, breadth, count and money; the contract of the proposing task bounds all the rest. Only the
supervisor calls it.
"""

from collections.abc import Iterator
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from typing import Any, NamedTuple

from msgspec.structs import replace

from remit.contract.amend import regated
from remit.contract.document import as_document
from remit.contract.limits import PER_TASK, SHARED, share
from remit.contract.normal import Permissions, SpawnPlan, TaskContract, Workflow, task_hash
from remit.contract.widening import limits, permissions
from remit.errors import ContractInvalidError
from remit.faults import Fault, lines
from remit.policy.model import LimitsModel, Policy, TaskType
from remit.result.subtasks import Subtask

_RISK = ("low", "medium", "high")
_MONEY_STEP = Decimal("0.000001")


class Refusal(NamedTuple):
    """Why a proposal is not taken up: a reason of the closed list, and where or what."""

    reason: str
    detail: str | None = None


def ungranted(contract: Workflow, parent_id: str, proposal: Subtask, policy: Policy, *, among: int) -> Refusal | None:
    """The first thing that the proposal asks for and its parent's contract does not grant.

    A limit that it leaves out is the workflow's share of one `among` so many tasks, as far as type and parent allow.
    """
    parent, plan = contract.tasks[parent_id], contract.tasks[parent_id].spawn
    if plan is None:
        return Refusal("not_granted", f"task {parent_id} has no spawn plan")
    if proposal.task_type not in plan.types:
        return Refusal("type_not_granted", "task_type is none of the spawn plan's types")
    if (refused := _beyond_counts(contract, parent, plan)) is not None:
        return refused
    task_type = policy.task_types.get(proposal.task_type)
    if wider := lines(_wider(parent, proposal, task_type), {}):
        return Refusal("tools_not_granted", "; ".join(wider))
    cost = _limits(contract, parent, proposal, task_type, among).get("max_cost_gbp")
    dearer = lines(_dearer(contract, parent, proposal, cost or Decimal(0)), {})
    return Refusal("budget", "; ".join(dearer)) if dearer else None


def with_child(
    contract: Workflow, parent_id: str, proposal: Subtask, policy: Policy, *, now: datetime, among: int
) -> Workflow:
    """The next version, with the proposed task in it; raises ContractInvalidError where the gate refuses it.

    It depends on its parent, whatever else it depends on, and may propose tasks by its parent's plan.
    """
    document = as_document(contract, policy.output_schemas)
    parent, task_type = contract.tasks[parent_id], policy.task_types.get(proposal.task_type)
    said = proposal.model_dump(exclude={"id"}, exclude_none=True)
    child = said | {
        "permissions": said["permissions"] | {"paths": list(_paths(parent, proposal))},
        "depends_on": list(dict.fromkeys([parent_id, *proposal.depends_on])),
        "limits": _limits(contract, parent, proposal, task_type, among),
        "spawn": document["tasks"][parent_id]["spawn"],
    }
    document["tasks"] = document["tasks"] | {proposal.id: child}
    version = regated(contract, document, policy, now=now)
    if faults := list(_beside(contract, version, proposal.id)):
        raise ContractInvalidError(lines(faults, document))
    own = replace(version.tasks[proposal.id], parent=parent_id, depth=parent.depth + 1)
    return replace(version, tasks=version.tasks | {proposal.id: own})


def _beside(contract: Workflow, version: Workflow, child_id: str) -> Iterator[Fault]:
    """It brings its own checks, and changes nothing of what other tasks must do or show."""
    if not version.checks_of(child_id):
        yield Fault(("tasks", child_id, "definition_of_done"), "is required: nothing would check its result")
    for task_id in contract.tasks:
        if task_id not in version.tasks or task_hash(version, task_id) != task_hash(contract, task_id):
            yield Fault(("tasks", child_id, "definition_of_done"), f"changes what task {task_id} must show")


def _limits(
    contract: Workflow, parent: TaskContract, proposal: Subtask, task_type: TaskType | None, among: int
) -> dict[str, Any]:
    """By name what the proposal says, else the least of its type's, its parent's and its share."""
    whole, part = contract.limits, share(among)
    typical = task_type.limits if task_type else LimitsModel()
    found: dict[str, Any] = {}
    for name in (*SHARED, *PER_TASK):
        asked, most = getattr(proposal.limits, name), getattr(whole, name)
        bounds = [getattr(typical, name), getattr(parent.limits, name), part(most) if name in SHARED else most]
        bounds += [_plan_share(parent.spawn)] if name == "max_cost_gbp" else []
        known = [each for each in bounds if each is not None]
        found[name] = asked if asked is not None else min(known, default=None)
    others = proposal.limits.model_dump(exclude_none=True)  # the gate says of those that they are the workflow's
    return others | {name: value for name, value in found.items() if value is not None}


def _plan_share(plan: SpawnPlan | None) -> Decimal | None:
    if plan is None or plan.max_cost_gbp is None:
        return None
    return (plan.max_cost_gbp / plan.max_subtasks).quantize(_MONEY_STEP, ROUND_DOWN)


def _beyond_counts(contract: Workflow, parent: TaskContract, plan: SpawnPlan) -> Refusal | None:
    deepest, most = contract.limits.max_depth, contract.limits.max_tasks
    if deepest is not None and parent.depth + 1 > deepest:
        return Refusal("depth_exceeded", f"limits.max_depth is {deepest}")
    if most is not None and len(ordinary(contract)) >= most:
        return Refusal("task_limit", f"limits.max_tasks is {most}")
    if sum(task.parent == parent.task_id for task in contract.tasks.values()) >= plan.max_subtasks:
        return Refusal("task_limit", f"spawn.max_subtasks is {plan.max_subtasks}")
    return None


def ordinary(contract: Workflow) -> list[str]:
    """The tasks that count against `max_tasks`: all but those that the policy adds to verify others."""
    return [task_id for task_id, task in contract.tasks.items() if task.verifies is None]


def _wider(parent: TaskContract, proposal: Subtask, task_type: TaskType | None) -> Iterator[Fault]:
    """Tools, permissions, paths and risk beyond the parent's."""
    tools = proposal.tools if proposal.tools is not None else (task_type.tools if task_type else [])
    for number, tool in enumerate(tools):
        if tool not in parent.tools:
            yield Fault(("tools", number), "is not a tool of the proposing task")
    grants = {**(task_type.permissions if task_type else {}), **proposal.permissions.grants}
    asked = Permissions(grants=grants, paths=_paths(parent, proposal))
    for each in permissions(parent.permissions, asked, ("permissions",)):
        yield Fault(each.path, "is more than the proposing task has")
    risk = proposal.risk_class or (task_type.risk_class if task_type else "low")
    if _RISK.index(risk) > _RISK.index(parent.risk_class):
        yield Fault(("risk_class",), f"must be at most {parent.risk_class} (proposing task)")


def _paths(parent: TaskContract, proposal: Subtask) -> tuple[str, ...]:
    """Which paths its commits may touch: as it says, else the parent's."""
    return tuple(proposal.permissions.paths) or parent.permissions.paths


def _dearer(contract: Workflow, parent: TaskContract, proposal: Subtask, cost: Decimal) -> Iterator[Fault]:
    """Limits above the parent's, and money beyond the plan of any task that this one descends from."""
    own = proposal.limits.model_dump(exclude_none=True)
    asked = replace(parent.limits, **{name: own[name] for name in (*SHARED, *PER_TASK) if name in own})
    for each in limits(parent.limits, asked, ("limits",), "proposing task"):
        yield Fault(each.path, each.rule)
    for ancestor in _line_of(contract, parent):
        most = ancestor.spawn.max_cost_gbp if ancestor.spawn else None
        if most is not None and _granted_below(contract, ancestor.task_id) + cost > most:
            yield Fault(("limits", "max_cost_gbp"), f"is more than the spawn plan of {ancestor.task_id} has left")


def _line_of(contract: Workflow, task: TaskContract | None) -> Iterator[TaskContract]:
    """The task, its parent, and so on."""
    while task is not None:
        yield task
        task = contract.tasks.get(task.parent or "")


def _granted_below(contract: Workflow, ancestor_id: str) -> Decimal:
    """Pounds that the limits of all tasks add up to which descend from that one."""
    below = [
        task
        for task in contract.tasks.values()
        if any(each.task_id == ancestor_id for each in _line_of(contract, contract.tasks.get(task.parent or "")))
    ]
    return sum((task.limits.max_cost_gbp or Decimal(0) for task in below), Decimal(0))
