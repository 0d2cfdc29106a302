"""Secrets that a foreign writer let through: they must not be copied into a transition. Pure."""

from collections.abc import Iterator

import msgspec

from remit.events.base import Event
from remit.events.inputs import Contract, Decision, Lease, Result
from remit.redaction import finds

_JSON = frozenset('{["')
UNSCANNED = frozenset({"sha256", "reference", "attempt_id", "environment_digest"})  # digests and ids, never a secret


def secret_rules(event: Result) -> tuple[str, ...]:
    """Names of the redaction rules that any text of the result breaks; empty for a redacted one."""
    texts = [
        text
        for part in (event.result, event.malformed)
        if part is not None
        for text in _texts(msgspec.to_builtins(part))
    ]
    if not _found(texts):
        return ()
    return tuple(dict.fromkeys(rule for text in texts for rule in finds(text)))


def _found(texts: list[str]) -> bool:
    """One look at all prose; what may be JSON is read as such, since an escape or a key tells there what it is.

    A rule may see a secret across two texts, hence the second look of who asks.
    """
    structured = [text for text in texts if text.lstrip()[:1] in _JSON]
    prose = [text for text in texts if text.lstrip()[:1] not in _JSON]
    return bool(finds("\n".join(prose))) or any(finds(text) for text in structured)


def names_a_secret(event: Event) -> bool:
    """Whether a name that transitions would copy is a secret: names are refused, never rewritten."""
    match event:
        case Contract():
            named: tuple[str, ...] = (event.tenant_id, event.workflow_id, event.submitter, event.content_digest)
        case Lease():
            named = (event.task_id, event.worker_id, (event.usage.model if event.usage else "") or "")
        case Result():
            named = (event.task_id, event.worker_id)
        case Decision():
            named = (event.task_id or "", event.person)
        case _:
            return False
    return bool(finds("\n".join(named)))


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
