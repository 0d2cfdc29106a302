"""The producer half of a session: one transaction at a time, and a new producer after a fatal error.

Only the session uses it. Each failure ends as FencedError or StepAbortedError, with nothing left open here.
"""

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from remit.errors import FencedError, LogError, StepAbortedError
from remit.log.kafka.client import logger
from remit.log.kafka.cluster import Cluster
from remit.log.kafka.records import is_fenced
from remit.log.kafka.writer import PRODUCER, produce
from remit.log.outgoing import placed
from remit.log.protocols import Message, Partition

START_S = 30.0
CALL_S = 10.0
"""Bound of one step's call; the broker aborts a transaction after as long."""
TRANSACTIONAL = PRODUCER | {
    "transaction.timeout.ms": 10_000,
    "message.timeout.ms": 9_500,
    # At the default of 100 ms every transaction that meets its predecessor's markers would wait that long.
    "retry.backoff.ms": 20,
}


class Transactions:
    """Transactions under one stable name."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        """Fence the predecessor of this name and end what it left open; LogError if the cluster doesn't let us."""
        self._cluster = cluster
        self._name = name
        self._producer: Producer | None = None
        deadline = time.monotonic() + START_S
        while not self.ready():
            if time.monotonic() > deadline:
                raise LogError(f"{name}: no transactions within {START_S:.0f} s; does the cluster answer?")

    def ready(self) -> bool:
        """Make the producer if there is none; False when the cluster is not there yet. LogError if it refuses."""
        if self._producer is not None:
            return True
        producer = Producer(self._cluster.client(TRANSACTIONAL | {"transactional.id": self._name}))
        try:
            producer.init_transactions(CALL_S)
        except KafkaException as error:
            if error.args[0].retriable():
                return False
            raise self._cluster.error(error.args[0], f"{self._name}: no transactions") from error
        self._producer = producer
        return True

    def write(self, messages: Sequence[Message], offsets: Mapping[Partition, int], metadata: Any) -> None:  # noqa: ANN401 - the library's opaque object
        """Begin, write messages and offsets, and leave it to `commit`."""
        with self._failing() as producer:
            producer.begin_transaction()
            for message in messages:
                produce(producer, self._cluster, message, placed(message, self._cluster.partitions).number)
            # Without it the offsets meet partitions still being added and wait out a back-off. What it may raise or
            # leave shows again, better named, when the offsets are sent.
            with contextlib.suppress(KafkaException, SystemError):
                producer.flush(CALL_S)
            sent = [self._cluster.at(partition, offset) for partition, offset in offsets.items()]
            _insist(lambda left: producer.send_offsets_to_transaction(sent, metadata, left))

    def commit(self) -> None:
        """Commit what was written."""
        with self._failing() as producer:
            _insist(producer.commit_transaction)

    def abort(self) -> None:
        """Abort what is open; a producer that can't is given up."""
        if self._producer is None:
            return
        try:
            self._producer.abort_transaction(CALL_S)
        except (KafkaException, SystemError) as error:
            logger.info("%s: abort failed, a new producer follows: %s", self._name, error)
            self._discard()

    def close(self) -> None:
        """Abort what is open and disconnect; idempotent."""
        self._discard()

    @contextlib.contextmanager
    def _failing(self) -> Iterator[Producer]:
        if self._producer is None:
            raise StepAbortedError(f"{self._name}: the producer was lost; take the shards over first")
        try:
            yield self._producer
        except KafkaException as error:
            raise self._ended(error.args[0]) from error
        except (LogError, SystemError, BufferError) as error:
            self._discard()
            raise StepAbortedError(f"{self._name}: the step was given up: {error}") from error

    def _ended(self, error: KafkaError) -> LogError:
        if error.txn_requires_abort() and not error.fatal():
            self.abort()
        else:
            # Fatal, or undecided: only a new producer's start settles it before the next transaction.
            self._discard()
        kind = FencedError if is_fenced(error) else StepAbortedError
        return kind(f"{self._name}: the step was not committed by this process: {error.str()}")

    def _discard(self) -> None:
        producer, self._producer = self._producer, None
        if producer is None:
            return
        with contextlib.suppress(KafkaException, SystemError), warnings.catch_warnings():
            # That it couldn't abort what is undecided is known: why else would it be given up?
            warnings.simplefilter("ignore", RuntimeWarning)
            producer.purge()
            producer.close()


def _insist(call: Callable[[float], None]) -> None:
    """Repeat a call whose error is retriable, within its bound; the library resumes it."""
    deadline = time.monotonic() + CALL_S
    while True:
        try:
            return call(max(deadline - time.monotonic(), 0.1))
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > deadline:
                raise
