"""Creates, describes and mends topics: the administration edge of Kafka.

The command line and the start-up of roles import it.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from remit.errors import LogError, TopologyError
from remit.log.kafka.client import client_config
from remit.log.kafka.topology import PARTITIONS, PRESENCE, Deviation, FoundTopic, agreed_specs, deviations
from remit.settings import Settings
from remit.topics import TopicSpec

ANSWER_S = 15.0
_LOOK_AGAIN_S = 0.02


class TopicAdmin:
    """One connection for topic administration; every method raises LogError if the cluster can't be asked."""

    def __init__(self, settings: Settings) -> None:
        """Connect lazily to the cluster that `settings` names."""
        self._settings = settings
        self._complaints: list[KafkaError] = []
        self._client = AdminClient(client_config(settings) | {"error_cb": self._complaints.append})

    def names(self) -> tuple[str, ...]:
        """All topics of the cluster that carry our prefix, sorted."""
        topics = self._topics()
        return tuple(sorted(name for name in topics if name.startswith(self._settings.topic_prefix)))

    def agreed(self) -> tuple[TopicSpec, ...]:
        """What the cluster's topics must be: the fixed ones, and each pool's dispatches found there."""
        return agreed_specs(self._settings.topic_prefix, self._settings.partitions, self.names())

    def create(self, specs: Sequence[TopicSpec]) -> tuple[str, ...]:
        """Create what is missing and return its names, once the cluster shows it; what exists is left as it is."""
        present = self._topics()
        missing = [spec for spec in specs if spec.name not in present]
        if not missing:
            return ()
        new = [NewTopic(spec.name, spec.partitions, -1, config=spec.config) for spec in missing]
        futures = self._client.create_topics(new, request_timeout=ANSWER_S)
        created = tuple(name for name, future in futures.items() if self._is_new(future))
        self._await(lambda: {spec.name for spec in missing} <= self._topics().keys())
        return created

    def describe(self, names: Iterable[str]) -> dict[str, FoundTopic]:
        """Partition count and settings of those of `names` that exist."""
        counts = self._topics()
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in names if name in counts]
        if not resources:
            return {}
        try:
            futures = self._client.describe_configs(resources, request_timeout=ANSWER_S)
            found = {resource.name: future.result() for resource, future in futures.items()}
        except KafkaException as error:
            raise self._translated(error) from error
        return {
            name: FoundTopic(counts[name], {key: str(entry.value) for key, entry in config.items()})
            for name, config in found.items()
        }

    def deviations(self, specs: Sequence[TopicSpec] | None = None) -> tuple[Deviation, ...]:
        """How the cluster's topics differ from `specs`, by default from all that is agreed."""
        specs = self.agreed() if specs is None else specs
        return deviations(specs, self.describe(spec.name for spec in specs))

    def mend(self, found: Sequence[Deviation]) -> tuple[Deviation, ...]:
        """Set the deviating settings as required and return those set; a partition count can't be mended."""
        mendable = tuple(each for each in found if each.setting not in {PARTITIONS, PRESENCE})
        by_topic: dict[str, list[ConfigEntry]] = {}
        for each in mendable:
            entry = ConfigEntry(each.setting, each.required, incremental_operation=AlterConfigOpType.SET)
            by_topic.setdefault(each.topic, []).append(entry)
        resources = [
            ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
            for topic, entries in by_topic.items()
        ]
        self._alter(resources)
        self._await(lambda: not self._still_wrong(mendable))
        return mendable

    def _alter(self, resources: list[ConfigResource]) -> None:
        if not resources:
            return
        try:
            for future in self._client.incremental_alter_configs(resources, request_timeout=ANSWER_S).values():
                future.result()
        except KafkaException as error:
            raise self._translated(error) from error

    def _topics(self) -> dict[str, int]:
        try:
            listed = self._client.list_topics(timeout=ANSWER_S).topics
        except KafkaException as error:
            raise self._translated(error) from error
        return {name: len(topic.partitions) for name, topic in listed.items()}

    def _is_new(self, future: Future[None]) -> bool:
        try:
            future.result()
        except KafkaException as error:
            # Two may create at once; the loser finds what it wanted.
            if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                return False
            raise self._translated(error) from error
        return True

    def _still_wrong(self, mended: Sequence[Deviation]) -> bool:
        found = self.describe({each.topic for each in mended})
        return any(found[each.topic].config.get(each.setting) != each.required for each in mended)

    def _await(self, shown: Callable[[], bool]) -> None:
        """The controller answers before the brokers show what it did."""
        deadline = time.monotonic() + ANSWER_S
        while not shown():
            if time.monotonic() > deadline:
                raise LogError(f"the cluster took the change, but does not show it after {ANSWER_S:.0f} s")
            time.sleep(_LOOK_AGAIN_S)

    def _translated(self, error: KafkaException) -> LogError:
        # A refused login shows at the call as a mere lack of transport; the callback knows better.
        self._client.poll(0)
        told = [each for each in self._complaints if each.code() == KafkaError._AUTHENTICATION]  # noqa: SLF001
        if told:
            return LogError("the cluster refused the login: check REMIT_SASL_USERNAME, _PASSWORD and _MECHANISM")
        return LogError(f"the cluster at {self._settings.bootstrap} could not be asked: {error.args[0].str()}")


def require_topics(settings: Settings) -> None:
    """Refuse, as every role does at its start, a cluster whose topics are not as agreed: TopologyError, a line each."""
    if found := TopicAdmin(settings).deviations():
        raise TopologyError("\n".join(str(each) for each in found))
