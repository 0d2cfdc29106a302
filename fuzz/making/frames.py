"""Framed Avro records: right ones of every topic and kind, and what becomes of them."""

from collections.abc import Callable
from functools import cache
from random import Random

from remit.codec import TOPIC_RECORDS, encode
from remit.codec.catalogue import catalogue
from remit.codec.frame import HEADER_BYTES, header
from remit.events.base import Event

from . import events, raw

TOPICS = tuple(TOPIC_RECORDS)
_OF_EACH_KIND = 6


@cache
def right(topic: str) -> tuple[bytes, ...]:
    """Right frames of a topic: every kind of its event, several of each."""
    dice = Random(f"right frames of {topic}")  # noqa: S311 - bad input, not a secret
    cls: type[Event] = TOPIC_RECORDS[topic]
    return tuple(encode(topic, each) for _ in range(_OF_EACH_KIND) for each in events.of_every_kind(dice, cls))


def frame(dice: Random, topic: str) -> bytes:
    """A value for a record of the topic: mutated nearly always, else right, of another schema, or no frame at all."""
    way = dice.randrange(16)
    if way < len(_WAYS):
        return _WAYS[way](dice, topic)
    return raw.mutated(dice, dice.choice(right(topic)), dice.choice(right(dice.choice(TOPICS))))


def _right(dice: Random, topic: str) -> bytes:
    return dice.choice(right(topic))


def _fresh(dice: Random, topic: str) -> bytes:
    return encode(topic, events.record(dice, TOPIC_RECORDS[topic]))


def _misnamed(dice: Random, topic: str) -> bytes:
    """A right body under another schema's id."""
    return _headed(dice) + dice.choice(right(topic))[HEADER_BYTES:]


def _garbage(dice: Random, _: str) -> bytes:
    return _headed(dice) + dice.randbytes(dice.randrange(200))


def _noise(dice: Random, _: str) -> bytes:
    return dice.randbytes(dice.randrange(40))


def _headed(dice: Random) -> bytes:
    """The header of any schema, now and then of none."""
    known = [each.id for each in catalogue().entries]
    return header(dice.choice((*known, 0, 1, known[-1] + 1, 2**32 - 1)))


def _long(dice: Random, topic: str) -> bytes:
    """A field that claims a length, and has it: nothing is missing, it is only too much."""
    data, size = dice.choice(right(topic)), dice.choice((300, 1_000, 1_000, 1_000, 1_000, 1_000, 60_000, 700_000))
    at = dice.randrange(HEADER_BYTES, len(data))
    return data[:at] + raw.varint(size) + dice.choice((b"\xff", b"\x00", b"a", b"\x02")) * size + data[at + 1 :]


_WAYS: tuple[Callable[[Random, str], bytes], ...] = (_right, _fresh, _misnamed, _garbage, _noise, _long)
