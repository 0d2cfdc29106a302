"""Reads the checkpoints of the shards that are taken over, and judges which of them may be used."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from remit.codec import decode
from remit.errors import CodecError
from remit.events.service import Checkpoint
from remit.log.protocols import Partition, Recorded
from remit.topics import Topic, partition_of, shard_key, workflow_key

from .checkpoint import Found, Saved, unsealed, usable
from .handover import Handover
from .shard import Shards, key_of
from .states import Key

log = logging.getLogger("remit.supervisor")


@dataclass
class Reading:
    """What the checkpoints are good for: those to begin from, and what the others leave to be mended."""

    saved: list[Saved] = field(default_factory=list)
    refused: dict[int, list[Key]] = field(default_factory=dict)  # shards that have some, with the keys of these
    generations: dict[int, int] = field(default_factory=dict)  # newest writer seen, by shard

    def refuse(self, shards: set[int]) -> None:
        """Begin these at history's start after all."""
        for each in [each for each in self.saved if each.shard in shards]:
            self.saved.remove(each)
            self.refused[each.shard] = list(each.workflows)

    def mend(self, shards: Shards) -> None:
        """Have a refused shard's marker voided and its checkpoints replaced; let no generation come again."""
        for shard, generation in self.generations.items():
            shards.generations[shard] = max(shards.generations.get(shard, 0), generation)
        for shard, keys in self.refused.items():
            shards.void.add(shard)
            shards.moved.add(shard)
            shards.changed |= dict.fromkeys(keys)


def read(handover: Handover, ends: Mapping[Partition, int], pins: Mapping[Partition, int]) -> Reading:
    """The checkpoints of every shard that is taken over; `ends` of these, `pins` of the transitions beside them."""
    found: dict[int, dict[Key | None, Found]] = {each.number: {} for each in ends}
    reading, partitions = Reading(), handover.source.partitions
    for recorded in handover.read(handover.firsts(list(ends)), ends):
        shard, checkpoint = recorded.partition, _checkpoint(recorded)
        if recorded.key == shard_key(shard):
            found[shard][None] = Found(recorded.offset, checkpoint)
        elif (key := key_of(recorded)) is not None and partition_of(workflow_key(*key), partitions) == shard:
            found[shard][key] = Found(recorded.offset, checkpoint)
        if checkpoint is not None and checkpoint.writer is not None:
            reading.generations[shard] = max(reading.generations.get(shard, 0), checkpoint.writer.generation)
    for shard, newest in found.items():
        if newest:
            _judge(reading, shard, newest, pins[Partition(Topic.TRANSITIONS, shard)])
            handover.serve()
    return reading


def _judge(reading: Reading, shard: int, found: Mapping[Key | None, Found], end: int) -> None:
    try:
        reading.saved.append(usable(shard, found, end))
    except CodecError as error:
        level = logging.WARNING if None in found else logging.INFO  # a first pass that was torn has no marker yet
        log.log(level, "%s[%d] is not used, history is read instead: %s", Topic.CHECKPOINTS, shard, error)
        reading.refused[shard] = [key for key in found if key is not None]


def _checkpoint(recorded: Recorded) -> Checkpoint | None:
    try:
        event = decode(recorded.topic, recorded.value)
        return unsealed(event, recorded.partition, recorded.key) if isinstance(event, Checkpoint) else None
    except CodecError:
        return None
