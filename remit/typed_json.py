"""JSON text into one of our own types, whatever the text is. Anyone may import it; pure."""

from typing import TypeVar

import msgspec

T = TypeVar("T")


def read_json(text: bytes | str, type_: type[T]) -> T:
    """The value in `text`; raises msgspec.DecodeError for anything else, nesting that no stack holds included."""
    try:
        return msgspec.json.decode(text, type=type_)
    except RecursionError:
        raise msgspec.DecodeError("nested too deeply") from None
