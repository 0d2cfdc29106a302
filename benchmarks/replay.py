"""How fast state comes from transitions: a takeover's own code beside raw consume and decode, on one broker, in turn.

The history is the logic's own: some real workflows, whose bytes are written again under other ids of the same length.
"""

import gc
import statistics
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from itertools import count, islice
from typing import Any

import fastavro
import psutil
from confluent_kafka import Consumer, TopicPartition

from benchmarks import logic
from benchmarks.floor.connection import CONSUMER, PARTITIONS
from remit.codec.catalogue import catalogue
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.log import KafkaLog
from remit.log.protocols import Message, Partition, Recorded
from remit.settings import load
from remit.topics import Topic, fixed_specs
from supervisor.shard import Shards
from supervisor.takeover import take_over

MODELS = 20
APPEND = 5000
HEADER_BYTES = 5


def measure(bootstrap: str, transitions: int = 100_000, rounds: int = 3) -> dict[str, Any]:
    """Transitions/s of floor and product in turn over one history, medians, ratios, bytes of state per workflow."""
    prefix = f"replay{uuid.uuid4().hex[:8]}."
    TopicAdmin(load(bootstrap=bootstrap, topic_prefix=prefix)).create(fixed_specs(prefix))
    log = KafkaLog(bootstrap, prefix, PARTITIONS)
    written = _fill(log, transitions)
    found: dict[str, list[float]] = {"floor": [], "product": []}
    cpu: list[float] = []
    resident: list[float] = []
    for _ in range(rounds):
        begun = time.process_time()
        found["floor"].append(written / _floor(bootstrap, prefix, written))
        between = time.process_time()
        seconds, per_workflow = _product(log)
        found["product"].append(written / seconds)
        cpu.append((between - begun) / (time.process_time() - between))
        resident.append(per_workflow)
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    return {
        **medians,
        "rounds": found,
        "ratio": medians["product"] / medians["floor"],
        "ratio_cpu": statistics.median(cpu),
        "transitions": written,
        "bytes_per_closed_workflow": resident[0],
        "unit": "transitions/s",
    }


def _fill(log: KafkaLog, transitions: int) -> int:
    writer = log.writer()
    renamed = islice(_renamed(), transitions)
    while some := list(islice(renamed, APPEND)):
        writer.append(some)
    writer.close()
    return transitions


def _renamed() -> Iterator[Message]:
    """Histories without end: bytes of model workflows, `w0000001` become `x0000001` and so on."""
    models: list[Message] = []
    logic.product(MODELS, models)
    by_key: dict[bytes, list[Message]] = {}
    for each in models:
        by_key.setdefault(each.key, []).append(each)
    for number in count():
        for key, history in list(by_key.items()):
            old = key.partition(b"/")[2]
            new = b"x%07d" % (number * MODELS + int(old[1:]))
            yield from (
                Message(each.topic, each.key.replace(old, new), each.value.replace(old, new)) for each in history
            )


def _floor(bootstrap: str, prefix: str, expected: int) -> float:
    settings = {"bootstrap.servers": bootstrap, **CONSUMER, "group.id": f"{prefix}floor"}
    consumer = Consumer(settings)
    newest = catalogue().newest(Topic.TRANSITIONS)
    schema = fastavro.parse_schema(catalogue().schema(newest))
    gc.collect()
    begun, read = time.perf_counter(), 0
    consumer.assign([TopicPartition(f"{prefix}{Topic.TRANSITIONS}", number, 0) for number in range(PARTITIONS)])
    while read < expected:
        for message in consumer.consume(500, 0.05):
            source = BytesIO(message.value() or b"")
            source.seek(HEADER_BYTES)
            fastavro.schemaless_reader(source, schema, None)
            read += 1
    seconds = time.perf_counter() - begun
    consumer.close()
    return seconds


def _product(log: KafkaLog) -> tuple[float, float]:
    gc.collect()
    before = psutil.Process().memory_info().rss
    begun = time.perf_counter()
    shards = take_over(log, AllShards(log), lambda: datetime.now(UTC))
    seconds = time.perf_counter() - begun
    grown = psutil.Process().memory_info().rss - before
    return seconds, grown / _count(shards)


def _count(shards: Shards) -> int:
    if shards.frozen:
        raise RuntimeError("the history conflicts with itself")
    return len(shards.states)


class AllShards:
    """As much of `Session` as a takeover asks for: every shard is owned, nothing was committed."""

    epoch = 0

    def __init__(self, log: KafkaLog) -> None:
        self._log = log
        self.shards = frozenset(range(log.partitions))

    def poll(self, limit: int, timeout: float) -> list[Recorded]:  # noqa: ARG002 - the protocol
        return []

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return dict.fromkeys(partitions, -1)

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        reader = self._log.reader()
        try:
            return reader.ends(partitions)
        finally:
            reader.close()

    def resume(self, positions: Mapping[Partition, int]) -> None:
        """Nothing is consumed here."""

    def position(self, partition: Partition) -> int:
        raise NotImplementedError(partition)

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""
