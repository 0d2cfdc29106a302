"""Writes records to Kafka idempotently, outside any transaction. `KafkaLog.writer` makes it.

Safe in several threads.
"""

import threading
import time
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as KafkaMessage

from remit.errors import LogError
from remit.log.kafka.cluster import Cluster
from remit.log.kafka.records import recorded
from remit.log.outgoing import placed, refuse_oversize
from remit.log.protocols import Message, Recorded
from remit.topics import MAX_MESSAGE_BYTES

WAIT_S = 0.05
MESSAGE_TIMEOUT_MS = 30_000
PRODUCER = {
    "enable.idempotence": True,
    "acks": "all",
    "linger.ms": 0,
    "message.max.bytes": MAX_MESSAGE_BYTES,
}


class Receipts:
    """What became of each message of one append."""

    def __init__(self, cluster: Cluster, count: int) -> None:
        """Expect `count` answers."""
        self._cluster = cluster
        self._records: list[Recorded | None] = [None] * count
        self._lock = threading.Lock()
        self.waiting = count
        self.failed: KafkaError | None = None

    def at(self, index: int) -> Callable[[KafkaError | None, KafkaMessage], None]:
        """The callback of one message."""

        def deliver(error: KafkaError | None, message: KafkaMessage) -> None:
            with self._lock:
                self.waiting -= 1
                if error is None:
                    self._records[index] = recorded(self._cluster, message)
                elif self.failed is None:
                    self.failed = error

        return deliver

    def all(self) -> list[Recorded]:
        """Where each lies, in the order sent."""
        return [record for record in self._records if record is not None]


class KafkaWriter:
    """Implements `Writer`."""

    def __init__(self, cluster: Cluster) -> None:
        """Check the partition counts; TopologyError if they are not as agreed."""
        cluster.check()
        self._cluster = cluster
        self._producer = self._new()
        self._closed = False

    def append(self, messages: Sequence[Message], timeout: float = 30.0) -> list[Recorded]:
        """Write all and wait for the log's word on each; TopologyError once the partition counts changed."""
        refuse_oversize(messages)
        targets = [placed(message, self._cluster.partitions) for message in messages]
        if self._closed:
            raise LogError("the writer is closed")
        deadline = time.monotonic() + timeout
        self._cluster.recheck(timeout=timeout / 2)
        receipts = Receipts(self._cluster, len(messages))
        for index, (message, target) in enumerate(zip(messages, targets, strict=True)):
            produce(self._producer, self._cluster, message, target.number, receipts.at(index))
        self._await(receipts, deadline)
        return receipts.all()

    def close(self) -> None:
        """Flush and disconnect."""
        if not self._closed:
            self._closed = True
            self._producer.close()

    def _await(self, receipts: Receipts, deadline: float) -> None:
        while receipts.waiting and time.monotonic() < deadline:
            self._producer.poll(WAIT_S)
        if receipts.waiting:
            # What was not sent by now must not arrive when nobody waits for it any more.
            self._producer.purge()
            raise LogError(f"{receipts.waiting} messages were not acknowledged in time; whether they lie is unknown")
        if receipts.failed is not None:
            self._fail(receipts.failed)

    def _fail(self, error: KafkaError) -> None:
        if error.fatal():
            self._producer = self._new()
        raise self._cluster.error(error, "a message was not written, or it is unknown whether it was")

    def _new(self) -> Producer:
        return Producer(self._cluster.client(PRODUCER | {"message.timeout.ms": MESSAGE_TIMEOUT_MS}))


def produce(
    producer: Producer,
    cluster: Cluster,
    message: Message,
    number: int,
    deliver: Callable[[KafkaError | None, KafkaMessage], None] | None = None,
) -> None:
    """Queue a message for an explicit partition, waiting while the queue is full."""
    while True:
        try:
            producer.produce(
                cluster.prefix + message.topic,
                key=message.key,
                value=message.value,
                partition=number,
                headers=list(message.headers),
                on_delivery=deliver,
            )
        except BufferError:
            producer.poll(WAIT_S)
        except KafkaException as error:
            raise cluster.error(error.args[0], f"{message.topic}: a message can't be sent") from error
        else:
            return
