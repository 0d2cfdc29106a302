"""Events -> Arrow tables, one per topic, nested as the events are: what `sql/rows.sql` makes rows of. Pure.

The fold imports it. A table has a column per field of the event's class, some for where the record lies, and what SQL
can't find out by itself: a contract's normal form, a policy's rate, which evidence failed.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import inspect

from remit.contract.normal import Workflow
from remit.events.base import Event, Evidence
from remit.events.inputs import Decision
from remit.events.service import DeadLetter, Policy
from remit.events.transitions import Transition
from remit.log.protocols import Recorded
from remit.topics import Topic

SHARD_NOTES = "shard_notes"
"""Transitions that are of no workflow, held apart from the others: they make no row but their own."""
CHUNK = 1000
"""Events held as Python objects at most: by the ten thousand they cost the collector more than their decoding."""
STEP = 1 << 20
"""Between the places of two events, so that what stands in one of them can be numbered in between."""

AMOUNT = pa.decimal128(18, 6)
TIME = pa.timestamp("us", "UTC")
_SIMPLE: Mapping[type, pa.DataType] = {
    inspect.StrType: pa.string(),
    inspect.UUIDType: pa.string(),
    inspect.EnumType: pa.string(),
    inspect.IntType: pa.int64(),
    inspect.BoolType: pa.bool_(),
    inspect.DecimalType: AMOUNT,
    inspect.DateTimeType: TIME,
}


def struct_of(cls: type[msgspec.Struct]) -> pa.StructType:
    """The fields of a class as Arrow's types; every one may be null."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - tells the type checker
    return pa.struct([(field.name, _of(field.type)) for field in info.fields])


def _of(node: inspect.Type) -> pa.DataType:
    if type(node) in _SIMPLE:
        return _SIMPLE[type(node)]
    match node:
        case inspect.StructType(cls=cls):
            return struct_of(cls)
        case inspect.VarTupleType(item_type=item):
            return pa.list_(_of(item))
        case inspect.DictType(value_type=item):
            return pa.map_(pa.string(), _of(item))
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return _of(inner)
    raise TypeError(f"an event can't have a field of {type(node).__name__}")


def _schema(cls: type[Event], **more: pa.DataType) -> pa.Schema:
    columns: Mapping[str, pa.DataType] = {
        "stream": pa.string(),
        "partition": pa.int64(),
        "offset": pa.int64(),
        "appended_at": TIME,
        "place": pa.int64(),
        **more,
    }
    return pa.schema([*struct_of(cls), *(pa.field(name, kind) for name, kind in columns.items())])


_TRANSITIONS = _schema(
    Transition,
    only_noted=pa.bool_(),
    normal=struct_of(Workflow),
    judged=pa.list_(pa.struct([*struct_of(Evidence), pa.field("failing", pa.bool_())])),
)
SCHEMAS: Mapping[str, pa.Schema] = {
    Topic.TRANSITIONS: _TRANSITIONS,
    SHARD_NOTES: _TRANSITIONS,
    Topic.DECISIONS: _schema(Decision),
    Topic.DEAD_LETTERS: _schema(DeadLetter),
    Topic.POLICIES: _schema(Policy, human_minute_gbp=AMOUNT, environment=pa.string()),
}
"""The columns of each topic's table."""


class Incoming:
    """The events of a batch, by topic, on their way into Arrow."""

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: dict[str, list[dict[str, Any]]] = {}
        self._done: dict[str, list[pa.RecordBatch]] = {}
        self._place = 0

    def add(self, topic: str, record: Recorded, event: Event, **more: Any) -> None:  # noqa: ANN401 - what the event brings
        """One more event, with what its topic's schema has beyond its fields."""
        self._place += STEP
        fields = plain(event)
        fields.update(
            stream=stream_of(record),
            partition=record.partition,
            offset=record.offset,
            appended_at=record.appended_at,
            place=self._place,
            **more,
        )
        waiting = self._waiting.setdefault(topic, [])
        waiting.append(fields)
        if len(waiting) >= CHUNK:
            self._flush(topic)

    def tables(self) -> dict[str, pa.Table]:
        """All of them: a table for each topic that has any."""
        for topic in self._waiting:
            self._flush(topic)
        return {topic: pa.Table.from_batches(batches) for topic, batches in self._done.items()}

    def _flush(self, topic: str) -> None:
        if waiting := self._waiting[topic]:
            self._done.setdefault(topic, []).append(pa.RecordBatch.from_pylist(waiting, schema=SCHEMAS[topic]))
            waiting.clear()


def plain(value: msgspec.Struct) -> dict[str, Any]:
    """As nested dicts, ids and enums as text."""
    fields: dict[str, Any] = msgspec.to_builtins(value, builtin_types=(datetime, Decimal))
    return fields


def stream_of(record: Recorded) -> str:
    """The record's key as text: tenant/workflow, or _shard/n."""
    return (record.key or b"").decode(errors="replace")
