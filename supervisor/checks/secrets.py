"""Secrets in the words of a result: what a foreign writer let through must not be copied into a transition. Pure."""

from collections.abc import Iterator

import msgspec

from remit.events.inputs import Result
from remit.redaction import finds

UNSCANNED = frozenset({"sha256", "reference", "attempt_id", "environment_digest"})  # digests and ids, never a secret


def secret_rules(event: Result) -> tuple[str, ...]:
    """Names of the redaction rules that any text of the result breaks; empty for a redacted one."""
    texts = [
        text
        for part in (event.result, event.malformed)
        if part is not None
        for text in _texts(msgspec.to_builtins(part))
    ]
    if not finds("\n".join(texts)):  # one look at all; a rule may see one across two texts, hence the second look
        return ()
    return tuple(dict.fromkeys(rule for text in texts for rule in finds(text)))


def _texts(value: object, name: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if name not in UNSCANNED:
            yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, name)
