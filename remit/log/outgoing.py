"""Where a message goes and whether it fits: rules that hold for every log. Pure; the logs and whoever sizes records."""

from collections.abc import Sequence

from remit.errors import LogError
from remit.log.protocols import Message, Partition
from remit.topics import MAX_MESSAGE_BYTES, SINGLE, partition_of

_BATCH_BYTES = 61
"""Header of the batch a record travels in; the broker's limit is on the batch."""
_RECORD_BYTES = 40
"""Lengths, timestamp and offset deltas of one record, at their longest."""
_HEADER_BYTES = 10
"""Lengths of one header, at their longest."""


def partitions_in(topic: str, partitions: int) -> int:
    """How many partitions a topic has when the sharded ones have `partitions`."""
    return 1 if topic in SINGLE else partitions


def placed(message: Message, partitions: int) -> Partition:
    """The partition that a message goes to; LogError if an explicit one doesn't exist."""
    count = partitions_in(message.topic, partitions)
    number = partition_of(message.key, count) if message.partition is None else message.partition
    if not 0 <= number < count:
        raise LogError(f"{message.topic}: partition {number} does not exist, the topic has {count}")
    return Partition(str(message.topic), number)


def size_of(message: Message) -> int:
    """Bytes that the message takes in the log at most, alone in its batch and uncompressed."""
    headers = sum(len(name.encode()) + len(value) + _HEADER_BYTES for name, value in message.headers)
    return _BATCH_BYTES + _RECORD_BYTES + len(message.key) + len(message.value) + headers


def refuse_oversize(messages: Sequence[Message]) -> None:
    """Raise LogError, with size and limit, if one of the messages is over the limit."""
    for message in messages:
        if (size := size_of(message)) > MAX_MESSAGE_BYTES:
            raise LogError(f"{message.topic}: a message of {size} bytes is over the limit of {MAX_MESSAGE_BYTES} bytes")
