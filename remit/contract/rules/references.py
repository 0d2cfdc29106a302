"""Inputs: references of a known form, to repositories of the policy, and to outputs that their producers declare."""

from collections.abc import Iterator

from remit.contract.filled import Filled
from remit.contract.references import Reference, parse_reference
from remit.faults import Fault, Path, unknown_key


def faults(filled: Filled) -> Iterator[Fault]:
    """Every input that can't be resolved, or that its task may not take."""
    for name, text in filled.file.inputs.items():
        found = parse_reference(text, filled.policy.reference_schemes)
        if found and found.kind in ("input", "task"):
            yield Fault(("inputs", name), "must not refer to another input or a task")
        else:
            yield from _reference(filled, found, ("inputs", name))
    for task_id, task in filled.file.tasks.items():
        for name, text in task.inputs.items():
            found = parse_reference(text, filled.policy.reference_schemes)
            yield from _task_input(filled, task_id, found, ("tasks", task_id, "inputs", name))


def _task_input(filled: Filled, task_id: str, found: Reference | None, path: Path) -> Iterator[Fault]:
    if found and found.kind == "input":
        if found.name not in filled.file.inputs:
            yield unknown_key(path, filled.file.inputs, "an input of this workflow", found.name)
    elif found and found.kind == "task" and filled.is_bare:
        yield Fault(path, "is an output of a task, and this document stands for one task alone")
    elif found and found.kind == "task":
        yield from _output_of_task(filled, task_id, found, path)
    else:
        yield from _reference(filled, found, path)


def _output_of_task(filled: Filled, task_id: str, found: Reference, path: Path) -> Iterator[Fault]:
    producer = filled.tasks.get(found.name)
    if producer is None:
        yield unknown_key(path, filled.tasks, "an output of a task of this workflow", found.name)
    elif found.detail not in producer.outputs:
        yield unknown_key(path, producer.outputs, f"an output of task {producer.id}", found.detail)
    elif producer.id not in filled.prerequisites[task_id]:
        yield Fault(path, f"needs depends_on: {producer.id}")


def _reference(filled: Filled, found: Reference | None, path: Path) -> Iterator[Fault]:
    if found is None:
        schemes = ", ".join(["repo", "artefact", "file", "input", "task", *filled.policy.reference_schemes])
        yield Fault(path, f"is not a reference of a known form ({schemes})")
    elif found.kind == "repo" and found.name not in filled.policy.repositories:
        yield unknown_key(path, filled.policy.repositories, "a repository of the policy", found.name)
    elif filled.resolved and not found.is_resolved:
        yield Fault(path, _UNRESOLVED[found.kind])


_UNRESOLVED = {
    "repo": "is not resolved to a full commit",
    "alias": "is not resolved to a stored artefact",
    "file": "is not stored as an artefact",
}
