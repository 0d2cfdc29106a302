"""From a typed event to the plain values that the Avro writer takes, refusing whatever the field's type does not allow.

msgspec checks nothing when a record is made in code, and the Avro writer guesses (it takes a naive time for local
time). So each value is checked here, and a fault names the field's path, never the value. Pure; only `remit.codec`
imports it.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any
from uuid import UUID

import msgspec
from msgspec import inspect

from remit.codec import money
from remit.errors import CodecError

type_name = "remit.{}".format
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NULL = ("null", None)

Plain = Callable[[Any], Any]


class Refused(Exception):  # noqa: N818 - a fault on its way up; callers of the codec see CodecError
    """A value that its field does not allow; the path grows as it passes through the records."""

    def __init__(self, rule: str) -> None:
        """Start at the value itself."""
        super().__init__(rule)
        self.rule = rule
        self.path: list[str] = []

    def within(self, step: str) -> "Refused":
        """One step further out."""
        self.path.insert(0, step)
        return self

    def __str__(self) -> str:
        """Path and rule."""
        path = "".join(step if step.startswith("[") else f".{step}" for step in self.path)
        return f"{path.removeprefix('.')}: {self.rule}"


def plain(event: msgspec.Struct) -> dict[str, Any]:
    """The event as nested dicts for the Avro writer; CodecError with path and rule where a value does not fit."""
    try:
        fields: dict[str, Any] = _of_struct(type(event))(event)
    except Refused as refused:
        raise CodecError(str(refused)) from None
    return fields


def text(value: Any) -> str:  # noqa: ANN401 - so for all: what a caller put there is unknown until checked
    """A str that UTF-8 can hold."""
    if not isinstance(value, str):
        raise _not("text", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Refused("holds a character that UTF-8 can't") from None
    return value


def long(value: Any) -> int:  # noqa: ANN401
    """A whole number of 64 bits."""
    if type(value) is not int:
        raise _not("a whole number", value)
    if not LONG_MIN <= value <= LONG_MAX:
        raise Refused("beyond 64 bits")
    return value


def boolean(value: Any) -> bool:  # noqa: ANN401
    """True or False."""
    if not isinstance(value, bool):
        raise _not("true or false", value)
    return value


def data(value: Any) -> bytes:  # noqa: ANN401
    """Bytes."""
    if not isinstance(value, bytes):
        raise _not("bytes", value)
    return value


def uuid(value: Any) -> str:  # noqa: ANN401
    """A UUID in its text form."""
    if not isinstance(value, UUID):
        raise _not("a UUID", value)
    form: str = msgspec.to_builtins(value)  # four times as fast as str()
    return form


def micros(value: Any) -> int:  # noqa: ANN401
    """An aware time as microseconds since 1970, UTC."""
    if not isinstance(value, datetime):
        raise _not("a time", value)
    try:
        return (value - EPOCH) // MICROSECOND
    except TypeError:
        raise Refused("a time without a zone; give it one, such as UTC") from None


def amount(value: Any) -> bytes:  # noqa: ANN401
    """A decimal as the bytes of its unscaled value."""
    if not isinstance(value, Decimal):
        raise _not("a decimal", value)
    try:
        return money.to_bytes(value)
    except ValueError as error:
        raise Refused(str(error)) from None


def _not(wanted: str, value: object) -> Refused:
    return Refused(f"must be {wanted}, not {type(value).__name__}")


SIMPLE: dict[type, tuple[str, Plain]] = {
    inspect.StrType: ("string", text),
    inspect.IntType: ("long", long),
    inspect.BoolType: ("boolean", boolean),
    inspect.BytesType: ("bytes", data),
    inspect.UUIDType: ("string", uuid),
    inspect.DateTimeType: ("long", micros),
    inspect.DecimalType: ("bytes", amount),
}


def _of(node: inspect.Type) -> tuple[str, Plain]:
    """Avro's name of a type, and the conversion; the types are those that events may use."""
    if type(node) in SIMPLE:
        return SIMPLE[type(node)]
    match node:
        case inspect.EnumType(cls=cls):
            return type_name(cls.__name__), _of_enum(cls)
        case inspect.StructType(cls=cls):
            return type_name(cls.__name__), _of_struct(cls)
        case inspect.VarTupleType(item_type=item):
            return "array", _of_sequence(_of(item)[1])
        case inspect.DictType(value_type=item):
            return "map", _of_mapping(_of(item)[1])
    raise TypeError(f"an event can't have a field of {type(node).__name__}")


def _of_enum(cls: type[Enum]) -> Plain:
    symbols = {member: member.value for member in cls}

    def convert(value: Any) -> str:  # noqa: ANN401
        if type(value) is not cls:
            raise _not(cls.__name__, value)
        symbol: str = symbols[value]
        return symbol

    return convert


@cache
def _of_struct(cls: type[msgspec.Struct]) -> Plain:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - tells the type checker
    fields = tuple((field.name, *_of_field(field.type)) for field in info.fields)

    def convert(value: Any) -> dict[str, Any]:  # noqa: ANN401
        if type(value) is not cls:
            raise _other_shape(cls, value)
        plain = msgspec.structs.asdict(value)
        name = ""
        try:
            for name, branch, of in fields:
                item = plain[name]
                if branch is None:
                    plain[name] = of(item)
                else:
                    plain[name] = NULL if item is None else (branch, of(item))
        except Refused as refused:
            raise refused.within(name) from None
        return plain

    return convert


def _other_shape(cls: type[msgspec.Struct], value: Any) -> Refused:  # noqa: ANN401
    """Names a field too many, if that is what is wrong."""
    named = value if isinstance(value, dict) else value.__struct_fields__ if isinstance(value, cls) else ()
    for name in named:
        if name not in cls.__struct_fields__:
            return Refused(f"is no field of {cls.__name__}").within(str(name))
    return _not(cls.__name__, value)


def _of_field(node: inspect.Type) -> tuple[str | None, Plain]:
    """The branch to be named where a field may be null: else the Avro writer tries each by the shape of the value."""
    match node:
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return _of(inner)
    return None, _of(node)[1]


def _of_sequence(of: Plain) -> Plain:
    def convert(value: Any) -> list[Any]:  # noqa: ANN401
        if not isinstance(value, tuple):
            raise _not("a tuple", value)
        items: list[Any] = []
        try:
            for item in value:
                items.append(of(item))  # noqa: PERF401 - its length names the item that was refused
        except Refused as refused:
            raise refused.within(f"[{len(items)}]") from None
        return items

    return convert


def _of_mapping(of: Plain) -> Plain:
    def convert(value: Any) -> dict[str, Any]:  # noqa: ANN401
        if not isinstance(value, dict):
            raise _not("a mapping", value)
        items: dict[str, Any] = {}
        for number, (key, item) in enumerate(value.items()):
            try:
                items[text(key)] = of(item)
            except Refused as refused:
                raise refused.within(f"[entry {number}]") from None
        return items

    return convert
