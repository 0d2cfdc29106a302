"""Old bytes stay readable: golden files of every version, and versions that never existed."""

import base64
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import msgspec
import pytest

from remit.codec import TOPIC_RECORDS, decode, encode
from remit.codec.catalogue import catalogue
from remit.codec.frame import HEADER_BYTES, header
from remit.codec.registration import opened
from remit.events.inputs import Lease, LeaseKind
from tests.codec.conftest import OwnSchemas
from tests.codec.golden_files import FOLDER, digest_of
from tests.codec.samples import bare, full, of_every_kind

GOLDEN = sorted(FOLDER.glob("*.json"))


def read_with(writer: Any, reader: Any, value: bytes) -> Any:
    """What fastavro alone reads from a framed value."""
    parsed: Any = [None if schema is None else fastavro.parse_schema(schema) for schema in (writer, reader)]
    return fastavro.schemaless_reader(BytesIO(value[HEADER_BYTES:]), parsed[0], parsed[1])


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_what_was_ever_written_reads_the_same(path: Path) -> None:
    """AVRO-1: each event of each version decodes to the stored digest; what it did not know has its default."""
    golden = json.loads(path.read_text("utf-8"))
    writer = catalogue().schema(catalogue().entry(golden["id"]))
    assert {record["name"] for record in golden["records"]} >= {"full", "UNKNOWN"}
    for record in golden["records"]:
        value = base64.b64decode(record["value"])
        read = decode(golden["topic"], value)
        written = read_with(writer, None, value)
        assert digest_of(read, written) == record["digest"], record["name"]
        assert list(undocumented(read, written)) == []


def undocumented(read: Any, written: Any) -> Iterator[str]:
    """Fields that the writer did not know and that have no default, or another value than it."""
    if isinstance(read, msgspec.Struct):
        for field in msgspec.structs.fields(type(read)):
            value = getattr(read, field.name)
            if field.name in written:
                yield from undocumented(value, written[field.name])
            elif value != (field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()):
                yield f"{type(read).__name__}.{field.name}"
    elif isinstance(read, tuple):
        for pair in zip(read, written, strict=True):
            yield from undocumented(*pair)


@pytest.mark.parametrize("topic", TOPIC_RECORDS)
def test_earlier_versions_read_what_is_written_today(topic: str) -> None:
    """AVRO-1: today's events, read by each earlier release's schema, give it all of its fields."""
    newest = catalogue().schema(catalogue().newest(topic))
    for version in catalogue().versions(topic):
        earlier = catalogue().schema(version)
        for _, event in of_every_kind(topic):
            read = read_with(newest, earlier, encode(topic, event))
            assert list(read) == [field["name"] for field in earlier["fields"]]


def without(*names: str) -> Any:
    """A change that takes fields away."""

    def change(schema: dict[str, Any]) -> None:
        schema["fields"] = [field for field in schema["fields"] if field["name"] not in names]

    return change


def field_of(schema: dict[str, Any], name: str) -> Any:
    """A field of a record's schema."""
    return next(field for field in schema["fields"] if field["name"] == name)


def test_fields_that_came_later_have_their_default(own_schemas: OwnSchemas) -> None:
    """AVRO-1: bytes of an older version are read with that version, and what is new has its default."""
    own_schemas.register("leases", without("note", "usage"))
    old = encode_as_of_now("leases", {**plain(full(Lease)), "note": None, "usage": None}, own_schemas)
    newer = own_schemas.register("leases")
    assert decode("leases", old) == msgspec.structs.replace(full(Lease), note=None, usage=None)
    value = encode("leases", full(Lease))
    assert value.startswith(header(newer))
    assert decode("leases", value) == full(Lease)


def test_fields_that_are_gone_are_passed_over(own_schemas: OwnSchemas) -> None:
    """AVRO-1: a field that an older version wrote and today's lacks changes nothing else."""
    extra = {"name": "mood", "type": ["null", "string"], "default": None, "doc": "how it felt"}
    own_schemas.register("leases", lambda schema: schema["fields"].insert(7, extra))
    old = encode_as_of_now("leases", {**plain(full(Lease)), "mood": "good"}, own_schemas)
    own_schemas.register("leases")
    assert decode("leases", old) == full(Lease)


def test_a_symbol_that_this_build_does_not_know_is_unknown(own_schemas: OwnSchemas) -> None:
    """A kind that a newer build wrote reads as UNKNOWN where its schema is at hand, never as another kind."""
    own_schemas.register("leases")
    own_schemas.register("leases", lambda schema: field_of(schema, "kind")["type"]["symbols"].append("paused"))
    newer = encode_as_of_now("leases", {**plain(full(Lease)), "kind": "paused"}, own_schemas)
    own = own_schemas.use()
    earlier, later = own.versions("leases")
    read = read_with(own.schema(later), own.schema(earlier), newer)
    assert read["kind"] == "UNKNOWN"


def plain(event: msgspec.Struct) -> dict[str, Any]:
    """An event as the Avro writer's values."""
    from remit.codec.plain import plain as of  # noqa: PLC0415

    return of(event)


def encode_as_of_now(topic: str, fields: dict[str, Any], own: OwnSchemas) -> bytes:
    """A framed record by the version that is newest now, whatever today's classes are."""
    newest = opened(own.folder).newest(topic)
    schema: Any = fastavro.parse_schema(opened(own.folder).schema(newest))
    known = {field["name"] for field in schema["fields"]}
    out = BytesIO()
    fastavro.schemaless_writer(out, schema, {name: value for name, value in fields.items() if name in known})
    return header(newest.id) + out.getvalue()


def test_the_kinds_of_old_bytes_are_never_shifted() -> None:
    """AVRO-1: each symbol keeps its place; one that moved would read as another kind."""
    for kind in LeaseKind:
        value = encode("leases", msgspec.structs.replace(bare(Lease), kind=kind))
        for version in catalogue().versions("leases"):
            schema = catalogue().schema(version)
            assert read_with(catalogue().schema(catalogue().newest("leases")), schema, value)["kind"] == kind.value
