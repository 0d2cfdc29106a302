"""The next version of a contract: laid over the one in force, through the gate, and compared with it.

A worker's draft may only tighten. An amendment from outside may also ask for more: what it widens or drops is named,
so that a person can decide on exactly that. Pure; supervisor and client call it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from remit.contract.build import command
from remit.contract.document import as_document
from remit.contract.gate import normalise
from remit.contract.normal import TaskContract, Workflow
from remit.contract.widening import Difference, widening
from remit.errors import ContractInvalidError
from remit.faults import Fault, lines
from remit.policy.model import Policy

_LAID_OVER = frozenset({"limits", "constraints", "permissions", "checks", "commands", "inputs", "output_schemas"})
_TEXTS = ("definition_of_done", "must_preserve", "security")


@dataclass(frozen=True)
class Amendment:
    """A version that passed the gate, and one line for each thing that it widens or drops, in file order.

    `forbidden` are the lines of security requirements that it drops or weakens: nobody may allow those.
    """

    workflow: Workflow
    widens: tuple[str, ...]
    forbidden: tuple[str, ...]


def amend(current: Workflow, draft: Mapping[str, Any], policy: Policy, *, now: datetime) -> Workflow:
    """The normal form of the next version; raises ContractInvalidError naming whatever the draft widens or drops.

    A draft has the shape of a workflow file and may leave out what stays as approved: fields, tasks and keys of
    mappings. A list that it gives is the whole list. Its references must be resolved.
    """
    workflow = _version(current, draft, policy, now)
    found = [Fault(each.path, each.rule) for each in _differences(current, workflow, policy)]
    if found:
        raise ContractInvalidError(lines(found, draft))
    return workflow


def amended(current: Workflow, document: Mapping[str, Any], policy: Policy, *, now: datetime) -> Amendment:
    """The version that an amendment from outside asks for; raises ContractInvalidError where the gate refuses it.

    Its document is that of a draft. A task that it gives as null is removed.
    """
    workflow = _version(current, document, policy, now)
    found = _differences(current, workflow, policy)
    return Amendment(
        workflow,
        widens=_effects([each for each in found if not each.security], document),
        forbidden=_effects([each for each in found if each.security], document),
    )


def _effects(found: list[Difference], document: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(lines([Fault(each.path, each.effect) for each in found], document))


def _differences(current: Workflow, workflow: Workflow, policy: Policy) -> list[Difference]:
    commands = {name: command(model) for name, model in policy.commands.items()}
    return list(widening(current, workflow, commands))


def _version(current: Workflow, draft: Mapping[str, Any], policy: Policy, now: datetime) -> Workflow:
    if draft.get("schema_version") != current.schema_version:
        raise ContractInvalidError([str(Fault(("schema_version",), f"must be {current.schema_version}"))])
    return regated(current, _laid_over(as_document(current, policy.output_schemas), draft), policy, now=now)


def regated(current: Workflow, document: Mapping[str, Any], policy: Policy, *, now: datetime) -> Workflow:
    """A whole document through the gate as a version of `current`.

    Tasks that a worker proposed stay known as such; those that verify others keep their share of unchanged limits.
    """
    workflow = normalise(
        document,
        policy,
        now=now,
        workflow_id=current.workflow_id,
        tenant_id=current.tenant_id,
        resolved=True,
        approved=current,
    )
    same_limits = workflow.limits == current.limits
    carried = {
        task_id: _carried(old, task, same_limits=same_limits)
        for task_id, task in workflow.tasks.items()
        if (old := current.tasks.get(task_id)) is not None
    }
    return replace(workflow, tasks=workflow.tasks | carried)


def _carried(old: TaskContract, task: TaskContract, *, same_limits: bool) -> TaskContract:
    """What no document says of a task."""
    if old.parent is not None:
        return replace(task, parent=old.parent, depth=old.depth)
    return replace(task, limits=old.limits) if task.verifies is not None and same_limits else task


def changed_places(current: Workflow, document: Mapping[str, Any], policy: Policy) -> tuple[str, ...]:
    """Where a document, laid over the version in force, says otherwise; for one that was made on another version."""
    base = as_document(current, policy.output_schemas)
    over = _laid_over(base, document) if isinstance(document.get("tasks", {}), Mapping) else dict(document)
    return tuple(lines([Fault(path, ": differs") for path in _unlike(base, over)], document))


def _unlike(base: object, other: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(base, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys((*base, *other)):
            yield from _unlike(base.get(key), other.get(key), (*path, str(key)))
    elif base != other:
        yield path


def _laid_over(base: Mapping[str, Any], draft: Mapping[str, Any]) -> dict[str, Any]:
    document = _merged(base, draft)
    approved = {task_id: _lowered(task, document["limits"]) for task_id, task in base["tasks"].items()}
    given = draft.get("tasks", {})
    if isinstance(given, Mapping):
        tasks = approved | {task_id: _task(approved.get(task_id), task) for task_id, task in given.items()}
        removed = {task_id for task_id, task in given.items() if task is None and task_id in approved}
        document["tasks"] = {task_id: task for task_id, task in tasks.items() if task_id not in removed}
    _drop_checks(document, draft)
    return document


def _drop_checks(document: dict[str, Any], draft: Mapping[str, Any]) -> None:
    """Approved checks go with the texts that the draft left out, so that the fault names the missing requirement."""
    wanted = [*_texts(document), *_texts(document.get("constraints"))]
    tasks = document["tasks"]
    for task in tasks.values() if isinstance(tasks, Mapping) else ():
        wanted += _texts(task)
    given = draft.get("checks", {})
    if isinstance(document["checks"], dict):
        kept = {text: checks for text, checks in document["checks"].items() if text in wanted or text in given}
        document["checks"] = kept


def _texts(part: object) -> list[object]:
    lists = [part.get(name) for name in _TEXTS] if isinstance(part, Mapping) else []
    return [text for texts in lists if isinstance(texts, list) for text in texts]


def _task(base: Mapping[str, Any] | None, task: object) -> object:
    return _merged(base, task) if base is not None and isinstance(task, Mapping) else task


def _merged(base: Mapping[str, Any], draft: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**base, **draft}
    for part in _LAID_OVER & base.keys() & draft.keys():
        if isinstance(draft[part], Mapping):
            merged[part] = {**base[part], **draft[part]}
    return merged


def _lowered(task: Mapping[str, Any], workflow: object) -> dict[str, Any]:
    """An approved task whose limits follow the workflow's down."""
    bounds = workflow if isinstance(workflow, Mapping) else {}
    lowered = {**task, "limits": {name: _lower(value, bounds.get(name)) for name, value in task["limits"].items()}}
    if isinstance(plan := task.get("spawn"), Mapping) and "max_cost_gbp" in plan:
        lowered["spawn"] = {**plan, "max_cost_gbp": _lower(plan["max_cost_gbp"], bounds.get("max_cost_gbp"))}
    return lowered


def _lower(value: Any, bound: Any) -> Any:  # noqa: ANN401  (values of the document)
    if type(value) is type(bound) is int:
        return min(value, bound)
    if isinstance(value, str) and isinstance(bound, str):
        return _lower_money(value, bound)
    return value


def _lower_money(value: str, bound: str) -> str:
    try:
        return bound if Decimal(bound) < Decimal(value) else value
    except ArithmeticError:  # no money: a deadline, or a fault that the gate tells
        return value
