"""What a step must carry so that a zombie's is refused: rules that hold for every log. Pure; the logs import it."""

from collections.abc import Iterable, Mapping, Sequence

from remit.log.outgoing import placed
from remit.log.protocols import Message, Partition
from remit.topics import SHARDED


def refuse_unfenced(messages: Sequence[Message], offsets: Mapping[Partition, int], partitions: int) -> None:
    """Raise ValueError unless each shard that is written to travels with an offset, and no offset is negative.

    A transaction without offsets is not checked against the group: a process that lost its shards could commit it.
    """
    if not offsets:
        raise ValueError("a step needs the offset of at least one input")
    if any(offset < 0 for offset in offsets.values()):
        raise ValueError("a step's offsets must be known: a negative one is as good as none")
    written = {placed(message, partitions).number for message in messages if message.topic in SHARDED}
    if bare := written - {partition.number for partition in offsets}:
        raise ValueError(f"a step writes to shards without an offset of theirs: {sorted(bare)}")


def foreign(partitions: Iterable[Partition], shards: frozenset[int]) -> list[Partition]:
    """Those of `partitions` that belong to none of `shards`."""
    return sorted(partition for partition in partitions if partition.number not in shards)


def refuse_foreign(partitions: Iterable[Partition], shards: frozenset[int]) -> None:
    """Raise ValueError if a partition belongs to none of `shards`."""
    if found := foreign(partitions, shards):
        raise ValueError(f"not owned: {', '.join(f'{each.topic}[{each.number}]' for each in found)}")
