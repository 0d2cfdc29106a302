"""Records on a supervisor's log: none stops its shard, and a workflow beside them goes on."""

import json
from collections.abc import Sequence
from contextlib import closing
from random import Random
from typing import Any

import msgspec

from remit.codec import encode
from remit.errors import CodecError
from remit.events.base import Event
from remit.events.inputs import Contract, Result
from remit.events.service import DeadLetter, Policy
from remit.ids import digest
from remit.policy import load
from remit.topics import INPUTS, Topic

from .. import coming, said, worlds
from ..making import bombs, documents, events, frames, odd, raw, texts, trees
from ..quiet import quietly
from ..target import LawBrokenError, Target
from ..worlds import World

Laid = tuple[str, bytes | None, bytes | None]
_KEYS = (b"", None, b"no slash", b"\xff/\xfe", b"_shard/0", b"_shard/w1", b"default/other", b"default/", b"/", b"a/b/c")
_MOST = 4


def _inputs(dice: Random) -> tuple[Laid, ...]:
    """Poison among what may rightly come next; often behind a claim, so that a result counts, or behind the result."""
    begun = coming.right_inputs()[: dice.choice((0, 1, 1, 2))]
    right = tuple((topic, worlds.KEY, encode(topic, event)) for topic, event in begun)
    return (*right, *(_laid(dice) for _ in range(dice.randint(1, _MOST))))


def _laid(dice: Random) -> Laid:
    match dice.randrange(10):
        case 0:
            wanted = dice.choice(INPUTS)
            return wanted, _key(dice), frames.frame(dice, wanted)
        case 1:
            return dice.choice(INPUTS), _key(dice), dice.choice((None, b"", b"\x00", b"\x13\x37 garbage"))
    topic, right = dice.choice(coming.right_inputs())
    value = _value(dice, topic, right)
    return topic, _key(dice), value if dice.randrange(8) else raw.mutated(dice, value)


def _key(dice: Random) -> bytes | None:
    return worlds.KEY if dice.randrange(12) else dice.choice(_KEYS)


def _value(dice: Random, topic: str, right: Event) -> bytes:
    """The event after up to three changes of a field."""
    for _ in range(dice.randrange(4)):
        right = _reworded(dice, right) if dice.randrange(2) else events.changed(dice, right)
    try:
        return encode(topic, right)
    except CodecError:  # a text that UTF-8 can't hold: no writer gets so far
        return frames.frame(dice, topic)


def _reworded(dice: Random, right: Event) -> Event:
    """The event with another text in the field that carries a document."""
    if isinstance(right, Contract):
        tree = trees.mutated(dice, json.dumps(said.DOCUMENT), documents.workflows())
        return msgspec.structs.replace(right, document=_document(dice, tree), content_digest=_digest(tree))
    if isinstance(right, Policy):
        text = texts.mutated(dice, said.POLICY)
        clean = text.encode(errors="replace").decode()
        return msgspec.structs.replace(right, document=clean, policy_sha256=load.sha256(clean))
    if isinstance(right, Result) and right.result is not None:
        body = msgspec.structs.replace(right.result, output=_document(dice, {"report": odd.value(dice)}))
        return msgspec.structs.replace(right, result=body)
    return events.changed(dice, right)


def _document(dice: Random, tree: Any) -> str:  # noqa: ANN401 - any JSON value
    text = bombs.document(dice) if not dice.randrange(12) else trees.as_json(dice, tree)
    return text.encode(errors="replace").decode()


def _digest(tree: Any) -> str:  # noqa: ANN401 - any JSON value
    try:
        return digest(tree)
    except (ValueError, TypeError, RecursionError):
        return ""


def _taken(given: Sequence[Laid]) -> bool:
    with quietly() as alarms, closing(World()) as world:
        for topic, key, value in given:
            world.lay(topic, key, value)
            world.settle()
        world.go_on_beside()
        letters = sum(isinstance(each, DeadLetter) for each in world.events(Topic.DEAD_LETTERS))
    for alarm in alarms.heard:
        raise LawBrokenError(f"a fault inside a decision: {alarm.getMessage()}") from (alarm.exc_info or (None, None))[
            1
        ]
    return letters == 0


def _history(dice: Random) -> tuple[Laid, ...]:
    """Poison in what only supervisors write, under a workflow's key."""
    topics = (Topic.TRANSITIONS, Topic.TRANSITIONS, Topic.CHECKPOINTS, Topic.DEAD_LETTERS)
    found = [dice.choice(topics) for _ in range(dice.randint(1, _MOST))]
    return tuple((topic, _key(dice), frames.frame(dice, topic)) for topic in found)


def _taken_over(given: Sequence[Laid]) -> bool:
    """A forged transition may freeze its own workflow, and nothing else."""
    with quietly(), closing(World()) as world:
        for topic, key, value in given:
            world.lay(topic, key, value)
        world.restart()
        world.go_on_beside()
        shards = world.supervisor.shards
    return shards is not None and not shards.frozen


TARGETS = (
    Target("supervisor.inputs", _inputs, _taken, least=300),
    Target("supervisor.takeover", _history, _taken_over, least=300),
)
