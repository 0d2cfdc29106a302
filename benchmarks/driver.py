"""Submits workflows and waits for their acceptance, for floor and product alike: the same clients, the same waits."""

import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka import Message as KafkaMessage

from benchmarks.floor.connection import CONSUMER, PARTITIONS, PRODUCER, batch
from remit.log.protocols import Message

ACCEPTED = "workflow_accepted"
STUCK_S = 90.0
"""So long without an acceptance is a failure of the run, not a figure."""


@dataclass(frozen=True)
class Run:
    """What one run showed; latencies in seconds, from submission to the acceptance as a reader sees it."""

    workflows: int
    seconds: float
    latencies: tuple[float, ...]
    stalls: int = 0  # results set aside as stale, and leases that expired for want of them

    @property
    def rate(self) -> float:
        """Workflows per second."""
        return self.workflows / self.seconds

    @property
    def p50(self) -> float:
        """Median latency."""
        return statistics.median(self.latencies)

    @property
    def p95(self) -> float:
        """95th percentile of the latencies."""
        ordered = sorted(self.latencies)
        return ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)]


class Driver:
    """One submitting and watching client; `read` gives a transition's kind and workflow."""

    def __init__(
        self, bootstrap: str, prefix: str, read: Callable[[KafkaMessage], tuple[str, str]], alive: Callable[[], None]
    ) -> None:
        """Watch transitions from their beginning; `alive` raises when a process under test has ended."""
        self._prefix, self._read, self._alive = prefix, read, alive
        self._producer = Producer({"bootstrap.servers": bootstrap, **PRODUCER})
        self._consumer = Consumer({"bootstrap.servers": bootstrap, **CONSUMER, "group.id": f"{prefix}driver"})
        self._consumer.assign([TopicPartition(f"{prefix}transitions", number, 0) for number in range(PARTITIONS)])
        self.kinds: Counter[str] = Counter()

    def run(self, submissions: Sequence[tuple[str, Message]], in_flight: int) -> Run:
        """Submit all, at most so many at once, and wait until each is accepted; RuntimeError when nothing moves."""
        waiting = iter(submissions)
        open_: dict[str, float] = {}
        latencies: list[float] = []
        self.kinds.clear()
        begun = moved = time.perf_counter()
        while len(latencies) < len(submissions):
            while len(open_) < in_flight and (following := next(waiting, None)) is not None:
                open_[following[0]] = time.perf_counter()
                self._submit(following[1])
            self._producer.poll(0)
            now = time.perf_counter()
            for kind, workflow_id in map(self._read, batch(self._consumer)):
                self.kinds[kind] += 1
                if kind == ACCEPTED and workflow_id in open_:
                    moved = time.perf_counter()
                    latencies.append(moved - open_.pop(workflow_id))
            if now - moved > STUCK_S:
                raise RuntimeError(f"nothing was accepted for {STUCK_S:.0f} s; {len(open_)} workflows are open")
            self._alive()
        stalls = self.kinds["stale"] + self.kinds["lease_expired"]
        return Run(len(submissions), time.perf_counter() - begun, tuple(latencies), stalls)

    def close(self) -> None:
        """Disconnect."""
        self._producer.flush()
        self._consumer.close()

    def _submit(self, message: Message) -> None:
        headers: list[tuple[str, str | bytes | None]] = [*message.headers]
        while True:
            try:
                self._producer.produce(
                    self._prefix + message.topic, key=message.key, value=message.value, headers=headers
                )
            except BufferError:
                self._producer.poll(0.05)
            else:
                return
