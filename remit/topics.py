"""Topic names, kinds, keys and partitions: the one place that knows the topology. Pure; anyone may import it.

A storage format: names, keys and partitioning stand as written, for every log ever made.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

DEFAULT_PREFIX = "remit."
PARTITIONS_ONE_MACHINE = 8
PARTITIONS_CLUSTER = 32
MAX_MESSAGE_BYTES = 2 * 1024 * 1024
DAY_MS = 24 * 60 * 60 * 1000
DISPATCHES = "dispatches"


class Topic(StrEnum):
    """The topics whose names are fixed; a pool's dispatches are `dispatches.<pool>`."""

    CONTRACTS = "contracts"
    LEASES = "leases"
    RESULTS = "results"
    INSPECTIONS = "inspections"
    DECISIONS = "decisions"
    RECEIPTS = "receipts"
    TRANSITIONS = "transitions"
    CHECKPOINTS = "checkpoints"
    WORKERS = "workers"
    LIVENESS = "liveness"
    POLICIES = "policies"
    DEAD_LETTERS = "dead-letters"


SHARDED = (
    Topic.CONTRACTS,
    Topic.LEASES,
    Topic.RESULTS,
    Topic.INSPECTIONS,
    Topic.DECISIONS,
    Topic.RECEIPTS,
    Topic.TRANSITIONS,
    Topic.CHECKPOINTS,
)
"""Keyed `tenant/workflow`, same partition count, consumed together: partition n of each is shard n."""

INPUTS = (
    Topic.CONTRACTS,
    Topic.LEASES,
    Topic.RESULTS,
    Topic.INSPECTIONS,
    Topic.DECISIONS,
    Topic.RECEIPTS,
)
"""What a supervisor decides on; transitions and checkpoints are what it wrote itself."""

ANSWERED = (Topic.CONTRACTS, Topic.RESULTS, Topic.INSPECTIONS, Topic.DECISIONS, Topic.RECEIPTS)
"""Inputs of which every record leaves at least a note in transitions."""

SINGLE = (Topic.WORKERS, Topic.LIVENESS, Topic.POLICIES)
"""One partition each."""


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """What a topic must be set to: `name` with prefix, partition count, topic settings as Kafka names them."""

    name: str
    partitions: int
    config: dict[str, str]


def dispatches(pool: str) -> str:
    """Name, without prefix, of the topic that carries a pool's dispatches."""
    return f"{DISPATCHES}.{pool}"


def workflow_key(tenant_id: str, workflow_id: str) -> bytes:
    """The one byte form of a workflow's key."""
    return f"{tenant_id}/{workflow_id}".encode()


def shard_key(shard: int) -> bytes:
    """Key of the notes that belong to a shard and to no workflow; written to partition `shard` explicitly."""
    return f"_shard/{shard}".encode()


def worker_key(worker_id: str) -> bytes:
    """Key of what a worker is told or says of itself."""
    return worker_id.encode()


def coordinates_key(topic: str, partition: int, offset: int) -> bytes:
    """Key of what speaks of one record: where that record lies; `topic` without prefix."""
    return f"{topic}/{partition}/{offset}".encode()


@lru_cache(maxsize=8192)
def partition_of(key: bytes, partitions: int) -> int:
    """Partition of a key, by the murmur2 that every Kafka client uses; remembered, for a key comes again and again."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Kafka's 32-bit murmur2 of `data`, as an unsigned int (source: the partitioner's published algorithm)."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = (0x9747B28C ^ len(data)) & mask
    whole = len(data) & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i : i + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if tail := data[whole:]:
        h = (h ^ int.from_bytes(tail, "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15


def spec(topic: str, prefix: str, partitions: int) -> TopicSpec:
    """What the topic (name without prefix) must be: partitions and settings."""
    count = 1 if topic in SINGLE else partitions
    return TopicSpec(prefix + topic, count, _common() | _retention(topic))


def fixed_specs(prefix: str = DEFAULT_PREFIX, partitions: int = PARTITIONS_ONE_MACHINE) -> tuple[TopicSpec, ...]:
    """Specs of all topics with fixed names; pools' dispatches come with `policy apply`."""
    return tuple(spec(topic, prefix, partitions) for topic in Topic)


def _common() -> dict[str, str]:
    return {"message.timestamp.type": "LogAppendTime", "max.message.bytes": str(MAX_MESSAGE_BYTES)}


def _retention(topic: str) -> dict[str, str]:
    if topic == Topic.CHECKPOINTS:
        return {"cleanup.policy": "compact"}
    kept_ms = DAY_MS if topic in {Topic.LEASES, Topic.LIVENESS} else -1
    return {"cleanup.policy": "delete", "retention.ms": str(kept_ms), "retention.bytes": "-1"}
