"""A supervisor's membership and steps on Kafka. `KafkaLog.session` makes it; the main loop alone calls it."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from confluent_kafka import Consumer, KafkaException
from confluent_kafka import Message as KafkaMessage

from remit.errors import FencedError, LogError, StepAbortedError
from remit.log.kafka.cluster import Cluster
from remit.log.kafka.membership import Membership
from remit.log.kafka.records import CONSUMER, drain, failure, is_fatal, positions_of, recorded, split
from remit.log.kafka.transactions import Transactions
from remit.log.outgoing import placed, refuse_oversize
from remit.log.protocols import Message, Partition, Recorded
from remit.log.step import foreign, refuse_foreign, refuse_unfenced
from remit.topics import SHARDED

COMMITTED_S = 0.5
MEMBER = CONSUMER | {
    "group.protocol": "classic",
    # Keeps partition n of all sharded topics with one member.
    "partition.assignment.strategy": "range",
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 2_000,
    "max.poll.interval.ms": 60_000,
}


class KafkaSession:
    """Implements `Session`."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        """Fence a predecessor of this name, then join; TopologyError if partition counts are not as agreed."""
        cluster.check()
        self._cluster = cluster
        full_name = f"{cluster.prefix}supervisor.{name}"
        self._transactions = Transactions(cluster, full_name)
        self._membership = Membership(cluster.prefix)
        group = {"group.id": f"{cluster.prefix}supervisors", "group.instance.id": full_name}
        self._consumer = Consumer(cluster.client(MEMBER | group))
        self._started: dict[Partition, int] = {}
        self._serving = False
        self._lost: FencedError | None = None
        self._closed = False
        self._consumer.subscribe(
            [cluster.prefix + topic for topic in SHARDED],
            on_assign=self._membership.on_assign,
            on_revoke=self._membership.on_revoke,
            on_lost=self._membership.on_revoke,
        )

    @property
    def epoch(self) -> int:
        """Raised by every revoke and assign."""
        return self._membership.epoch

    @property
    def shards(self) -> frozenset[int]:
        """Shards owned now."""
        return self._membership.shards

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """Serve the group and read; nothing is returned from the poll in which shards changed hands."""
        self._refuse_lost()
        before = self.epoch
        records, failed = split(drain(self._consumer, limit, timeout))
        if self.epoch != before:
            self._serving = False
            self._membership.refuse_misaligned()
            self._cluster.check()
            return []
        if failed is not None:
            raise self._failure(failed)
        return [recorded(self._cluster, record) for record in records]

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """Committed offsets, -1 for none; None while undecided or while the cluster doesn't answer."""
        self._refuse_lost()
        if not self._transactions.ready():
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
            # Leaving in the midst of a rebalance, the library trips over our callback.
            with contextlib.suppress(KafkaException, SystemError):
                self._consumer.close()

    def _prepare(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        for message in messages:
            placed(message, self._cluster.partitions)
        refuse_unfenced(messages, offsets, self._cluster.partitions)
        refuse_oversize(messages)
        self._refuse_lost()
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

    def _failure(self, failed: KafkaMessage) -> LogError:
        error = failure(self._cluster, failed, self._started)
        if isinstance(error, FencedError):
            self._lost = error
        return error

    def _refuse_lost(self) -> None:
        if self._closed:
            raise LogError("the session is closed")
        if self._lost is not None:
            raise self._lost

    def _refuse_fatal(self, error: KafkaException) -> None:
        cause = error.args[0]
        if is_fatal(cause):
            self._lost = FencedError(f"this process lost its name: {cause.str()}")
            raise self._lost from error
