"""Looks at a cluster as an operator would: brokers, clocks, ends, groups, the age of unread records.

`remit.doctor` imports it. Partitions carry full topic names, prefix included. Nothing of the log is changed.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from remit.errors import LogError
from remit.instants import aware
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.client import client_config
from remit.log.kafka.cluster import LOOK_AGAIN_S, Cluster, insist
from remit.log.kafka.records import CONSUMER
from remit.log.kafka.release import metadata_level
from remit.log.protocols import Partition
from remit.settings import Settings
from remit.topics import TopicSpec

ANSWER_S = 10.0
CLOCK_TOPIC = "_doctor"
_CLOCK_CONFIG = {"message.timestamp.type": "LogAppendTime", "cleanup.policy": "delete", "retention.ms": "3600000"}
_SMALL_FETCHES = {
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
    "queued.min.messages": 1,
    "queued.max.messages.kbytes": 1024,
    "fetch.message.max.bytes": 64 * 1024,
}
"""One record of each partition is wanted, and there may be millions."""

_MOVING = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    }
)


T = TypeVar("T")


class Standing(NamedTuple):
    """A group: how many members it has now, and its committed offsets."""

    members: int
    committed: dict[Partition, int]


class Topology(NamedTuple):
    """Brokers by id with host and port; for each topic the fewest replicas and the partitions' leaders by number."""

    brokers: dict[int, tuple[str, int]]
    replicas: dict[str, int]
    leaders: dict[str, dict[int, int]]


