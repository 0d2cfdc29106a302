"""Faults of a document: where and which rule, never a value. Pure; the contract and policy rooms import it."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remit.redaction import redact

Path = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_LONGEST_KEY = 64
_MOST_NAMES = 200  # among more, looking for the nearest takes too long
MAX_LINES = 100


@dataclass(frozen=True)
class Fault:
    """One broken rule; `text` follows the path, starting with a colon where it is no part of the sentence."""

    path: Path
    text: str

    def __str__(self) -> str:
        """The line that people read, like `limits.max_tokens must be at least 1`."""
        joint = "" if self.text.startswith(":") else " "
        line = f"{render(self.path)}{joint}{self.text}" if self.path else self.text.removeprefix(": ")
        return "".join(character if character.isprintable() else "?" for character in line)


def render(path: Path) -> str:
    """`('checks', 'a b', 0)` as `checks["a b"][0]`; long keys are cut, odd characters escaped."""
    parts = [_part(part) for part in path]
    return "".join(parts).removeprefix(".")


def _part(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    part = redact(part)  # a key may be a secret itself
    return f".{part}" if _PLAIN_KEY.fullmatch(part) else f"[{quote(part)}]"


def quote(key: str) -> str:
    """A key of the document as it may stand in a message: escaped, at most 64 characters."""
    key = redact(key)
    cut = key if len(key) <= _LONGEST_KEY else key[: _LONGEST_KEY - 1] + "…"
    return json.dumps(cut)


def unknown_key(path: Path, known: Iterable[str], what: str = "a known key", name: str | None = None) -> Fault:
    """The fault that `name`, by default the last key of the path, is none of `known`; says which is nearest."""
    nearest = _nearest(str(path[-1]) if name is None else name, list(known))
    hint = f" (did you mean {nearest}?)" if nearest else ""
    return Fault(path, f"is not {what}{hint}")


def _nearest(name: str, known: list[str]) -> str | None:
    if len(name) > _LONGEST_KEY or len(known) > _MOST_NAMES:
        return None
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return _shown(found[0]) if found else None


def _shown(key: str) -> str:
    return redact(key) if _PLAIN_KEY.fullmatch(key) else quote(key)


def lines(faults: Iterable[Fault], document: Mapping[str, Any]) -> list[str]:
    """The faults as people read them: in file order, each once, at most 100 lines and how many more there are."""
    found = list(dict.fromkeys(str(fault) for fault in in_file_order(faults, document)))
    more = len(found) - MAX_LINES
    return found if more <= 0 else [*found[:MAX_LINES], f"and {more} more faults"]


def in_file_order(faults: Iterable[Fault], document: Mapping[str, Any]) -> tuple[Fault, ...]:
    """The faults, each once, in the order of their places in the document.

    What is missing from the document stands at the part that it is missing from, after that part's own faults.
    """
    places = {path: number for number, path in enumerate(walk(document))}
    return tuple(sorted(dict.fromkeys(faults), key=lambda fault: _place(fault.path, places)))


def _place(path: Path, places: Mapping[Path, int]) -> int:
    while path and path not in places:
        path = path[:-1]
    return places.get(path, -1) if path else len(places)


def walk(value: object, path: Path = ()) -> Iterator[Path]:
    """Every path of a document, parents first. The document's depth is bounded by its loader."""
    yield path
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for number, inner in enumerate(value):
            yield from walk(inner, (*path, number))
