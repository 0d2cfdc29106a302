"""The embedded broker as commands use it: started, with its topics. Only `remit.cli` imports it."""

from remit import broker
from remit.cli.output import ProgressLine
from remit.log.kafka.admin import TopicAdmin
from remit.settings import Settings
from remit.topics import fixed_specs


def started(settings: Settings, port: int | None = None) -> Settings:
    """Start the broker of the home folder unless it runs, create its topics, and return settings that name it."""
    with ProgressLine() as progress:
        found = broker.up(settings.home, port=port, progress=progress)
    connected = settings.model_copy(update={"bootstrap": found.bootstrap})
    TopicAdmin(connected).create(fixed_specs(settings.topic_prefix, settings.partitions))
    return connected
