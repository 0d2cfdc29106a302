"""What a handler does to the world outside, once: the target is asked by key before anything is done.

It uses nothing of Remit; worker authors reach it through `Attempt.effect`.
"""

import sys
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
_LONGEST = 256  # characters


def effect_key(scope: str, key: str) -> str:
    """The key at the target: that of a round of a task, which all its attempts share, and then the handler's own.

    Raises ValueError for a key that is empty, longer than 256 characters or not printable.
    """
    if not key or len(key) > _LONGEST or not key.isprintable():
        raise ValueError(f"an effect's key must be 1 to {_LONGEST} printable characters")
    return f"{scope}/{key}"


def once(full_key: str, look_up: Callable[[str], Found | None], apply: Callable[[str], Found]) -> Found:
    """What the target has under the key, else what one call of `apply` gives; whatever either raises is passed on."""
    found = look_up(full_key)
    if found is not None:
        _record(full_key, "found, not applied again")
        return found
    _record(full_key, "absent, applying")
    try:
        made = apply(full_key)
    except BaseException as error:
        _record(full_key, f"raised {type(error).__name__}, may or may not have been applied")
        raise
    _record(full_key, "applied")
    return made


def _record(full_key: str, words: str) -> None:
    """A line of the attempt's log, which holds what the handler prints."""
    print(f"[remit] effect {full_key}: {words}", file=sys.stderr, flush=True)  # noqa: T201 - the log is what is printed
