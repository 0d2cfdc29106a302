"""The catalogue of schemas: every version ever registered, by id. It is what makes a schema server unnecessary.

`catalogue.json` is an append-only list; `history/<topic>/<id>.avsc` holds each text for ever; `<topic>.avsc` equals
the newest. In a wheel they lie in `remit/schemas_avro`, in a checkout beside `remit`. Only `remit.codec` and
`remit.cli` import it.
"""

import json
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec

from remit.errors import CodecError, UnknownSchemaError
from remit.ids import sha256

FILE = "catalogue.json"
HISTORY = "history"
FIRST_ID = 7_000_001
"""Far above the ids a registry hands out by itself, so that ours can be loaded into one that is in use."""


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """One version of one topic's schema."""

    id: int  # as it stands in every record written with it
    topic: str  # without prefix; `dispatches` for every pool's
    record: str  # full name of the Avro record
    file: str  # path of the text, from the catalogue's folder
    sha256: str  # of the file's bytes


class Catalogue:
    """All registered schemas, read from a folder; texts are read when first asked for."""

    def __init__(self, folder: Path) -> None:
        """Read the list; CodecError when it can't be read."""
        self.folder = folder
        try:
            self.entries = msgspec.json.decode((folder / FILE).read_bytes(), type=tuple[Registered, ...])
        except (OSError, msgspec.MsgspecError) as error:
            raise CodecError(f"the catalogue of schemas can't be read ({type(error).__name__})") from error
        self._by_id = {each.id: each for each in self.entries}

    def entry(self, schema_id: int) -> Registered:
        """The version of that id."""
        if schema_id not in self._by_id:
            raise UnknownSchemaError(f"schema id {schema_id} is not in the catalogue")
        return self._by_id[schema_id]

    def versions(self, topic: str) -> tuple[Registered, ...]:
        """Every version of a topic's schema, oldest first."""
        return tuple(each for each in self.entries if each.topic == topic)

    def newest(self, topic: str) -> Registered:
        """The version that is written now."""
        versions = self.versions(topic)
        if not versions:
            raise UnknownSchemaError(f"topic {topic} has no registered schema")
        return versions[-1]

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Topics that have a schema, in order of their first registration."""
        return tuple(dict.fromkeys(each.topic for each in self.entries))

    def text(self, entry: Registered) -> str:
        """The full text as registered; CodecError when its bytes are not those of its hash."""
        data = _bytes(self.folder / entry.file)
        if sha256(data) != entry.sha256:
            raise CodecError(f"{entry.file} was changed after it was registered")
        return data.decode()

    def schema(self, entry: Registered) -> dict[str, Any]:
        """The schema as JSON."""
        schema: dict[str, Any] = json.loads(self.text(entry))
        return schema

    def current_text(self, topic: str) -> str:
        """What stands in `<topic>.avsc` now, registered or not."""
        return _bytes(self.folder / f"{topic}.avsc").decode()


def folder() -> Path:
    """Where the schemas lie: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "schemas_avro"
    return inside if inside.is_dir() else package.parent / "schemas_avro"


@cache
def catalogue() -> Catalogue:
    """This build's catalogue, read once."""
    return Catalogue(folder())


def encoded(entries: Iterable[Registered]) -> bytes:
    """The catalogue file's bytes."""
    return msgspec.json.format(msgspec.json.encode(tuple(entries)), indent=2) + b"\n"


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CodecError(f"schema file {path.name} can't be read ({type(error).__name__})") from error
