"""Takes records from a Kafka consumer and translates its errors. Only `remit.log.kafka` imports it."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from remit.errors import HistoryGapError, LogError
from remit.log.kafka.cluster import TRANSIENT, Cluster, insist
from remit.log.protocols import Partition, Recorded

CONSUMER = {
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    # A record counts as handled when its step is committed, not when it is handed over.
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "fetch.wait.max.ms": 50,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# The library's own codes are attributes with an underscore.
_FENCED = frozenset(
    {
        KafkaError._FENCED,  # noqa: SLF001
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
    }
)
_PASSING = TRANSIENT | {
    # The member joins again at its next poll.
    KafkaError._MAX_POLL_EXCEEDED,  # noqa: SLF001
    # A reader has a group's name only because the library wants one; it never asks for the group.
    KafkaError.GROUP_AUTHORIZATION_FAILED,
}


def is_fenced(error: KafkaError) -> bool:
    """Whether another took the name."""
    return error.code() in _FENCED


def is_fatal(error: KafkaError | None) -> bool:
    """Whether the consumer is of no use any more; only a taken name does that to one."""
    # What a poll returns carries the code and not the flag.
    return error is not None and (error.fatal() or error.code() == KafkaError._FATAL or is_fenced(error))  # noqa: SLF001


def recorded(cluster: Cluster, message: Message) -> Recorded:
    """A delivered record, or one that the log acknowledged."""
    return Recorded(
        (message.topic() or "").removeprefix(cluster.prefix),
        _known(message.partition()),
        _known(message.offset()),
        _EPOCH + message.timestamp()[1] * _MILLISECOND,
        message.key(),
        message.value(),
        _headers(message),
    )


def drain(consumer: Consumer, limit: int, timeout: float) -> list[Message]:
    """Up to `limit` messages and errors: waits for the first, takes what is there of the rest.

    `consume(limit, timeout)` would wait out the timeout for the last one.
    """
    first = consumer.poll(timeout)
    if first is None:
        return []
    return [first, *(consumer.consume(limit - 1, 0) if limit > 1 else ())]


def split(messages: Iterable[Message]) -> tuple[list[Message], Message | None]:
    """The records, and the first message that carries an error that won't pass by itself."""
    records: list[Message] = []
    failed: Message | None = None
    for message in messages:
        error = message.error()
        if error is None:
            records.append(message)
        elif failed is None and error.code() not in _PASSING:
            failed = message
    return records, failed


def failure(cluster: Cluster, message: Message, positions: Mapping[Partition, int]) -> LogError:
    """The error for a message that carries one; `positions` are where the consumer stood."""
    error = message.error()
    if error is None:
        raise ValueError("the message carries no error")
    source = Partition((message.topic() or "").removeprefix(cluster.prefix), message.partition() or 0)
    if error.code() in {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}:  # noqa: SLF001
        return _gap(cluster, source, positions.get(source))
    return cluster.error(error, f"{source.topic}[{source.number}] can't be read")


def positions_of(
    cluster: Cluster, consumer: Consumer, started: Mapping[Partition, int], partitions: Iterable[Partition]
) -> dict[Partition, int]:
    """Next offset of each; where it started while nothing was read. LogError if one is not assigned."""
    wanted = list(partitions)
    if missing := [each for each in wanted if each not in started]:
        raise LogError(f"{missing[0].topic}[{missing[0].number}] is not assigned")
    try:
        found = consumer.position([cluster.at(each) for each in wanted])
    except KafkaException as error:
        raise cluster.error(error.args[0], "positions are not known") from error
    known = {cluster.of(named): named.offset for named in found}
    return {each: known[each] if known[each] >= 0 else started[each] for each in wanted}


def _gap(cluster: Cluster, source: Partition, expected: int | None) -> HistoryGapError:
    starts, ends = insist(lambda: cluster.starts([source])), insist(lambda: cluster.ends([source]))
    return HistoryGapError(
        f"{source.topic}[{source.number}]: offset {expected} is not held; "
        f"the earliest is {starts[source]}, the end is {ends[source]}"
    )


def _known(number: int | None) -> int:
    if number is None:
        raise LogError("a record without a position")
    return number


def _headers(message: Message) -> tuple[tuple[str, bytes], ...]:
    headers = message.headers() or []
    pairs = headers.items() if isinstance(headers, dict) else headers
    return tuple([(name, content.encode() if isinstance(content, str) else content or b"") for name, content in pairs])
