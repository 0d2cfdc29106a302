"""Encode and decode: typed events to framed Avro bytes and back, strictly. The one module that knows fastavro.

Anyone may import it. A record is read with the schema it was written with, resolved to the newest of its topic, so
that what was added since has its default and a symbol that is gone or not yet known is UNKNOWN.
"""

from functools import cache
from io import BytesIO
from typing import Any

import fastavro
import msgspec

from remit.codec.catalogue import catalogue
from remit.codec.frame import HEADER_BYTES, header, schema_id_of
from remit.codec.plain import plain
from remit.codec.ranges import check_ranges
from remit.codec.records import TOPIC_RECORDS, schema_topic
from remit.errors import CodecError
from remit.events.base import Event


def encode(topic: str, event: Event) -> bytes:
    """The event as the value of a record in `topic` (without prefix); CodecError with the path of what does not fit."""
    name = schema_topic(topic)
    if type(event) is not TOPIC_RECORDS[name]:
        raise CodecError(f"topic {topic} holds {TOPIC_RECORDS[name].__name__}, not {type(event).__name__}")
    start, schema = _writing(name)
    fields = plain(event)
    out = BytesIO()
    out.write(start)
    try:
        fastavro.schemaless_writer(out, schema, fields, strict=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise CodecError(f"{type(event).__name__} does not fit its schema ({type(error).__name__})") from None
    return out.getvalue()


def decode(topic: str, value: bytes | None) -> Event:
    """The event in a record's value, read from `topic` (without prefix).

    Raises CodecError with where it breaks, UnknownSchemaError when this build doesn't know the schema's id.
    """
    name = schema_topic(topic)
    schema_id = schema_id_of(value)
    found = catalogue().entry(schema_id)
    if found.topic != name:
        raise CodecError(f"schema id {schema_id} is of topic {found.topic}, not of {name}")
    event = _typed(TOPIC_RECORDS[name], _fields(value or b"", schema_id, name))
    check_ranges(event)
    return event


def _fields(value: bytes, schema_id: int, name: str) -> dict[str, Any]:
    source = BytesIO(value)
    source.seek(HEADER_BYTES)
    newest = catalogue().newest(name).id
    reader = None if schema_id == newest else _parsed(newest)
    try:
        fields: Any = fastavro.schemaless_reader(source, _parsed(schema_id), reader)
    except EOFError:
        raise CodecError(f"truncated: the record does not end within its {len(value)} bytes") from None
    except Exception as error:  # noqa: BLE001 - on garbage fastavro raises whatever it stumbles over
        place = f"near byte {source.tell()}"
        raise CodecError(f"{place}: not a record of schema id {schema_id} ({type(error).__name__})") from None
    if left := len(value) - source.tell():
        raise CodecError(f"byte {source.tell()}: {left} bytes after the end of the record")
    return fields  # type: ignore[no-any-return]


def _typed(cls: type[Event], fields: dict[str, Any]) -> Event:
    try:
        return msgspec.convert(fields, cls)
    except msgspec.ValidationError as error:
        raise CodecError(f"{cls.__name__} does not have the fields of its schema ({type(error).__name__})") from None


@cache
def _writing(name: str) -> tuple[bytes, Any]:
    """Header and parsed schema that a topic is written with."""
    newest = catalogue().newest(name).id
    return header(newest), _parsed(newest)


@cache
def _parsed(schema_id: int) -> Any:  # noqa: ANN401 - fastavro's own form
    """The parsed schema of an id; parsing on each use would double the cost of a record."""
    return fastavro.parse_schema(catalogue().schema(catalogue().entry(schema_id)))
