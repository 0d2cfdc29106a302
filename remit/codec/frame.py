"""The Confluent wire format: magic byte 0, schema id as four big-endian bytes, Avro body. Pure.

A storage format. Only `remit.codec` imports it.
"""

from remit.errors import CodecError

MAGIC = 0
HEADER_BYTES = 5


def header(schema_id: int) -> bytes:
    """The five bytes that name a schema."""
    return bytes((MAGIC,)) + schema_id.to_bytes(HEADER_BYTES - 1, "big")


def schema_id_of(value: bytes | None) -> int:
    """Id of the schema that a record's value was written with; the body starts at `HEADER_BYTES`."""
    if value is None:
        raise CodecError("value is null")
    if not value:
        raise CodecError("value is empty")
    if value[0] != MAGIC:
        raise CodecError(f"byte 0: magic byte is 0x{value[0]:02x}, not 0x{MAGIC:02x}")
    if len(value) < HEADER_BYTES:
        raise CodecError(f"truncated: {len(value)} bytes, a header has {HEADER_BYTES}")
    return int.from_bytes(value[1:HEADER_BYTES], "big")
