"""What a session knows of its group: the callbacks' half. Only the session uses it.

Callbacks run inside `poll` and do next to nothing: whatever they raised would surface there, with the partitions
assigned anyway.
"""

from collections.abc import Sequence
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from remit.errors import TopologyError
from remit.topics import SHARDED


class Membership:
    """Epoch, shards and the group metadata captured at the assignment."""

    def __init__(self, prefix: str) -> None:
        """Begin as no member."""
        self._topics = frozenset(prefix + topic for topic in SHARDED)
        self.epoch = 0
        self.shards: frozenset[int] = frozenset()
        self.metadata: Any = None
        self._misaligned: str | None = None

    def on_assign(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Note what is owned; nothing is consumed before the session resumes."""
        self.epoch += 1
        self._misaligned = misalignment(self._topics, partitions)
        self.shards = frozenset() if self._misaligned else frozenset(each.partition for each in partitions)
        # Captured here and never fetched later: later metadata would let an older batch pass.
        self.metadata = consumer.consumer_group_metadata()
        consumer.assign([])

    def on_revoke(self, consumer: Consumer, _partitions: Sequence[TopicPartition]) -> None:
        """Forget what was owned; also for partitions that are lost already."""
        self.forget()
        consumer.unassign()

    def forget(self) -> None:
        """Own nothing any more."""
        self.epoch += 1
        self.shards = frozenset()
        self.metadata = None

    def refuse_misaligned(self) -> None:
        """Raise TopologyError if the topics' partitions were not assigned together."""
        if self._misaligned:
            raise TopologyError(self._misaligned)


def misalignment(topics: frozenset[str], partitions: Sequence[TopicPartition]) -> str | None:
    """Why the assigned partitions make no shards, or None: every topic must come with the same numbers."""
    numbers: dict[str, set[int]] = {topic: set() for topic in topics}
    for each in partitions:
        numbers.setdefault(each.topic, set()).add(each.partition)
    if len({frozenset(found) for found in numbers.values()}) == 1:
        return None
    listed = "; ".join(f"{topic} {sorted(found)}" for topic, found in sorted(numbers.items()))
    return f"the sharded topics' partitions were not assigned together, do all supervisors run one version? {listed}"
