"""What the script's processes share: arguments, clients' settings, a clean end. Written to be fast, not to be safe."""

import argparse
import signal
import threading
import time
from typing import Any, NamedTuple

from confluent_kafka import Consumer, Message

PARTITIONS = 8
BATCH = 500
WAIT_S = 0.05
CONSUMER = {
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "fetch.wait.max.ms": 50,
}
PRODUCER = {"enable.idempotence": True, "acks": "all", "linger.ms": 0, "partitioner": "murmur2_random"}


class Given(NamedTuple):
    """Where the cluster is, under which prefix, and whether claims and inspection are played."""

    bootstrap: str
    prefix: str
    full: bool

    def client(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Configuration of a client."""
        return {"bootstrap.servers": self.bootstrap, **settings}


def given() -> Given:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("bootstrap")
    parser.add_argument("prefix")
    parser.add_argument("--full", action="store_true")
    found = parser.parse_args()
    return Given(found.bootstrap, found.prefix, found.full)


def until_stopped() -> threading.Event:
    """Set by SIGTERM."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    return stop


def batch(consumer: Consumer) -> list[Message]:
    """Poll, then drain: `consume` alone would wait out its timeout."""
    first = consumer.poll(WAIT_S)
    found = [] if first is None else [first, *consumer.consume(BATCH - 1, 0)]
    return [message for message in found if message.error() is None]


def now() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000
