"""Gathers facts from a cluster. Only `remit.doctor` imports it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from remit.doctor.checks.reading import VIEWS
from remit.doctor.facts import Layout, OpenEnd, Reading, Unread
from remit.instants import aware
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.probe import Probe
from remit.log.protocols import Partition
from remit.settings import Settings
from remit.topics import INPUTS

INTERNAL = ("__consumer_offsets", "__transaction_state")


@dataclass(frozen=True, slots=True)
class Log:
    """The log's topics with their partition numbers, full names."""

    settings: Settings
    partitions: Mapping[str, Sequence[int]]

    @property
    def bootstrap(self) -> str:
        """Where an operator's other tools find it."""
        return str(self.settings.bootstrap)

    def of(self, topics: Iterable[str]) -> list[Partition]:
        """The partitions, of those topics (names without prefix) that exist."""
        names = [self.settings.topic_prefix + topic for topic in topics]
        return [Partition(name, number) for name in names for number in self.partitions.get(name, ())]

    def all(self) -> list[Partition]:
        """Every partition of the log."""
        return [Partition(name, number) for name, numbers in self.partitions.items() for number in numbers]


def log_of(probe: Probe, admin: TopicAdmin, settings: Settings) -> Log:
    """The agreed topics that are there."""
    leaders = probe.topology().leaders
    names = [spec.name for spec in admin.agreed() if spec.name in leaders]
    return Log(settings, {name: sorted(leaders[name]) for name in names})


def layouts(probe: Probe, admin: TopicAdmin, log: Log) -> list[Layout]:
    """How the log's topics, and Kafka's own on which transactions rest, lie on the brokers."""
    replicas = probe.topology().replicas
    described = admin.describe([*log.partitions, *INTERNAL])
    return [
        Layout(name, replicas.get(name, 0), int(found.config.get("min.insync.replicas", "1")))
        for name, found in described.items()
    ]


def open_ends(probe: Probe, log: Log) -> list[OpenEnd]:
    """Partitions with an open transaction, and since when."""
    behind = {each: ends for each, ends in probe.ends(log.all()).items() if ends[0] < ends[1]}
    since = probe.appended({each: stable for each, (stable, _) in behind.items()}, committed=False)
    return [OpenEnd(each, stable, end, since.get(each)) for each, (stable, end) in behind.items()]


def supervisors(probe: Probe, log: Log) -> Reading:
    """How far the supervisors are with their inputs."""
    inputs = log.of(INPUTS)
    standing = probe.standing(f"{log.settings.topic_prefix}supervisors", inputs)
    positions = {each: standing.committed.get(each, 0) for each in inputs}
    return Reading("supervisors", standing.members, _unread(probe, positions))


def views(probe: Probe, log: Log, topics: Iterable[str], read: Mapping[Partition, int]) -> Reading:
    """How far the published copy is: `read` are its positions, `topics` what it is made from, without prefix."""
    prefix = log.settings.topic_prefix
    known = {Partition(prefix + each.topic, each.number): offset for each, offset in read.items()}
    return Reading(VIEWS, None, _unread(probe, {each: known.get(each, 0) for each in log.of(topics)}))


def broker_time(local: datetime, ahead: Mapping[int, timedelta]) -> datetime:
    """What the brokers' clocks show when ours shows `local`: append times are told by theirs."""
    return aware(local, "local") + max(ahead.values(), key=abs, default=timedelta())


def _unread(probe: Probe, positions: Mapping[Partition, int]) -> tuple[Unread, ...]:
    ends = {each: end for each, (_, end) in probe.ends(positions).items()}
    behind = {each: at for each, at in positions.items() if at < ends[each]}
    oldest = probe.appended(behind, committed=True)
    return tuple(Unread(each, at, ends[each], oldest.get(each)) for each, at in positions.items() if at != ends[each])
