"""Binds Kafka to the contract: topics under a prefix of the test's own, and raw clients to reach behind the log."""

import contextlib
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.log import KafkaLog
from remit.log.kafka.reader import KafkaReader
from remit.log.kafka.session import KafkaSession
from remit.log.kafka.writer import KafkaWriter, produce
from remit.log.outgoing import placed
from remit.log.protocols import Message, Partition, Session
from remit.settings import Settings
from remit.topics import fixed_specs, spec
from tests.log.rig import Undecided

PARTITIONS = 4


class TrackedLog(KafkaLog):
    """A Kafka log that closes what it handed out."""

    opened: contextlib.ExitStack

    def reader(self) -> KafkaReader:
        """Tracked."""
        return self.opened.enter_context(contextlib.closing(super().reader()))

    def writer(self) -> KafkaWriter:
        """Tracked."""
        return self.opened.enter_context(contextlib.closing(super().writer()))

    def session(self, name: str) -> KafkaSession:
        """Tracked."""
        return self.opened.enter_context(contextlib.closing(super().session(name)))


class KafkaRig:
    """A fresh set of topics on the session's broker."""

    def __init__(self, bootstrap: str, prefix: str) -> None:
        """Create the topics."""
        settings = Settings(bootstrap=bootstrap, topic_prefix=prefix, partitions=PARTITIONS)
        TopicAdmin(settings).create([*fixed_specs(prefix, PARTITIONS), spec("dispatches.coders", prefix, PARTITIONS)])
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.log = TrackedLog.from_settings(settings)
        self.log.opened = contextlib.ExitStack()
        self._count = 0

    def prepare(self, session: Session, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> Undecided:
        """The session's own step without its commit."""
        assert isinstance(session, KafkaSession)
        session._prepare(messages, offsets)
        return PreparedStep(session)

    def transaction(self, messages: Sequence[Message]) -> Undecided:
        """A raw producer's transaction, flushed."""
        self._count += 1
        name = f"{self.prefix}foreign-{self._count}"
        producer = Producer(self.log._cluster.client({"transactional.id": name, "linger.ms": 0}))
        producer.init_transactions(30)
        producer.begin_transaction()
        for message in messages:
            produce(producer, self.log._cluster, message, placed(message, PARTITIONS).number)
        assert producer.flush(30) == 0
        return RawTransaction(producer)

    def delete_before(self, partition: Partition, offset: int) -> None:
        """By the broker's own command."""
        admin = AdminClient(self.log._cluster.client({}))
        named = TopicPartition(self.prefix + partition.topic, partition.number, offset)
        for future in admin.delete_records([named]).values():
            future.result(30)


class PreparedStep:
    """A session's open step."""

    def __init__(self, session: KafkaSession) -> None:
        """Of this session."""
        self._session = session

    def commit(self) -> None:
        """As `step` does it."""
        with self._session._dropping():
            self._session._transactions.commit()

    def abort(self) -> None:
        """As a failed step does it."""
        self._session._transactions.abort()
        self._session._serving = False
        self._session._consume_from({})


class RawTransaction:
    """A raw producer's open transaction; the producer goes with it."""

    def __init__(self, producer: Producer) -> None:
        """Of this producer."""
        self._producer = producer

    def commit(self) -> None:
        """Commit and close."""
        self._producer.commit_transaction(30)
        self._producer.close()

    def abort(self) -> None:
        """Abort and close."""
        with contextlib.suppress(KafkaException):
            self._producer.abort_transaction(30)
        self._producer.close()
