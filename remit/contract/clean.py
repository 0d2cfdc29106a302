"""Takes secrets out of a contract document before it is sent: out of its prose; anywhere else they refuse it. Pure."""

from collections.abc import Mapping
from typing import Any

from remit.errors import ContractInvalidError
from remit.faults import lines
from remit.leaks import leaks
from remit.redaction import redact

PROSE = frozenset({"objective", "definition_of_done"})
"""What people read and nothing is named by, of the whole and of a task; so are all constraints."""


def cleaned(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without secrets in its prose; raises ContractInvalidError naming each other place that has one."""
    clean = _prose(document)
    if "constraints" in clean:
        clean["constraints"] = _redacted(clean["constraints"])
    if isinstance(checks := clean.get("checks"), Mapping):  # a key of it is the text of a requirement
        clean["checks"] = {redact(text) if isinstance(text, str) else text: each for text, each in checks.items()}
    if isinstance(tasks := clean.get("tasks"), Mapping):
        clean["tasks"] = {name: _prose(task) if isinstance(task, Mapping) else task for name, task in tasks.items()}
    if faults := leaks(clean):
        raise ContractInvalidError(lines(faults, clean))
    return clean


def _prose(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _redacted(value) if key in PROSE else value for key, value in part.items()}


def _redacted(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _redacted(inner) for key, inner in value.items()}
    return [_redacted(inner) for inner in value] if isinstance(value, list | tuple) else value
