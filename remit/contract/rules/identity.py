"""Ids that a user may choose, and the named owner."""

from collections.abc import Iterator

from remit.contract.filled import Filled
from remit.faults import Fault, Path
from remit.ids import is_id


def faults(filled: Filled) -> Iterator[Fault]:
    """Every name that is no id, and the owner's absence."""
    for path, name in _names(filled):
        if not is_id(name) or set(name) <= {"."}:
            yield Fault(path, "is not an id: 1 to 128 of A-Z a-z 0-9 . _ : -")
    if filled.file.owner is None and not filled.is_bare:
        yield Fault(("owner",), "is required")
    if filled.file.owner is not None and not filled.file.owner.isprintable():
        yield Fault(("owner",), "must be printable text on one line")


def _names(filled: Filled) -> Iterator[tuple[Path, str]]:
    file = filled.file
    for field in ("workflow_id", "workflow_type", "tenant_id"):
        if (value := getattr(file, field)) is not None:
            yield (field,), value
    for part in ("inputs", "commands", "tasks"):
        for key in getattr(file, part):
            yield (part, key), key
    for task_id, task in file.tasks.items():
        yield from ((("tasks", task_id, "inputs", key), key) for key in task.inputs)
        yield from ((("tasks", task_id, "outputs", key), key) for key in task.outputs or {})
