"""Refuse decimals beyond the schema's precision on reading: the Avro reader rounds them without a word.

Only a foreign writer can have written one. Pure; only `remit.codec` imports it.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from remit.codec.money import in_range
from remit.errors import CodecError

Paths = Callable[[Any], Iterator[str]]


def check_ranges(event: msgspec.Struct) -> None:
    """CodecError with the path of the first decimal that is out of range."""
    for path in _of_struct(type(event))(event):
        raise CodecError(f"{path}: out of range")


@cache
def _of_struct(cls: type[msgspec.Struct]) -> Paths:
    """Paths of a record's faults; only fields that can hold a decimal are visited."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - tells the type checker
    found = ((field.name, _of(field.type)) for field in info.fields)
    fields = tuple((name, of) for name, of in found if of is not None)

    def faults(value: Any) -> Iterator[str]:  # noqa: ANN401
        for name, of in fields:
            inner = getattr(value, name)
            if inner is not None:
                for path in of(inner):
                    yield f"{name}.{path}".removesuffix(".")

    return faults if fields else _none


def _of(node: inspect.Type) -> Paths | None:
    match node:
        case inspect.DecimalType():
            return _decimal
        case inspect.StructType(cls=cls):
            found = _of_struct(cls)
            return None if found is _none else found
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return _of(inner)
        case inspect.VarTupleType(item_type=item):
            of = _of(item)
            return None if of is None else _of_sequence(of)
    return None


def _of_sequence(of: Paths) -> Paths:
    def faults(value: Any) -> Iterator[str]:  # noqa: ANN401
        for number, item in enumerate(value):
            for path in of(item):
                yield f"[{number}].{path}".removesuffix(".")

    return faults


def _decimal(value: Any) -> Iterator[str]:  # noqa: ANN401
    if not in_range(value):
        yield ""


def _none(_: Any) -> Iterator[str]:  # noqa: ANN401
    return iter(())
