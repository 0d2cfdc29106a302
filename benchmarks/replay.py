"""How fast state comes from transitions: a takeover's own code beside raw consume and decode, on one broker, in turn.

The history is the logic's own, written again under other ids.
"""

import gc
import statistics
import time
import uuid
from io import BytesIO
from itertools import chain, islice
from typing import Any

import fastavro
from confluent_kafka import Consumer, TopicPartition

from benchmarks import histories
from benchmarks.floor.connection import CONSUMER, PARTITIONS
from benchmarks.takeover import whole
from remit.codec.catalogue import catalogue
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.log import KafkaLog
from remit.settings import load
from remit.topics import Topic, fixed_specs

HEADER_BYTES = 5


def measure(bootstrap: str, transitions: int = 100_000, rounds: int = 3) -> dict[str, Any]:
    """Transitions/s of floor and product in turn over one history, medians, ratios, bytes of state per workflow."""
    prefix = f"replay{uuid.uuid4().hex[:8]}."
    TopicAdmin(load(bootstrap=bootstrap, topic_prefix=prefix)).create(fixed_specs(prefix))
    log = KafkaLog(bootstrap, prefix, PARTITIONS)
    written = histories.append(log, islice(chain.from_iterable(histories.renamed()), transitions))
    found: dict[str, list[float]] = {"floor": [], "product": []}
    cpu: list[float] = []
    for _ in range(rounds):
        begun = time.process_time()
        found["floor"].append(written / _floor(bootstrap, prefix, written))
        between = time.process_time()
        found["product"].append(written / _product(log))
        cpu.append((between - begun) / (time.process_time() - between))
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    return {
        **medians,
        "rounds": found,
        "ratio": medians["product"] / medians["floor"],
        "ratio_cpu": statistics.median(cpu),
        "transitions": written,
        "unit": "transitions/s",
    }


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


def _product(log: KafkaLog) -> float:
    gc.collect()
    begun = time.perf_counter()
    whole(log)
    return time.perf_counter() - begun
