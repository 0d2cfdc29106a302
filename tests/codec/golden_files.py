"""Golden files: events as they were written with each schema id, kept for ever.

`python -m tests.codec.golden_files` writes the files of ids that have none, and never touches one that exists.
"""

import base64
import json
from pathlib import Path
from typing import Any

import msgspec

from remit.codec import encode
from remit.codec.catalogue import Registered, catalogue
from remit.ids import digest
from tests.codec.samples import of_every_kind

FOLDER = Path(__file__).with_name("golden")


def path_of(entry: Registered) -> Path:
    """Where the golden file of a schema id lies."""
    return FOLDER / f"{entry.id}.json"


def digest_of(event: msgspec.Struct, written: dict[str, Any]) -> str:
    """Digest over the fields that the writer knew, so that one which is added later does not change it."""
    return digest(as_text(only(written, msgspec.to_builtins(event))))


def only(written: Any, read: Any) -> Any:
    """What was read, cut to the fields that were written."""
    if isinstance(written, dict):
        return {name: only(value, read[name]) for name, value in written.items()}
    if isinstance(written, list | tuple):
        return [only(*pair) for pair in zip(written, read, strict=True)]
    return read


def as_text(value: Any) -> Any:
    """Numbers as text: RFC 8785 takes no integer beyond 53 bits."""
    if isinstance(value, dict):
        return {name: as_text(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_text(inner) for inner in value]
    return value if value is None or isinstance(value, bool) else str(value)


def write_missing() -> list[Path]:
    """Write the golden files of the newest schemas that have none yet."""
    entries = [catalogue().newest(topic) for topic in catalogue().topics]
    missing = [entry for entry in entries if not path_of(entry).exists()]
    for entry in missing:
        records = [_golden(entry.topic, name, event) for name, event in of_every_kind(entry.topic)]
        content = {"id": entry.id, "topic": entry.topic, "schema_sha256": entry.sha256, "records": records}
        path_of(entry).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return [path_of(entry) for entry in missing]


def _golden(topic: str, name: str, event: Any) -> dict[str, str]:
    value = encode(topic, event)
    shape = msgspec.to_builtins(event)
    return {"name": name, "value": base64.b64encode(value).decode(), "digest": digest_of(event, shape)}


if __name__ == "__main__":
    for written in write_missing():
        print(written.name)  # noqa: T201 - a developers' script
