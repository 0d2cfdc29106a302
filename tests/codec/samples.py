"""Deterministic events made from their types: `full` fills every field, `bare` leaves out what has a default."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import inspect

from remit.codec import TOPIC_RECORDS
from remit.events.base import Event

S = TypeVar("S", bound=msgspec.Struct)

SIMPLE: dict[type, Any] = {
    inspect.StrType: "text é",
    inspect.IntType: 123_456_789,
    inspect.BoolType: True,
    inspect.BytesType: b"\x00\xff",
    inspect.UUIDType: UUID("019ac9e8-5b1c-7d3e-8f21-0123456789ab"),
    inspect.DateTimeType: datetime(2026, 7, 19, 12, 0, 0, 1, tzinfo=UTC),
    inspect.DecimalType: Decimal("12.345678"),
}


@cache
def full(cls: type[S]) -> S:
    """Every field filled, optional ones and one item of each list included."""
    return cls(**{field.name: _of(field.type) for field in _fields(cls)})


@cache
def bare(cls: type[S]) -> S:
    """Only the fields that have no default."""
    return cls(**{field.name: _of(field.type) for field in _fields(cls) if field.required})


def of_every_kind(topic: str) -> Iterator[tuple[str, Event]]:
    """One event per kind of a topic, by name, and the full one."""
    cls: Any = TOPIC_RECORDS[topic]
    yield "full", full(cls)
    for kind in type(full(cls).kind):
        yield kind.value, msgspec.structs.replace(bare(cls), kind=kind)


def _fields(cls: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    return info.fields


def _of(node: inspect.Type) -> Any:
    if type(node) in SIMPLE:
        return SIMPLE[type(node)]
    match node:
        case inspect.EnumType(cls=cls):
            return list(cls)[-1]
        case inspect.StructType(cls=cls):
            return full(cls)
        case inspect.VarTupleType(item_type=item):
            return (_of(item),)
        case inspect.DictType(value_type=item):
            return {"key": _of(item)}
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return _of(inner)
    raise TypeError(f"no sample for {type(node).__name__}")
