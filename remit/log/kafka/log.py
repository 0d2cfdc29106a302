"""The log on Apache Kafka. Roles and the command line make it once and pass it on as a `Log`."""

from collections.abc import Mapping
from typing import Any, Self

from remit.log.kafka.client import client_config
from remit.log.kafka.cluster import Cluster
from remit.log.kafka.reader import KafkaReader
from remit.log.kafka.session import KafkaSession
from remit.log.kafka.writer import KafkaWriter
from remit.settings import Settings


class KafkaLog:
    """Implements `Log`; whoever asks for a reader, writer or session closes it: each has a connection of its own."""

    def __init__(self, bootstrap: str, prefix: str, partitions: int, extra: Mapping[str, Any] | None = None) -> None:
        """Connect lazily; `partitions` is the agreed count, `extra` client settings in librdkafka's names."""
        self._cluster = Cluster(bootstrap, prefix, partitions, extra or {})

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The log that the settings name; SettingsError without a cluster."""
        config = client_config(settings)
        return cls(config["bootstrap.servers"], settings.topic_prefix, settings.partitions, config)

    @property
    def partitions(self) -> int:
        """The agreed partition count of the sharded topics."""
        return self._cluster.partitions

    def reader(self) -> KafkaReader:
        """A new reader."""
        return KafkaReader(self._cluster)

    def writer(self) -> KafkaWriter:
        """A new writer; TopologyError when a partition count is not as agreed."""
        return KafkaWriter(self._cluster)

    def session(self, name: str) -> KafkaSession:
        """Join the supervisors' group under this stable name; fences a predecessor of the same name."""
        return KafkaSession(self._cluster, name)

    def close(self) -> None:
        """Nothing is held open here."""
