"""Secrets in what is about to be written and must not be rewritten: ids, names, references, whole events. Pure.

A secret in free text is taken out by `remit.redaction`; one in a name refuses the whole, for two names must not become
one. Faults name the place, never what stands there. Anyone may import it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import to_builtins

from remit.errors import RefusedError
from remit.events.base import Event
from remit.faults import Fault, Path, render
from remit.redaction import finds

RULE = "holds what looks like a secret"


def leaks(document: Any) -> tuple[Fault, ...]:  # noqa: ANN401 - any JSON value
    """A fault for each text and key of a document that looks like a secret, in file order."""
    texts = tuple(_texts(document, ()))
    telling = {text for text in {text for _, text in texts} if finds(text)}  # most keys stand in it many times
    return tuple(dict.fromkeys(Fault(path, RULE) for path, text in texts if text in telling))


def no_secret(name: str) -> str:
    """The name, or a ValueError that doesn't quote it: for a field that is published."""
    if finds(name):
        raise ValueError(RULE)
    return name


def refuse_leaks(event: Event, *clean: str) -> None:
    """Raise RefusedError that names the fields of an event with a secret; those in `clean` were seen to before."""
    faults = leaks({name: value for name, value in to_builtins(event).items() if name not in clean})
    if faults:
        fields = ", ".join(render(fault.path) for fault in faults)
        raise RefusedError(f"nothing was sent: what looks like a secret stands in {fields}")


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield (*path, key), str(key)
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _texts(inner, (*path, number))
