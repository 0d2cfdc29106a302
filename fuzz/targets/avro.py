"""Bytes as a record's value of any topic, through the codec."""

from random import Random

from remit.codec import decode, encode

from ..making import frames
from ..target import LawBrokenError, Target

Frame = tuple[str, bytes | None]


def any_frame(dice: Random) -> Frame:
    """A topic, and a value that may be right."""
    topic = dice.choice(frames.TOPICS)
    return topic, frames.frame(dice, topic) if dice.randrange(200) else None


def _decoded(given: Frame) -> bool:
    """What decodes can be written again, and reads the same."""
    topic, value = given
    event = decode(topic, value)
    if decode(topic, encode(topic, event)) != event:
        raise LawBrokenError("an event that was read is another one when it is written and read again")
    return True


TARGETS = (Target("avro.decode", any_frame, _decoded, least=20_000),)
