"""Records -> events, or the reason why one can't be used. Pure; the fold imports it.

The reason is by the record alone, so a rebuild skips the same ones. A transition or decision in a partition that its
key doesn't hash to is skipped too: read across partitions its place in history would depend on the order of arrival.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from remit.codec import decode
from remit.errors import CodecError, UnknownSchemaError
from remit.events.base import Event
from remit.events.transitions import Transition, TransitionKind
from remit.ids import sha256
from remit.log.protocols import Recorded
from remit.topics import SHARDED, partition_of, shard_key, workflow_key

from .tables import Values

UNDECODABLE = "undecodable"
UNKNOWN_SCHEMA = "unknown_schema"
MISPLACED = "misplaced"
CONTRACT_UNREADABLE = "contract_unreadable"


_SHARDED = frozenset(topic.value for topic in SHARDED)


class Read(NamedTuple):
    """A record and what it holds: an event, or the reason why there is none."""

    record: Recorded
    event: Event | None = None
    fault: str | None = None


def read(records: Iterable[Recorded], partitions: int) -> Iterator[Read]:
    """Each record with its event, one at a time; `partitions` is the agreed count of the sharded topics.

    Whoever takes them keeps none: thousands of events held at once cost more than their decoding.
    """
    for record in records:
        try:
            event = decode(record.topic, record.value)
        except UnknownSchemaError:
            yield Read(record, fault=UNKNOWN_SCHEMA)
        except CodecError:
            yield Read(record, fault=UNDECODABLE)
        else:
            yield Read(record, event) if _placed(record, event, partitions) else Read(record, fault=MISPLACED)


def _placed(record: Recorded, event: Event, partitions: int) -> bool:
    if record.topic not in _SHARDED:
        return True
    if isinstance(event, Transition) and event.kind is TransitionKind.DEAD_LETTERED:
        return record.key == shard_key(record.partition)
    key = workflow_key(event.tenant_id, event.workflow_id)
    return record.key == key and record.partition == partition_of(key, partitions)


def skipped(record: Recorded, reason: str) -> Values:
    """The row of a record that could not be used."""
    value = record.value or b""
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "reason": reason,
        "record_sha256": sha256(value),
        "size": len(value),
        "appended_at": record.appended_at,
    }
