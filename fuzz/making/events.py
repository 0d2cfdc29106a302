"""Events out of their types: whatever a field allows, and one field of a right event made anew."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import inspect

from . import odd

S = TypeVar("S", bound=msgspec.Struct)
Make = Callable[[Random], Any]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGS = tuple(each for each in odd.NUMBERS if isinstance(each, int) and -(2**63) <= each < 2**63)
_TIMES = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), EPOCH, EPOCH - timedelta(microseconds=1))
_AMOUNTS = tuple(map(Decimal, ("0", "-1", "0.000001", "999999999999.999999", "-999999999999.999999", "1000000", "0.5")))


def record(dice: Random, cls: type[S]) -> S:
    """Any value of a record class."""
    return _of_struct(cls)(dice)  # type: ignore[no-any-return]


def changed(dice: Random, right: S) -> S:
    """The record with one part, at whatever depth, made anew from its type."""
    name, make = dice.choice(_fields(type(right)))
    value = getattr(right, name)
    if isinstance(value, msgspec.Struct) and dice.randrange(3):
        return msgspec.structs.replace(right, **{name: changed(dice, value)})
    if isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct) and dice.randrange(3):
        at = dice.randrange(len(value))
        return msgspec.structs.replace(right, **{name: (*value[:at], changed(dice, value[at]), *value[at + 1 :])})
    return msgspec.structs.replace(right, **{name: make(dice)})


@cache
def _fields(cls: type[msgspec.Struct]) -> tuple[tuple[str, Make], ...]:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - tells the type checker
    return tuple((field.name, _of(field.type)) for field in info.fields)


@cache
def _of_struct(cls: type[msgspec.Struct]) -> Make:
    fields = _fields(cls)
    return lambda dice: cls(**{name: make(dice) for name, make in fields})


_SIMPLE: dict[type, Make] = {
    inspect.StrType: odd.text,
    inspect.IntType: lambda dice: dice.choice(_LONGS),
    inspect.BoolType: lambda dice: bool(dice.randrange(2)),
    inspect.BytesType: lambda dice: dice.randbytes(dice.randrange(40)),
    inspect.UUIDType: lambda dice: UUID(int=dice.getrandbits(128)),
    inspect.DateTimeType: lambda dice: dice.choice((*_TIMES, EPOCH + timedelta(seconds=dice.randrange(2**32)))),
    inspect.DecimalType: lambda dice: dice.choice(_AMOUNTS),
}


def _of(node: inspect.Type) -> Make:
    if type(node) in _SIMPLE:
        return _SIMPLE[type(node)]
    match node:
        case inspect.EnumType(cls=cls):
            members = list(cls)
            return lambda dice: dice.choice(members)
        case inspect.StructType(cls=cls):
            return _of_struct(cls)
        case inspect.VarTupleType(item_type=item):
            return _of_many(_of(item))
        case inspect.DictType(value_type=item):
            of = _of(item)
            return lambda dice: {odd.text(dice): of(dice) for _ in range(dice.randrange(3))}
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            of = _of(inner)
            return lambda dice: of(dice) if dice.randrange(2) else None
    raise TypeError(f"no dice for {type(node).__name__}")


def _of_many(of: Make) -> Make:
    return lambda dice: tuple(of(dice) for _ in range(dice.choice((0, 0, 1, 2, 3))))


def of_every_kind(dice: Random, cls: type[S]) -> Iterator[S]:
    """One record for each kind of an event class."""
    for kind in type(record(dice, cls).kind):  # type: ignore[attr-defined]  # every event has one
        yield msgspec.structs.replace(record(dice, cls), kind=kind)
