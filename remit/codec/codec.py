"""Encode and decode: typed events to framed Avro bytes and back, strictly. The one module that knows fastavro.

Anyone may import it. A record is read with the schema it was written with, resolved to the newest of its topic, so
that what was added since has its default and a symbol that is gone or not yet known is UNKNOWN.
"""

from functools import cache
from io import BytesIO
from typing import Any

import fastavro

from remit.codec.catalogue import catalogue
from remit.codec.frame import HEADER_BYTES, header, schema_id_of
from remit.codec.plain import plain
from remit.codec.records import TOPIC_RECORDS, schema_topic
from remit.codec.typed import typed
from remit.errors import CodecError
from remit.events.base import Event


def encode(topic: str, event: Event) -> bytes:
    """The event as the value of a record in `topic` (without prefix); CodecError with the path of what does not fit."""
    record, start, schema = _writing(topic)
    if type(event) is not record:
        raise CodecError(f"topic {topic} holds {record.__name__}, not {type(event).__name__}")
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
    record, writer, reader = _reading(topic, schema_id_of(value))
    return typed(record, _fields(value or b"", writer, reader))


def _fields(value: bytes, writer: Any, reader: Any) -> dict[str, Any]:  # noqa: ANN401 - fastavro's own form
    source = BytesIO(value)
    source.seek(HEADER_BYTES)
    try:
        fields: Any = fastavro.schemaless_reader(source, writer, reader)
    except EOFError:
        raise CodecError(f"truncated: the record does not end within its {len(value)} bytes") from None
    except Exception as error:  # noqa: BLE001 - on garbage fastavro raises whatever it stumbles over
        place = f"near byte {source.tell()}"
        raise CodecError(f"{place}: not a record of schema id {schema_id_of(value)} ({type(error).__name__})") from None
    if left := len(value) - source.tell():
        raise CodecError(f"byte {source.tell()}: {left} bytes after the end of the record")
    return fields  # type: ignore[no-any-return]


@cache
def _writing(topic: str) -> tuple[type[Event], bytes, Any]:
    """What a topic holds, with the header and the parsed schema that it is written with."""
    name = schema_topic(topic)
    newest = catalogue().newest(name).id
    return TOPIC_RECORDS[name], header(newest), _parsed(newest)


@cache
def _reading(topic: str, schema_id: int) -> tuple[type[Event], Any, Any]:
    """What a topic holds, with the parsed schemas of writer and reader; no reader where they are the same."""
    name = schema_topic(topic)
    found = catalogue().entry(schema_id)
    if found.topic != name:
        raise CodecError(f"schema id {schema_id} is of topic {found.topic}, not of {name}")
    newest = catalogue().newest(name).id
    return TOPIC_RECORDS[name], _parsed(schema_id), None if schema_id == newest else _parsed(newest)


@cache
def _parsed(schema_id: int) -> Any:  # noqa: ANN401 - fastavro's own form
    """The parsed schema of an id; parsing on each use would double the cost of a record."""
    return fastavro.parse_schema(_bare(catalogue().schema(catalogue().entry(schema_id))))


def _bare(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """A schema without its logical types, for `plain` and `typed` see to those; its bytes are the same."""
    if isinstance(schema, list):
        return [_bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "logicalType" in schema:
        return schema["type"]
    return {key: value if key == "default" else _bare(value) for key, value in schema.items()}
