"""A supervisor's membership and steps on Kafka. `KafkaLog.session` makes it; the main loop alone calls it."""

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException

from remit.errors import FencedError, LogError, StepAbortedError
from remit.log.kafka.cluster import Cluster
from remit.log.kafka.membership import Membership
from remit.log.kafka.pace import Pace
from remit.log.kafka.records import CONSUMER, drain, failure, is_fatal, positions_of, recorded, split
from remit.log.kafka.transactions import Transactions
from remit.log.outgoing import placed, refuse_oversize
from remit.log.protocols import Message, Partition, Recorded
from remit.log.step import foreign, refuse_foreign, refuse_unfenced
from remit.topics import SHARDED

COMMITTED_S = 0.5
POLL_LIMIT_MS = 60_000
"""Longest time between two polls. One record's handling is bounded by its size, far below; a batch's by its pace."""
MEMBER = CONSUMER | {
    "group.protocol": "classic",
    # Keeps partition n of all sharded topics with one member.
    "partition.assignment.strategy": "range",
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 2_000,
    "max.poll.interval.ms": POLL_LIMIT_MS,
}


class KafkaSession:
    """Implements `Session`."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        """Fence a predecessor of this name, then join; TopologyError if partition counts are not as agreed."""
        cluster.check()
        self._cluster = cluster
        self._name = f"{cluster.prefix}supervisor.{name}"
        self._transactions = Transactions(cluster, self._name)
        self._membership = Membership(cluster.prefix)
        self._consumer = self._join()
        self._pace = Pace(POLL_LIMIT_MS / 1000, time.monotonic)
        self._started: dict[Partition, int] = {}
        self._serving = False
        self._fenced = False
        self._closed = False

    @property
    def epoch(self) -> int:
        """Raised by every revoke and assign."""
        return self._membership.epoch

    @property
    def shards(self) -> frozenset[int]:
        """Shards owned now."""
        return self._membership.shards

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """Serve the group and read; nothing is returned from the poll in which shards changed hands.

        Fewer than `limit` records after a batch that took long. FencedError is raised once; the next poll joins again,
        for the name may have been lost to an outage only.
        """
        if self._fenced:
            self._rejoin()
        before = self.epoch
        records, failed = split(drain(self._consumer, self._pace.limit(limit), timeout))
        if failed is not None and is_fatal(failed.error()):
            raise self._lost(failed.error())
        if self.epoch != before:
            self._serving = False
            self._membership.refuse_misaligned()
            self._cluster.recheck(older_than=0)
            return []
        if failed is not None:
            raise failure(self._cluster, failed, self._started)
        self._pace.hand_out(len(records))
        return [recorded(self._cluster, record) for record in records]

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """Committed offsets, -1 for none; None while undecided or while the cluster doesn't answer."""
        if self._fenced or not self._transactions.ready():
            return None
        try:
            found = self._consumer.committed([self._cluster.at(each) for each in partitions], timeout=COMMITTED_S)
        except KafkaException as error:
            self._refuse_fatal(error)
            return None
        if any(named.error for named in found):
            return None
        return {self._cluster.of(named): max(named.offset, -1) for named in found}

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """High watermarks; None while one is not known."""
        return self._cluster.ends(partitions)

    def resume(self, positions: Mapping[Partition, int]) -> None:
        """Consume from these offsets; ValueError for a partition that isn't owned."""
        refuse_foreign(positions, self.shards)
        self._consume_from(positions)
        self._serving = True

    def position(self, partition: Partition) -> int:
        """Next offset to be read of a partition that was resumed."""
        return positions_of(self._cluster, self._consumer, self._started, [partition])[partition]

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        """Write messages and offsets in one transaction."""
        self._prepare(messages, offsets)
        with self._dropping():
            self._transactions.commit()

    def close(self) -> None:
        """Abort what is open and disconnect; a static name's shards stay its own until the session timeout."""
        if not self._closed:
            self._closed = True
            self._serving = False
            self._transactions.close()
            self._leave()

    def _prepare(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        for message in messages:
            placed(message, self._cluster.partitions)
        refuse_unfenced(messages, offsets, self._cluster.partitions)
        refuse_oversize(messages)
        self._cluster.recheck()
        with self._dropping():
            if not self._serving or foreign(offsets, self.shards):
                raise StepAbortedError("the shards changed hands since they were taken over; nothing was written")
            self._transactions.write(messages, offsets, self._membership.metadata)

    @contextlib.contextmanager
    def _dropping(self) -> Iterator[None]:
        """After a failed step nothing is consumed or written before the session resumes: records would be skipped."""
        try:
            yield
        except LogError:
            self._serving = False
            self._consume_from({})
            raise

    def _consume_from(self, positions: Mapping[Partition, int]) -> None:
        self._started = dict(positions)
        try:
            self._consumer.assign([self._cluster.at(each, offset) for each, offset in positions.items()])
        except KafkaException as error:
            self._refuse_fatal(error)
            raise self._cluster.error(error.args[0], "partitions can't be assigned") from error

    def _join(self) -> Consumer:
        group = {"group.id": f"{self._cluster.prefix}supervisors", "group.instance.id": self._name}
        consumer = Consumer(self._cluster.client(MEMBER | group))
        consumer.subscribe(
            [self._cluster.prefix + topic for topic in SHARDED],
            on_assign=self._membership.on_assign,
            on_revoke=self._membership.on_revoke,
            on_lost=self._membership.on_revoke,
        )
        return consumer

    def _rejoin(self) -> None:
        self._transactions.close()
        self._leave()
        self._consumer = self._join()
        self._fenced = False

    def _leave(self) -> None:
        # Leaving in the midst of a rebalance, the library trips over our callback.
        with contextlib.suppress(KafkaException, SystemError):
            self._consumer.close()

    def _lost(self, error: KafkaError | None) -> FencedError:
        self._fenced = True
        self._serving = False
        self._membership.forget()
        return FencedError(f"{self._name}: lost to another process, or to an outage: {error and error.str()}")

    def _refuse_fatal(self, error: KafkaException) -> None:
        if is_fatal(error.args[0]):
            raise self._lost(error.args[0]) from error
