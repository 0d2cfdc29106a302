"""Reads committed records from Kafka without a group. `KafkaLog.reader` makes it."""

import contextlib
import time
from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer, KafkaException, Message

from remit.errors import HistoryGapError, LogError
from remit.log.kafka import cluster as shared
from remit.log.kafka.cluster import Cluster, insist
from remit.log.kafka.records import CONSUMER, drain, failure, positions_of, recorded, split
from remit.log.protocols import Partition, Recorded


class KafkaReader:
    """Implements `Reader`."""

    def __init__(self, cluster: Cluster) -> None:
        """Connect lazily, with nothing assigned."""
        self._cluster = cluster
        # The library wants a group's name; nothing is ever committed under it.
        self._consumer = Consumer(cluster.client(CONSUMER | {"group.id": f"{cluster.prefix}readers"}))
        self._started: dict[Partition, int] = {}
        self._failed: LogError | None = None
        self._looked_at = time.monotonic()
        self._closed = False

    def assign(self, positions: Mapping[Partition, int]) -> None:
        """Read from here on; replaces what was assigned, and purges what was prefetched."""
        self._started = dict(positions)
        try:
            self._consumer.assign([self._cluster.at(each, offset) for each, offset in positions.items()])
        except KafkaException as error:
            raise self._cluster.error(error.args[0], "partitions can't be assigned") from error
        self._failed = None

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """Up to `limit` records; an error is raised once the records before it were returned.

        A gap is raised until `assign`; any other error once, and the next poll reads on where this one stood.
        TopologyError once the partition counts changed: what is read would no longer be all there is.
        """
        self._look_again()
        if self._failed is not None:
            raise self._over(self._failed)
        records, failed = split(drain(self._consumer, limit, timeout))
        if failed is not None:
            self._failed = self._failure(failed)
            if not records:
                raise self._over(self._failed)
        return [recorded(self._cluster, record) for record in records]

    def position(self, partition: Partition) -> int:
        """Next offset to be read."""
        return self._positions([partition])[partition]

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """High watermarks."""
        wanted = list(partitions)
        return insist(lambda: self._cluster.ends(wanted))

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Earliest offsets held."""
        wanted = list(partitions)
        return insist(lambda: self._cluster.starts(wanted))

    def close(self) -> None:
        """Disconnect."""
        if not self._closed:
            self._closed = True
            self._consumer.close()

    def _look_again(self) -> None:
        """At most now and then, whatever comes of it: a cluster that is gone must not hold up every poll."""
        now = time.monotonic()
        if now - self._looked_at >= shared.RECHECK_S:
            self._looked_at = now
            self._cluster.recheck()

    def _failure(self, failed: Message) -> LogError:
        try:
            return failure(self._cluster, failed, self._positions(self._started))
        except LogError as error:  # where the gap lies is not known: to be raised, too, behind the records
            return error

    def _over(self, failed: LogError) -> LogError:
        """The error to be raised now. The client stops reading a partition that failed, until it is assigned anew."""
        if not isinstance(failed, HistoryGapError):
            with contextlib.suppress(LogError):  # else the next poll tries again
                self.assign(self._positions(self._started))
        return failed

    def _positions(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        return positions_of(self._cluster, self._consumer, self._started, partitions)
