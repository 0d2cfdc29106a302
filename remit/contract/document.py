"""Writes a normal form back as a workflow file that says everything: the base that a drafted version is laid over.

Pure; the amendment uses it, and whoever shows people the contract in force. `normalise` of it gives the same form.
"""

import json
from collections.abc import Collection
from typing import Any

import msgspec

from remit.contract.normal import Check, Permissions, Requirement, TaskContract, Workflow
from remit.contract.verification import without_verifications


def as_document(workflow: Workflow, policy_schemas: Collection[str]) -> dict[str, Any]:
    """The workflow file of a normal form; output schemas named in `policy_schemas` are left to the policy.

    Verifications are the policy's and not the file's: the gate adds them anew.
    """
    workflow = without_verifications(workflow)
    names = ("workflow_id", "workflow_type", "tenant_id", "owner", "objective", "data_classification")
    document = {"schema_version": workflow.schema_version} | {name: getattr(workflow, name) for name in names}
    return document | {
        "inputs": {name: value.reference for name, value in workflow.inputs.items()},
        "constraints": _constraints(workflow),
        "definition_of_done": _texts(workflow, "definition_of_done"),
        "limits": _said(workflow.limits),
        "effects": [_said(effect) for effect in workflow.effects],
        "commands": {name: _said(command) for name, command in workflow.commands.items()},
        "checks": {one.text: [_check(check, one) for check in one.checks] for one in workflow.requirements},
        "output_schemas": _schemas(workflow, policy_schemas),
        "tasks": {task_id: _task(workflow, task) for task_id, task in workflow.tasks.items()},
    }


def _constraints(workflow: Workflow) -> dict[str, Any]:
    lists = {source: _texts(workflow, source) for source in ("must_preserve", "security")}
    return {**workflow.constraints, **lists}


def _texts(workflow: Workflow, source: str, task: str | None = None) -> list[str]:
    return [one.text for one in workflow.requirements if (one.source, one.task) == (source, task)]


def _said(part: msgspec.Struct) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(msgspec.json.encode(part))  # lists, not tuples, as a document has them
    return {name: value for name, value in plain.items() if value is not None}


def _check(check: Check, requirement: Requirement) -> dict[str, Any]:
    said = _said(check)
    if requirement.task == check.task:  # the same text may stand in other tasks, each with its own check
        del said["task"]
    return said


def _schemas(workflow: Workflow, policy_schemas: Collection[str]) -> dict[str, Any]:
    found = [task.output_schema for task in workflow.tasks.values() if task.output_schema is not None]
    return {schema.name: json.loads(schema.text) for schema in found if schema.name not in policy_schemas}


def _task(workflow: Workflow, task: TaskContract) -> dict[str, Any]:
    names = ("task_type", "objective", "pool", "capability", "risk_class", "rework")
    return {name: getattr(task, name) for name in names} | {
        "depends_on": list(task.depends_on),
        "inputs": {name: value.reference for name, value in task.inputs.items()},
        "outputs": {name: kind.value for name, kind in task.outputs.items()},
        "permissions": _permissions(task.permissions),
        "tools": list(task.tools),
        "limits": _said(task.limits),
        "output_schema": task.output_schema.name if task.output_schema else None,
        "definition_of_done": _texts(workflow, "definition_of_done", task.task_id),
        "spawn": _said(task.spawn) if task.spawn else None,
    }


def _permissions(permissions: Permissions) -> dict[str, Any]:
    return {**permissions.grants, "paths": list(permissions.paths)}
