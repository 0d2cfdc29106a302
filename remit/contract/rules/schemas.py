"""Output schemas: known, and able to judge an output."""

from collections.abc import Iterator

from remit.contract.filled import Filled
from remit.faults import Fault, unknown_key
from remit.policy.output_schemas import schema_faults


def faults(filled: Filled) -> Iterator[Fault]:
    """Schemas that the file brings and can't be used, and names that stand for no schema."""
    for name, schema in filled.file.output_schemas.items():
        yield from schema_faults(schema, ("output_schemas", name))
    known = {**filled.policy.output_schemas, **filled.file.output_schemas}
    for name in filled.file.output_schemas:
        if name in filled.policy.output_schemas:
            yield Fault(("output_schemas", name), "is a schema of the policy already")
    for task in filled.tasks.values():
        if task.output_schema is not None and task.output_schema not in known:
            place = ("tasks", task.id, "output_schema")
            yield unknown_key(place, known, "an output schema of the file or the policy", task.output_schema)
