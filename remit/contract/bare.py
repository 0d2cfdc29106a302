"""Makes one-task workflows of bare contracts and task envelopes; the policy gives what they lack.

Pure; only the gate imports it. Both keep the places of their own fields: `place` turns a path of the workflow back into
one of the document.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from remit.contract.file import TaskContractFile, TaskEnvelopeFile, WorkflowFile
from remit.faults import Fault, Path
from remit.policy.model import Policy

Place = Callable[[Path], Path]


@dataclass(frozen=True)
class Expanded:
    """A document as a workflow, the name of its kind of work, and the way back to the document's own places."""

    file: WorkflowFile
    workflow_type: str
    place: Place


def expand_contract(bare: TaskContractFile, policy: Policy) -> Expanded | Fault:
    """The workflow of a bare contract, or the fault that no task type fits it."""
    task_type = bare.task_type or _type_by_schema(bare.output_schema, policy)
    if isinstance(task_type, Fault):
        return task_type
    task = bare.model_dump(include={"inputs", "output_schema"}) | {
        "task_type": task_type,
        "definition_of_done": [],  # stands on the workflow's own level
        "permissions": bare.permissions.model_dump(),
    }
    top = bare.model_dump(exclude={"schema_version", "task_type", "inputs", "output_schema", "permissions"})
    done = bare.definition_of_done or _done(task_type, policy)
    document = top | {"schema_version": "workflow-v1", "definition_of_done": done, "tasks": {task_type: task}}
    return Expanded(WorkflowFile.model_validate(document), task_type, _contract_place)


def _type_by_schema(name: str, policy: Policy) -> str | Fault:
    found = [key for key, task_type in policy.task_types.items() if task_type.output_schema == name]
    if len(found) == 1:
        return found[0]
    if found:
        return Fault(("task_type",), "is required: several task types of the policy have this output_schema")
    return Fault(("output_schema",), "is not the output_schema of a task type of the policy")


def _done(task_type: str, policy: Policy) -> list[str]:
    known = policy.task_types.get(task_type)
    return known.definition_of_done if known else []


def _contract_place(path: Path) -> Path:
    """`tasks.T.permissions.repository` is `permissions.repository` of the contract."""
    return path[2:] if path[:1] == ("tasks",) else path


def expand_envelope(envelope: TaskEnvelopeFile, policy: Policy) -> Expanded:
    """The workflow of a task envelope; workflow and task both carry the envelope's `task_id`."""
    task_type = policy.task_types.get(envelope.task_type)
    document: dict[str, Any] = {
        "schema_version": "workflow-v1",
        "workflow_id": envelope.task_id,
        "tenant_id": envelope.tenant_id,
        "owner": envelope.owner,
        "objective": (task_type and task_type.objective) or envelope.task_type,
        "definition_of_done": _done(envelope.task_type, policy),
        "limits": {"deadline": envelope.deadline, "max_attempts": envelope.max_attempts},
        "tasks": {envelope.task_id: _envelope_task(envelope)},
    }
    return Expanded(WorkflowFile.model_validate(document), envelope.task_type, _envelope_place)


def _envelope_task(envelope: TaskEnvelopeFile) -> dict[str, Any]:
    return {
        "task_type": envelope.task_type,
        "definition_of_done": [],  # stands on the workflow's own level
        "inputs": {input_name(number): reference for number, reference in enumerate(envelope.input_refs)},
        "tools": envelope.allowed_tools,
        "output_schema": envelope.output_schema,
    }


def input_name(number: int) -> str:
    """The name of an envelope's input, counted from 1."""
    return f"input-{number + 1}"


def _envelope_place(path: Path) -> Path:  # noqa: PLR0911  (one line per place)
    match path:
        case ("tasks", _):
            return ("task_id",)
        case ("tasks", _, "inputs", str(name), *_):
            return ("input_refs", int(name.rsplit("-", 1)[-1]) - 1)
        case ("tasks", _, "tools", *rest):
            return ("allowed_tools", *rest)
        case ("tasks", _, *rest):
            return tuple(rest)
        case ("limits", *rest):
            return tuple(rest)
        case ("workflow_id",):
            return ("task_id",)
        case ("definition_of_done", *_):
            return ("task_type",)
    return path


def kind_of(document: Mapping[str, Any]) -> type[WorkflowFile | TaskContractFile | TaskEnvelopeFile] | Fault:
    """Which of the three a document is, by `schema_version` or by the keys that only an envelope has."""
    version = document.get("schema_version")
    models: dict[object, type[WorkflowFile | TaskContractFile | TaskEnvelopeFile]] = {
        "workflow-v1": WorkflowFile,
        "task-contract-v1": TaskContractFile,
        "task-envelope-v1": TaskEnvelopeFile,
    }
    if isinstance(version, str) and version in models:
        return models[version]
    if version is None and not {"task_id", "input_refs", "allowed_tools"}.isdisjoint(document):
        return TaskEnvelopeFile
    if version is None:
        return Fault(("schema_version",), "is required")
    return Fault(("schema_version",), f"must be one of {', '.join(str(name) for name in models)}")
