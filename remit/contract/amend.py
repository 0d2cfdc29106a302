"""The next contract version that a worker drafted: the gate runs on it, and it may only tighten.

Pure; the supervisor calls it.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from remit.contract.build import command
from remit.contract.document import as_document
from remit.contract.gate import normalise
from remit.contract.normal import Workflow
from remit.contract.widening import widening
from remit.errors import ContractInvalidError
from remit.faults import Fault, lines
from remit.policy.model import Policy

_LAID_OVER = frozenset({"limits", "constraints", "permissions", "checks", "commands", "inputs", "output_schemas"})
_TEXTS = ("definition_of_done", "must_preserve", "security")


def amend(current: Workflow, draft: Mapping[str, Any], policy: Policy, *, now: datetime) -> Workflow:
    """The normal form of the next version; raises ContractInvalidError naming whatever the draft widens or drops.

    A draft has the shape of a workflow file and may leave out what stays as approved: fields, tasks and keys of
    mappings. A list that it gives is the whole list. Its references must be resolved.
    """
    if draft.get("schema_version") != current.schema_version:
        raise ContractInvalidError([str(Fault(("schema_version",), f"must be {current.schema_version}"))])
    workflow = normalise(
        _laid_over(as_document(current, policy.output_schemas), draft),
        policy,
        now=now,
        workflow_id=current.workflow_id,
        tenant_id=current.tenant_id,
        resolved=True,
    )
    commands = {name: command(model) for name, model in policy.commands.items()}
    found = lines(widening(current, workflow, commands), draft)
    if found:
        raise ContractInvalidError(found)
    return workflow


def _laid_over(base: Mapping[str, Any], draft: Mapping[str, Any]) -> dict[str, Any]:
    document = _merged(base, draft)
    approved = {task_id: _lowered(task, document["limits"]) for task_id, task in base["tasks"].items()}
    given = draft.get("tasks", {})
    if isinstance(given, Mapping):
        document["tasks"] = approved | {task_id: _task(approved.get(task_id), task) for task_id, task in given.items()}
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
    return {**task, "limits": {name: _lower(value, bounds.get(name)) for name, value in task["limits"].items()}}


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
