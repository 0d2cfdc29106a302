"""From the plain values that the Avro reader gives to a typed event, refusing what the log can't rightly hold.

Times and amounts are made here, of numbers and bytes; all else by msgspec. The Avro reader's own are slower, and it
rounds an amount beyond the schema's precision without a word. Pure; only `remit.codec` imports it.
"""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from remit.codec import money
from remit.codec.plain import EPOCH, MICROSECOND, Refused
from remit.errors import CodecError

E = TypeVar("E", bound=msgspec.Struct)
Typed = Callable[[Any], Any]


def typed(cls: type[E], fields: dict[str, Any]) -> E:
    """The event of these fields, which are changed on the way; CodecError with the path of what does not fit."""
    of = _of_struct(cls)
    try:
        return msgspec.convert(fields if of is None else of(fields), cls)
    except Refused as refused:
        raise CodecError(str(refused)) from None
    except msgspec.ValidationError as error:
        raise CodecError(f"{cls.__name__} does not have the fields of its schema ({type(error).__name__})") from None


def time(micros: int) -> datetime:
    """The time so many microseconds after 1970, UTC."""
    try:
        return EPOCH + micros * MICROSECOND
    except OverflowError:
        raise Refused("out of range") from None


def amount(unscaled: bytes) -> Decimal:
    """The decimal of its unscaled value."""
    try:
        return money.from_bytes(unscaled)
    except ValueError as error:
        raise Refused(str(error)) from None


def _of(node: inspect.Type) -> Typed | None:
    """The conversion of one type; None where msgspec does all."""
    match node:
        case inspect.DateTimeType():
            return time
        case inspect.DecimalType():
            return amount
        case inspect.StructType(cls=cls):
            return _of_struct(cls)
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return _of(inner)
        case inspect.VarTupleType(item_type=item):
            of = _of(item)
            return None if of is None else _of_sequence(of)
    return None


@cache
def _of_struct(cls: type[msgspec.Struct]) -> Typed | None:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - tells the type checker
    found = ((field.name, _of(field.type)) for field in info.fields)
    fields = tuple((name, of) for name, of in found if of is not None)

    def convert(values: dict[str, Any]) -> dict[str, Any]:
        name = ""
        try:
            for name, of in fields:
                value = values.get(name)
                if value is not None:
                    values[name] = of(value)
        except Refused as refused:
            raise refused.within(name) from None
        return values

    return convert if fields else None


def _of_sequence(of: Typed) -> Typed:
    def convert(values: list[Any]) -> list[Any]:
        number = 0
        try:
            for number, value in enumerate(values):
                values[number] = of(value)
        except Refused as refused:
            raise refused.within(f"[{number}]") from None
        return values

    return convert
