"""The embedded broker as commands use it: started, with topics and a policy. Only `remit.cli` imports it."""

from collections.abc import Sequence
from functools import partial

from remit import broker
from remit.cli.output import ProgressLine
from remit.client.policies import apply_first
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.log import KafkaLog
from remit.policy import load
from remit.settings import Settings
from remit.topics import fixed_specs, spec


def started(settings: Settings, port: int | None = None, policy: str | None = None) -> Settings:
    """Start the broker of the home folder unless it runs, and return settings that name it.

    Its topics are created; a log without a policy gets `policy` (a file's text), by default the shipped one.
    """
    with ProgressLine() as progress:
        found = broker.up(settings.home, port=port, progress=progress)
    connected = settings.model_copy(update={"bootstrap": found.bootstrap})
    furnish(connected, load.default_text() if policy is None else policy)
    return connected


def ready(settings: Settings, policy: str) -> Settings:
    """Settings that name a cluster with topics and a policy: the one that is named, else the embedded broker's."""
    if not settings.bootstrap:
        return started(settings, policy=policy)
    furnish(settings, policy)
    return settings


def furnish(connected: Settings, policy: str) -> None:
    """Give a cluster what it lacks: the topics, and a first policy with its pools' topics."""
    create_fixed(connected)
    apply_first(KafkaLog.from_settings(connected), policy, partial(create_topics, connected))


def create_fixed(settings: Settings) -> None:
    """Create the missing ones of the topics with fixed names."""
    TopicAdmin(settings).create(fixed_specs(settings.topic_prefix, settings.partitions))


def create_topics(settings: Settings, topics: Sequence[str]) -> None:
    """Create those of `topics` (names without prefix) that are missing."""
    TopicAdmin(settings).create([spec(topic, settings.topic_prefix, settings.partitions) for topic in topics])
