"""The one constructor of events and of the records that carry them; nothing else sets causation. Anyone may import it.

Pure but for the fresh id of an event that none is given for. Keys and headers are a storage format: the key by
`remit.topics`, CloudEvents 1.0 in binary mode and W3C trace context as headers, so that tools which know neither
Avro nor Remit can still route and trace.
"""

import re
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import UUID

from msgspec import to_builtins

from remit import topics
from remit.codec import encode, schema_topic
from remit.errors import CodecError
from remit.events.base import Cause, Event
from remit.events.service import Checkpoint, CheckpointKind, DeadLetter, Dispatch, Liveness, Policy, Worker
from remit.events.transitions import Transition
from remit.ids import new_event_id
from remit.log.protocols import Message, Recorded

E = TypeVar("E", bound=Event)
CONTENT_TYPE = b"application/avro"
TRACEPARENT = "traceparent"
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def new_event(
    cls: type[E],
    *,
    tenant_id: str,
    workflow_id: str,
    producer: str,
    clock_now: datetime,
    cause: Cause | None = None,
    event_id: UUID | None = None,
    **fields: Any,  # noqa: ANN401 - the fields of `cls`, which checks their names
) -> E:
    """An event with its envelope.

    Args:
        cls: which event.
        tenant_id: empty where it belongs to no tenant.
        workflow_id: empty where it belongs to no workflow.
        producer: role and instance that writes it.
        clock_now: aware; the producer's clock.
        cause: what it follows from, by `cause_of`.
        event_id: a derived id; without one a fresh UUIDv7 is taken.
        fields: all other fields of `cls`; CodecError names one that is unknown or missing.

    """
    if clock_now.utcoffset() is None:
        raise CodecError("clock_now: a time without a zone; give it one, such as UTC")
    try:
        return cls(
            event_id=event_id or new_event_id(),
            tenant_id=tenant_id,
            workflow_id=workflow_id,
            occurred_at=clock_now,
            producer=producer,
            cause=cause,
            **fields,
        )
    except TypeError as error:
        raise CodecError(f"{cls.__name__}: {error}") from None


def cause_of(recorded: Recorded, event: Event) -> Cause:
    """The cause that `event`, as read from `recorded`, is to whatever follows from it."""
    return Cause(event_id=event.event_id, topic=recorded.topic, partition=recorded.partition, offset=recorded.offset)


def message(event: Event, topic: str, traceparent: str | None = None) -> Message:
    """The record that carries an event in `topic` (without prefix): key, encoded value, headers.

    A `traceparent` that is not W3C's form is replaced by the derived one: trace = workflow, span = event.
    """
    value = encode(topic, event)  # first, for it checks what key and headers are made of
    shard = _shard(event)
    key = _key(event, shard)
    of_workflow = event.workflow_id and shard is None
    subject = topics.workflow_key(event.tenant_id, event.workflow_id) if of_workflow else key
    return Message(topic, key, value, shard, _headers(event, topic, subject, traceparent))


def key_of(event: Event) -> bytes:
    """The key that the event is written under."""
    return _key(event, _shard(event))


def _key(event: Event, shard: int | None) -> bytes:
    match event:
        case Dispatch() | Worker() | Liveness():
            return topics.worker_key(event.worker_id)
        case Policy():
            return event.policy_sha256.encode()
        case DeadLetter():
            return topics.coordinates_key(event.source_topic, event.source_partition, event.source_offset)
    return topics.workflow_key(event.tenant_id, event.workflow_id) if shard is None else topics.shard_key(shard)


def _shard(event: Event) -> int | None:
    """The shard whose own key the event goes to: a marker, or a note that belongs to no workflow."""
    match event:
        case Checkpoint(kind=CheckpointKind.SHARD):
            return event.shard
        case Transition(tenant_id="", workflow_id=""):
            if event.cause is None or event.cause.partition is None:
                raise CodecError("cause.partition: a note that belongs to no workflow needs the shard of its cause")
            return event.cause.partition
    return None


def _headers(event: Event, topic: str, subject: bytes, traceparent: str | None) -> tuple[tuple[str, bytes], ...]:
    if traceparent is None or not _TRACEPARENT.fullmatch(traceparent):
        # All events of a workflow share a trace; the span is the half of the id that differs most, sampled.
        traceparent = f"00-{_trace(subject)}-{event.event_id.bytes[8:].hex()}-01"
    return (
        ("ce_specversion", b"1.0"),
        ("ce_id", to_builtins(event.event_id).encode()),
        ("ce_source", _source(event.producer)),
        ("ce_type", _type(topic, event.kind)),  # type: ignore[attr-defined]  # every event has one; a test holds it
        ("ce_time", to_builtins(event.occurred_at.astimezone(UTC)).encode()),
        ("ce_subject", subject),
        ("content-type", CONTENT_TYPE),
        (TRACEPARENT, traceparent.encode()),
    )


# What is the same in many events is remembered: as much of it as is in use at a time.


@lru_cache
def _source(producer: str) -> bytes:
    return f"/remit/{quote(producer)}".encode()


@lru_cache
def _type(topic: str, kind: StrEnum) -> bytes:
    return f"remit.{schema_topic(topic)}.{kind.value}".encode()


@lru_cache(maxsize=4096)
def _trace(subject: bytes) -> str:
    return sha256(subject).hexdigest()[:32]
