"""A Kafka cluster as the log's parts share it: connection, names, ends of partitions, the agreed partition counts.

Only `remit.log.kafka` imports it. Safe in several threads.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from remit.errors import LogError, TopologyError
from remit.log.kafka.client import logger
from remit.log.kafka.topology import agreed_specs
from remit.log.protocols import Partition

ANSWER_S = 10.0
RECHECK_S = 5.0
"""Age at which a writer looks at the partition counts again before its next record."""
RECHECK_ANSWER_S = 2.0
LOOK_AGAIN_S = 0.05
TRANSIENT = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError._TRANSPORT,  # noqa: SLF001 - the library's own codes
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
        KafkaError._TIMED_OUT,  # noqa: SLF001
    }
)
"""What passes by itself: leaders that move, topics just made, connections that come back."""
METADATA_MS = 10_000
"""How often clients refresh metadata by themselves: a changed count shows by then."""


class Cluster:
    """One cluster under one topic prefix, with an agreed partition count."""

    def __init__(self, bootstrap: str, prefix: str, partitions: int, extra: Mapping[str, Any]) -> None:
        """Connect lazily; `extra` are client settings in librdkafka's names."""
        self.prefix = prefix
        self.partitions = partitions
        self._refused_login: str | None = None
        self._checked_at = float("-inf")
        self._connection: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "metadata.recovery.strategy": "none",
            "topic.metadata.refresh.interval.ms": METADATA_MS,
            "logger": logger,
            "error_cb": self._hear,
            **extra,
        }
        self._admin = AdminClient(self._connection)

    def client(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Configuration of a client: the connection and its own settings."""
        return self._connection | dict(settings)

    def at(self, partition: Partition, offset: int | None = None) -> TopicPartition:
        """A partition as the client library names it."""
        name = self.prefix + partition.topic
        return (
            TopicPartition(name, partition.number) if offset is None else TopicPartition(name, partition.number, offset)
        )

    def of(self, named: TopicPartition) -> Partition:
        """A partition as we name it."""
        return Partition(named.topic.removeprefix(self.prefix), named.partition)

    def error(self, error: KafkaError, what: str) -> LogError:
        """The LogError for what the client library says; a refused login is named as such."""
        return LogError(f"{what}: {self._refused_login or error.str()}")

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """High watermarks, open transactions included; None while one is not known, LogError if it can't be."""
        return self._offsets(list(partitions), OffsetSpec.latest())

    def stable_ends(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """Last stable offsets, the first of each partition that an open transaction hides; otherwise as `ends`."""
        return self._offsets(list(partitions), OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """Earliest offsets held, likewise."""
        return self._offsets(list(partitions), OffsetSpec.earliest())

    def check(self, timeout: float | None = None) -> None:
        """Raise TopologyError if a topic is missing or its partition count is not as agreed."""
        found = self._counts(ANSWER_S if timeout is None else timeout)
        required = {spec.name: spec.partitions for spec in agreed_specs(self.prefix, self.partitions, sorted(found))}
        faults = count_faults(required, found)
        if faults:
            raise TopologyError("\n".join(faults))
        self._checked_at = time.monotonic()

    def recheck(self, older_than: float | None = None, timeout: float = RECHECK_ANSWER_S) -> None:
        """`check`, if the last one is old; a cluster that doesn't answer soon is the next call's matter."""
        if time.monotonic() - self._checked_at < (RECHECK_S if older_than is None else older_than):
            return
        try:
            self.check(min(timeout, RECHECK_ANSWER_S))
        except LogError as error:
            logger.info("partition counts could not be checked: %s", error)

    def _counts(self, timeout: float) -> dict[str, int]:
        try:
            topics = self._admin.list_topics(timeout=timeout).topics
        except KafkaException as error:
            raise self.error(error.args[0], "the cluster does not answer") from error
        return {name: len(topic.partitions) for name, topic in topics.items() if topic.error is None}

    def _offsets(
        self,
        partitions: Sequence[Partition],
        spec: OffsetSpec,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[Partition, int] | None:
        if not partitions:
            return {}
        try:
            # Without it a long-lived client answers from a stale leader epoch after a broker's restart.
            for topic in sorted({partition.topic for partition in partitions}):
                self._admin.list_topics(self.prefix + topic, timeout=ANSWER_S)
            futures = self._admin.list_offsets(
                {self.at(partition): spec for partition in partitions},
                isolation_level=isolation,
                request_timeout=ANSWER_S,
            )
            found = {self.of(named): future.result().offset for named, future in futures.items()}
        except KafkaException as error:
            if error.args[0].code() in TRANSIENT:
                logger.info("offsets are not known now: %s", error)
                return None
            raise self.error(error.args[0], "offsets could not be listed") from error
        # During an outage -1 comes as a result; taken for a pin it would be passed at once, with an empty state.
        return None if any(offset < 0 for offset in found.values()) else found

    def _hear(self, error: KafkaError) -> None:
        # A refused login shows at a call as a mere lack of transport; only this callback knows better.
        if error.code() == KafkaError._AUTHENTICATION:  # noqa: SLF001 - the library's own name for it
            self._refused_login = error.str()


def insist(ask: Callable[[], dict[Partition, int] | None]) -> dict[Partition, int]:
    """Ask again while the answer is not known; LogError if it stays so."""
    deadline = time.monotonic() + ANSWER_S
    while (answer := ask()) is None:
        if time.monotonic() > deadline:
            raise LogError("the cluster did not tell its offsets in time")
        time.sleep(LOOK_AGAIN_S)
    return answer


def count_faults(required: Mapping[str, int], found: Mapping[str, int]) -> list[str]:
    """One line for each topic that is missing or whose partition count differs, both counts named."""
    return [
        f"{name}: {found.get(name, 'no')} partitions found, agreed are {count}"
        for name, count in required.items()
        if found.get(name) != count
    ]
