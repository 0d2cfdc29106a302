"""What a function says of a value that never changes, kept with the value. Pure to its caller."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

V = TypeVar("V")
R = TypeVar("R")


def once(of: Callable[[V], R]) -> Callable[[V], R]:
    """Let `of` be worked out once for each value, a frozen Struct with `dict=True`; a changed copy starts anew."""
    name = f"{of.__module__}.{of.__qualname__}"

    @wraps(of)
    def kept(value: V) -> R:
        known = value.__dict__
        if name not in known:
            known[name] = of(value)
        found: R = known[name]
        return found

    return kept
