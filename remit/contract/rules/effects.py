"""Effects: each with its own id, and a source that a task declares."""

from collections.abc import Iterator

from remit.contract.filled import Filled
from remit.contract.references import parse_reference
from remit.faults import Fault, unknown_key
from remit.ids import is_id


def faults(filled: Filled) -> Iterator[Fault]:
    """Repeated ids and sources that no task yields."""
    seen: set[str] = set()
    for number, effect in enumerate(filled.file.effects):
        path = ("effects", number)
        if not is_id(effect.id):
            yield Fault((*path, "id"), "is not an id: 1 to 128 of A-Z a-z 0-9 . _ : -")
        elif effect.id in seen:
            yield Fault((*path, "id"), "stands twice")
        seen.add(effect.id)
        yield from _source(filled, effect.source, effect.kind, (*path, "source"))


def _source(filled: Filled, source: str, kind: str, path: tuple[str | int, ...]) -> Iterator[Fault]:
    found = parse_reference(source)
    if found is None or found.kind != "task":
        yield Fault(path, "must be an output of a task, like task://coding/revision")
        return
    producer = filled.tasks.get(found.name)
    if producer is None:
        yield unknown_key(path, filled.tasks, "an output of a task of this workflow", found.name)
    elif found.detail not in producer.outputs:
        yield unknown_key(path, producer.outputs, f"an output of task {producer.id}", found.detail)
    elif kind == "git_merge" and producer.outputs[found.detail] != "revision":
        yield Fault(path, "must be an output of kind revision")
