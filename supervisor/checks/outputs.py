"""Outputs of a result: declared ones only, each of its declared kind. Pure."""

import json
from dataclasses import dataclass
from typing import Any

from remit.contract.normal import OutputKind, TaskContract
from remit.contract.references import is_full_commit
from remit.documents import parse
from remit.errors import EnvelopeInvalidError
from remit.events.base import ArtefactRef, InputVersion, Subject, SubjectKind
from remit.events.transitions import AcceptedOutput
from remit.faults import Fault
from remit.policy.output_schemas import validate_output
from remit.result.envelope import size_fault
from remit.subjects import git_input

from ..dataflow import split_repository_reference

STORED = frozenset({OutputKind.DIFF, OutputKind.DOCUMENT, OutputKind.REPORT, OutputKind.LOG})
ARTEFACT_KEYS = {"artefact_ref", "sha256", "size"}


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a result's output holds, and what is wrong with it."""

    accepted: tuple[AcceptedOutput, ...]
    faults: tuple[str, ...]


def read_outputs(task: TaskContract, inputs: tuple[InputVersion, ...], output: str) -> Outputs:
    """Read the output's JSON text against the task's declared outputs and its output schema."""
    if (fault := size_fault(output)) is not None:
        return Outputs((), (fault,))
    try:
        fields = parse(output, is_json=True, error=EnvelopeInvalidError)
    except EnvelopeInvalidError as error:
        return Outputs((), tuple(f"output: {fault}" for fault in error.faults))
    faults = [*_undeclared(task, fields), *_missing(task, fields), *_schema(task, fields), *_unwritable(task, fields)]
    read = [_read(name, kind, fields[name], inputs) for name, kind in task.outputs.items() if name in fields]
    faults += [each for each in read if isinstance(each, str)]
    return Outputs(tuple(each for each in read if isinstance(each, AcceptedOutput)), tuple(faults))


def _undeclared(task: TaskContract, fields: dict[str, Any]) -> list[str]:
    undeclared = (name for name in fields if name not in task.outputs)
    return [str(Fault(("output", name), "is not declared (out_of_scope)")) for name in undeclared]


def _missing(task: TaskContract, fields: dict[str, Any]) -> list[str]:
    return [f"output.{name} is required" for name in task.outputs if name not in fields]


def _unwritable(task: TaskContract, fields: dict[str, Any]) -> list[str]:
    """Revisions of a task that may write to no repository; the gate lets no such contract in, but others may."""
    if task.permissions.grants.get("repository", "none").startswith("read-write"):
        return []
    made = (name for name, kind in task.outputs.items() if kind is OutputKind.REVISION and name in fields)
    return [f"output.{name} is a revision, but permissions.repository grants no write" for name in made]


def _schema(task: TaskContract, fields: dict[str, Any]) -> list[str]:
    if task.output_schema is None:
        return []
    schema = task.output_schema
    return [f"output against {schema.name}: {fault}" for fault in validate_output(schema.text, fields)]


def _read(name: str, kind: OutputKind, value: Any, inputs: tuple[InputVersion, ...]) -> AcceptedOutput | str:  # noqa: ANN401
    if kind in STORED:
        return _stored(name, kind, value)
    if kind is OutputKind.REVISION:
        return _revision(name, kind, value, inputs)
    return AcceptedOutput(name=name, kind=kind, value=json.dumps(value, sort_keys=True, ensure_ascii=False))


def _stored(name: str, kind: OutputKind, value: Any) -> AcceptedOutput | str:  # noqa: ANN401
    if not isinstance(value, dict) or set(value) != ARTEFACT_KEYS:
        return f"output.{name} must be a stored artefact: artefact_ref, sha256 and size"
    reference, sha256, size = value["artefact_ref"], value["sha256"], value["size"]
    if not (isinstance(reference, str) and isinstance(sha256, str) and type(size) is int):
        return f"output.{name} must name its artefact by text, text and whole number"
    if reference != f"artefact://sha256/{sha256}":
        return f"output.{name}.artefact_ref and sha256 differ"
    return AcceptedOutput(name=name, kind=kind, artefact=ArtefactRef(reference=reference, sha256=sha256, size=size))


def _revision(name: str, kind: OutputKind, value: Any, inputs: tuple[InputVersion, ...]) -> AcceptedOutput | str:  # noqa: ANN401
    base = git_input(inputs)
    if base is None:
        return f"output.{name} is a revision, but the task has no git input"
    if not isinstance(value, str) or not is_full_commit(value):
        return f"output.{name} must be a full commit in lower-case hex"
    repository, _ = split_repository_reference(base.reference)
    subject = Subject(kind=SubjectKind.GIT, repository=repository, revision=value)
    return AcceptedOutput(name=name, kind=kind, subject=subject)
