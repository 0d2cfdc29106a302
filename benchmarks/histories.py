"""Histories without end: bytes of some model workflows, written again under other ids of the same length."""

from collections import Counter
from collections.abc import Iterator
from itertools import count, islice

from benchmarks import logic, workload
from remit.codec import decode
from remit.log.kafka.log import KafkaLog
from remit.log.protocols import Message
from remit.topics import Topic

MODELS = 20
APPEND = 5000


def renamed(policy: str = workload.POLICY) -> Iterator[list[Message]]:
    """One workflow's transitions after another's; `w0000001` becomes `x0000001`, and so on."""
    models = _models(policy)
    by_key: dict[bytes, list[Message]] = {}
    for each in models:
        by_key.setdefault(each.key, []).append(each)
    for number in count():
        for key, history in list(by_key.items()):
            old = key.partition(b"/")[2]
            new = b"x%07d" % (number * MODELS + int(old[1:]))
            yield [Message(each.topic, each.key.replace(old, new), each.value.replace(old, new)) for each in history]


def _models(policy: str) -> list[Message]:
    every: list[Message] = []
    logic.product(MODELS, every, policy)
    return [each for each in every if each.topic == Topic.TRANSITIONS]


def append(log: KafkaLog, messages: Iterator[Message]) -> int:
    """Write them all; how many there were."""
    writer, written = log.writer(), 0
    while some := list(islice(messages, APPEND)):
        writer.append(some)
        written += len(some)
    writer.close()
    return written


def append_inputs(log: KafkaLog, policy: str = workload.POLICY) -> None:
    """Lay down as many inputs as the histories name as their causes: they were decided, so nobody reads them."""
    models = _models(policy)
    ends: Counter[tuple[str, int]] = Counter()
    for each in models:
        event = decode(Topic.TRANSITIONS, each.value)
        cause = event.cause
        if cause is not None and cause.topic and cause.partition is not None and cause.offset is not None:
            ends[cause.topic, cause.partition] = max(ends[cause.topic, cause.partition], cause.offset + 1)
    append(log, (Message(topic, b"", b"", number) for (topic, number), end in ends.items() for _ in range(end)))
