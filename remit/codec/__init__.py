"""The codec: typed events to bytes and back, by the schemas in `schemas_avro/`. Anyone may import it."""

from remit.codec.codec import decode, encode
from remit.codec.records import TOPIC_RECORDS, schema_topic

__all__ = ["TOPIC_RECORDS", "decode", "encode", "schema_topic"]
