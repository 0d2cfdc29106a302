"""Events -> Arrow tables, one per topic, nested as the events are: what `sql/rows.sql` makes rows of. Pure.

The fold imports it. A table has a column per field that those statements name, some for where the record lies, and what
SQL can't find out by itself: a contract's normal form, a policy's rate, which evidence failed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from io import BytesIO
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from msgspec import inspect
from pyarrow import json

from remit.contract.normal import Requirement, TaskContract, Workflow
from remit.events.base import Event, Evidence
from remit.events.inputs import Decision
from remit.events.service import DeadLetter, Policy
from remit.events.transitions import Transition
from remit.log.protocols import Recorded
from remit.topics import Topic

from . import sql

SHARD_NOTES = "shard_notes"
"""Transitions that are of no workflow, held apart from the others: they make no row but their own."""
CHUNK = 1000
"""Events held as Python objects at most: by the ten thousand they cost the collector more than their decoding."""
CHUNK_BYTES = 16 * 1024 * 1024
"""Bytes of these events' records at most, or one record more."""
STEP = 1 << 20
"""Between the places of two events, so that what stands in one of them can be numbered in between."""

AMOUNT = pa.decimal128(18, 6)
TIME = pa.timestamp("us", "UTC")
_NAMED = sql.named()
_ENCODER = msgspec.json.Encoder()
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
    """The fields of a class that rows.sql names, as Arrow's types; every one may be null."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - tells the type checker
    return pa.struct([(field.name, _of(field.type)) for field in info.fields if _shown(field)])


def _shown(field: inspect.Field) -> bool:
    """No table shows a mapping; what failed is said beside the event. Fewer columns make each statement quicker."""
    return field.name in _NAMED and field.name != "failing" and not isinstance(field.type, inspect.DictType)


def _of(node: inspect.Type) -> pa.DataType:
    if type(node) in _SIMPLE:
        return _SIMPLE[type(node)]
    match node:
        case inspect.StructType(cls=cls):
            return struct_of(cls)
        case inspect.VarTupleType(item_type=item):
            return pa.list_(_of(item))
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return _of(inner)
    raise TypeError(f"an event can't have a field of {type(node).__name__}")


_RECORD: Mapping[str, pa.DataType] = {
    "stream": pa.string(),
    "partition": pa.int64(),
    "offset": pa.int64(),
    "appended_at": TIME,
    "place": pa.int64(),
}
_JUDGED = pa.list_(pa.struct([*struct_of(Evidence), pa.field("failing", pa.bool_())]))


class Columns(NamedTuple):
    """What a topic's table is made of: the events' own fields, and what is known beside them."""

    event: pa.Schema
    beside: pa.Schema

    @property
    def whole(self) -> pa.Schema:
        """All columns."""
        return pa.schema([*self.event, *self.beside])


def _columns(cls: type[Event], **more: pa.DataType) -> Columns:
    return Columns(pa.schema(list(struct_of(cls))), pa.schema({**_RECORD, **more}))


_TRANSITIONS = _columns(
    Transition,
    only_noted=pa.bool_(),
    judged=_JUDGED,
    normal=struct_of(Workflow),
    tasks=pa.list_(struct_of(TaskContract)),
    requirements=pa.list_(struct_of(Requirement)),
)
COLUMNS: Mapping[str, Columns] = {
    Topic.TRANSITIONS: _TRANSITIONS,
    SHARD_NOTES: _TRANSITIONS,
    Topic.DECISIONS: _columns(Decision),
    Topic.DEAD_LETTERS: _columns(DeadLetter),
    Topic.POLICIES: _columns(Policy, human_minute_gbp=AMOUNT, environment=pa.string()),
}


class Incoming:
    """The events of a batch, by topic, on their way into Arrow."""

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: dict[str, _Waiting] = {}
        self._done: dict[str, list[pa.Table]] = {}
        self._place = 0

    def add(self, topic: str, record: Recorded, event: Event, **more: Any) -> None:  # noqa: ANN401 - what the event brings
        """One more event, with what its topic's table has beside it."""
        self._place += STEP
        waiting = self._waiting.get(topic) or self._waiting.setdefault(topic, _Waiting())
        waiting.events.append(event)
        waiting.beside.append(
            {
                "stream": stream_of(record),
                "partition": record.partition,
                "offset": record.offset,
                "appended_at": record.appended_at,
                "place": self._place,
                **more,
            }
        )
        waiting.size += len(record.value or b"")
        if len(waiting.events) >= CHUNK or waiting.size >= CHUNK_BYTES:
            self._flush(topic)

    def tables(self) -> dict[str, pa.Table]:
        """All of them: a table for each topic that has any."""
        for topic in list(self._waiting):
            self._flush(topic)
        return {topic: pa.concat_tables(tables) for topic, tables in self._done.items()}

    def _flush(self, topic: str) -> None:
        waiting, columns = self._waiting.pop(topic), COLUMNS[topic]
        own, beside = _read(waiting.events, columns.event), pa.Table.from_pylist(waiting.beside, columns.beside)
        whole = pa.Table.from_arrays([*own.columns, *beside.columns], schema=columns.whole)
        self._done.setdefault(topic, []).append(whole)


class _Waiting:
    """Events that are not in Arrow yet."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.beside: list[dict[str, Any]] = []
        self.size = 0


def _read(events: Sequence[Event], schema: pa.Schema) -> pa.Table:
    """Their fields as columns. By way of JSON, which both sides do in C: half the time of Python's dicts."""
    lines = _ENCODER.encode_lines(events)
    return json.read_json(
        BytesIO(lines),
        read_options=json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
        parse_options=json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )


def plain(value: msgspec.Struct) -> dict[str, Any]:
    """As nested dicts, ids and enums as text."""
    fields: dict[str, Any] = msgspec.to_builtins(value, builtin_types=(datetime, Decimal))
    return fields


def stream_of(record: Recorded) -> str:
    """The record's key as text: tenant/workflow, or _shard/n."""
    return (record.key or b"").decode(errors="replace")
