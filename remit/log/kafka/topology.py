"""Compares a cluster's topics with what is agreed. Pure; anyone may import it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from remit.topics import DISPATCHES, TopicSpec, fixed_specs, spec

MISSING = "missing"
PRESENCE = "presence"
PARTITIONS = "partitions"


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """A topic as the cluster describes it: partition count and every setting in force."""

    partitions: int
    config: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One way in which a topic is not as agreed; `setting` is Kafka's name, `partitions` or `presence`."""

    topic: str
    setting: str
    found: str
    required: str

    def __str__(self) -> str:
        """One line that names all four."""
        return f"{self.topic}: {self.setting} is {self.found}, required is {self.required}"


def agreed_specs(prefix: str, partitions: int, names: Sequence[str]) -> tuple[TopicSpec, ...]:
    """Specs of all fixed topics and of those pools' dispatches that are among `names`, the cluster's topics."""
    pools = (name.removeprefix(prefix) for name in names if name.startswith(f"{prefix}{DISPATCHES}."))
    return fixed_specs(prefix, partitions) + tuple(spec(topic, prefix, partitions) for topic in sorted(pools))


def deviations(specs: Sequence[TopicSpec], found: Mapping[str, FoundTopic]) -> tuple[Deviation, ...]:
    """Every deviation, in the order of `specs`; topics that no spec speaks of are nobody's business."""
    return tuple(deviation for spec in specs for deviation in _of_topic(spec, found.get(spec.name)))


def _of_topic(spec: TopicSpec, found: FoundTopic | None) -> tuple[Deviation, ...]:
    if found is None:
        return (Deviation(spec.name, PRESENCE, MISSING, "present"),)
    required = {PARTITIONS: str(spec.partitions), **spec.config}
    actual = {PARTITIONS: str(found.partitions), **found.config}
    return tuple(
        Deviation(spec.name, setting, actual.get(setting, MISSING), value)
        for setting, value in required.items()
        if actual.get(setting) != value
    )