class Probe:
    """One look at the cluster of `settings`; every method raises LogError if it can't be had."""

    def __init__(self, settings: Settings) -> None:
        """Connect lazily."""
        self._settings = settings
        self._config = client_config(settings)
        self._cluster = Cluster(str(settings.bootstrap), "", settings.partitions, self._config)
        self._admin = AdminClient(self._cluster.client({}))

    def topology(self) -> Topology:
        """Brokers and topics, internal ones included."""
        try:
            found = self._admin.list_topics(timeout=ANSWER_S)
        except KafkaException as error:
            raise self._cluster.error(error.args[0], "the cluster does not answer") from error
        topics = {name: topic.partitions for name, topic in found.topics.items() if topic.partitions}
        return Topology(
            {number: (str(broker.host), broker.port) for number, broker in found.brokers.items()},
            {name: min(len(each.replicas) for each in parts.values()) for name, parts in topics.items()},
            {name: {number: each.leader for number, each in parts.items()} for name, parts in topics.items()},
        )

    def levels(self, brokers: Mapping[int, tuple[str, int]]) -> dict[int, int | None]:
        """The highest metadata level of each broker, None where it knows of none."""
        return {number: metadata_level(*address, self._settings) for number, address in brokers.items()}

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, tuple[int, int]]:
        """Last stable offset and high watermark of each; asked in this order, so that the first is never ahead."""
        wanted = list(partitions)
        stable = insist(lambda: self._cluster.stable_ends(wanted))
        ends = insist(lambda: self._cluster.ends(wanted))
        return {each: (stable[each], ends[each]) for each in wanted}

    def standing(self, group: str, partitions: Iterable[Partition]) -> Standing:
        """Members and committed offsets of these partitions; a group that never was has neither."""
        # AdminClient.list_consumer_group_offsets ends the process while the group's coordinator is not there yet.
        consumer = Consumer(self._cluster.client(CONSUMER | {"group.id": group}))
        wanted = [self._cluster.at(each) for each in partitions]
        try:
            offsets = self._settled(group, lambda: consumer.committed(wanted, ANSWER_S))
        finally:
            consumer.close()
        committed = {self._cluster.of(each): each.offset for each in offsets or () if each.offset >= 0}
        return Standing(self._members(group), committed)

    def appended(self, positions: Mapping[Partition, int], *, committed: bool) -> dict[Partition, datetime]:
        """When the first record at or after each position was appended; partitions that hold none are left out.

        With `committed` neither aborted records nor those of open transactions count.
        """
        isolation = "read_committed" if committed else "read_uncommitted"
        group = {"group.id": f"{self._settings.topic_prefix}readers", "isolation.level": isolation}
        consumer = Consumer(self._cluster.client(CONSUMER | _SMALL_FETCHES | group))
        try:
            consumer.assign([self._cluster.at(each, offset) for each, offset in positions.items()])
            return self._firsts(consumer, set(positions))
        finally:
            consumer.close()

    def ahead(self, clock: Callable[[], datetime]) -> dict[int, timedelta]:
        """By how much each broker's clock is ahead of `clock`: the append time of a record in a topic of our own."""
        topic = self._settings.topic_prefix + CLOCK_TOPIC
        brokers = len(self.topology().brokers)
        TopicAdmin(self._settings).create([TopicSpec(topic, brokers, _CLOCK_CONFIG)])
        found: dict[int, timedelta] = {}
        for number, leader in self.topology().leaders[topic].items():
            before = aware(clock(), "clock")
            stamp = self._stamped(topic, number)
            found[leader] = outside(stamp, before, clock())
        return found

    def _stamped(self, topic: str, partition: int) -> datetime:
        told: list[tuple[KafkaError | None, Message]] = []
        settings = {"acks": "all", "linger.ms": 0, "message.timeout.ms": int(ANSWER_S * 1000)}
        producer = Producer(self._cluster.client(settings))
        producer.produce(topic, b"", partition=partition, on_delivery=lambda error, sent: told.append((error, sent)))
        producer.flush(ANSWER_S)
        if not told:
            raise LogError(f"{topic}[{partition}] was not written within {ANSWER_S:.0f} s")
        error, sent = told[0]
        if error is not None:
            raise self._cluster.error(error, f"{topic}[{partition}] can't be written")
        return datetime.fromtimestamp(sent.timestamp()[1] / 1000, UTC)

    def _members(self, group: str) -> int:
        def described() -> ConsumerGroupDescription:
            asked = self._admin.describe_consumer_groups([group], request_timeout=ANSWER_S)
            answer: ConsumerGroupDescription = asked[group].result()
            return answer

        found = self._settled(group, described)
        return len(found.members) if found else 0

    def _settled(self, group: str, ask: Callable[[], T]) -> T | None:
        """Ask again while the group's coordinator is being found, as after every start; None if there is no group."""
        deadline = time.monotonic() + ANSWER_S
        while True:
            try:
                return ask()
            except KafkaException as error:
                code = error.args[0].code()
                if code == KafkaError.GROUP_ID_NOT_FOUND:
                    return None
                if code not in _MOVING or time.monotonic() > deadline:
                    raise self._cluster.error(error.args[0], f"the group {group} can't be asked") from error
            time.sleep(LOOK_AGAIN_S)

    def _firsts(self, consumer: Consumer, wanted: set[Partition]) -> dict[Partition, datetime]:
        found: dict[Partition, datetime] = {}
        deadline = time.monotonic() + ANSWER_S
        while wanted:
            if time.monotonic() > deadline:
                raise LogError(f"{len(wanted)} partitions did not answer within {ANSWER_S:.0f} s")
            message = consumer.poll(0.1)
            if message is None or (source := self._source(message)) not in wanted:
                continue
            if self._is_record(message, source):
                found[source] = datetime.fromtimestamp(message.timestamp()[1] / 1000, UTC)
            wanted.discard(source)
            consumer.pause([self._cluster.at(source)])
        return found

    def _source(self, message: Message) -> Partition:
        number = message.partition()
        return Partition(message.topic() or "", -1 if number is None else number)

    def _is_record(self, message: Message, source: Partition) -> bool:
        error = message.error()
        if error is None:
            return True
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - the library's own name for it
            return False
        raise self._cluster.error(error, f"{source.topic}[{source.number}] can't be read")


def outside(stamp: datetime, before: datetime, after: datetime) -> timedelta:
    """How far a moment lies after, or negatively before, the span in which it was taken; zero within it."""
    if aware(stamp, "stamp") > aware(after, "after"):
        return stamp - after
    return min(stamp - aware(before, "before"), timedelta())
