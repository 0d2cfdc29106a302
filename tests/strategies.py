"""Hypothesis strategies for events, made from their types: whatever an event's fields allow, and nothing else."""

from datetime import UTC
from functools import cache
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from remit.codec import TOPIC_RECORDS
from remit.codec.money import BOUND, SCALE
from remit.events.base import Event

S = TypeVar("S", bound=msgspec.Struct)
SMALLEST = BOUND.scaleb(-SCALE).scaleb(-SCALE)

SIMPLE: dict[type, st.SearchStrategy[Any]] = {
    inspect.StrType: st.text(max_size=12),
    inspect.IntType: st.integers(-(2**63), 2**63 - 1),
    inspect.BoolType: st.booleans(),
    inspect.BytesType: st.binary(max_size=12),
    inspect.UUIDType: st.uuids(),
    inspect.DateTimeType: st.datetimes(timezones=st.just(UTC)),
    inspect.DecimalType: st.decimals(-BOUND + SMALLEST, BOUND - SMALLEST, places=SCALE),
}


@cache
def records(cls: type[S]) -> st.SearchStrategy[S]:
    """Any value of a record class, fields with defaults included."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    return st.builds(cls, **{field.name: _of(field.type) for field in info.fields})


def topics_and_events() -> st.SearchStrategy[tuple[str, Event]]:
    """A topic as its schema is named, and any event that it may hold."""
    return st.one_of(*(st.tuples(st.just(topic), records(cls)) for topic, cls in TOPIC_RECORDS.items()))


def _of(node: inspect.Type) -> st.SearchStrategy[Any]:
    if type(node) in SIMPLE:
        return SIMPLE[type(node)]
    match node:
        case inspect.EnumType(cls=cls):
            return st.sampled_from(cls)
        case inspect.StructType(cls=cls):
            return records(cls)
        case inspect.VarTupleType(item_type=item):
            return st.lists(_of(item), max_size=2).map(tuple)
        case inspect.DictType(value_type=item):
            return st.dictionaries(SIMPLE[inspect.StrType], _of(item), max_size=2)
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return st.none() | _of(inner)
    raise TypeError(f"no strategy for {type(node).__name__}")
