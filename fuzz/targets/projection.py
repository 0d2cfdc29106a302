"""Records as the projector reads them: decoded, folded to rows, written into a database."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from projector.batches import batch_of
from projector.decoding import read
from projector.fold import Batch, Facts, fold
from projector.store import Store
from remit.codec import decode, encode
from remit.contract import normal
from remit.contract.gate import normalise
from remit.errors import CodecError
from remit.events.transitions import Transition, Writer
from remit.log.protocols import Recorded
from remit.topics import Topic, partition_of, workflow_key

from ..making import bombs, documents, events, frames
from ..target import LawBrokenError, Target

PARTITIONS = 8
_VIEWED = (Topic.TRANSITIONS, Topic.TRANSITIONS, Topic.TRANSITIONS, Topic.DECISIONS, Topic.DEAD_LETTERS, Topic.POLICIES)
_BATCH = 6
_WRITER = Writer(instance="s1", generation=1)
Records = tuple[Recorded, ...]


def _records(dice: Random) -> Records:
    return tuple(_record(dice, offset) for offset in range(_BATCH))


def _record(dice: Random, offset: int) -> Recorded:
    topic = dice.choice(_VIEWED if dice.randrange(8) else frames.TOPICS)
    value = _transition(dice) if topic == Topic.TRANSITIONS and dice.randrange(2) else frames.frame(dice, topic)
    key, partition = _place(dice, topic, value)
    return Recorded(topic, partition, offset, documents.AT, key, value)


def _transition(dice: Random) -> bytes:
    """One that may be the first of its stream, so that its rows are made; its contract may be right."""
    event = events.record(dice, Transition)
    if event.contract is not None and dice.randrange(4):
        contract = msgspec.structs.replace(event.contract, document=_normal(dice))
        event = msgspec.structs.replace(event, contract=contract)
    return encode(Topic.TRANSITIONS, msgspec.structs.replace(event, sequence=1, writer=_WRITER))


def _normal(dice: Random) -> str:
    """A contract's normal form, right or changed."""
    right = _normal_forms()
    if not dice.randrange(16):
        return bombs.document(dice)
    if not dice.randrange(3):
        return dice.choice(right)
    return json.dumps(documents.tree_of(dice, right)).encode(errors="replace").decode()


@cache
def _normal_forms() -> tuple[str, ...]:
    found = (normalise(json.loads(text), documents.policy(), now=documents.AT) for text in documents.workflows())
    return tuple(map(normal.encode, found))


def _place(dice: Random, topic: str, value: bytes) -> tuple[bytes | None, int]:
    """The key and partition that are the event's own, nearly always: else nothing would be read at all."""
    try:
        event = decode(topic, value)
        key = workflow_key(event.tenant_id, event.workflow_id)
    except CodecError:
        key = b"default/w1"
    if not dice.randrange(12):
        return dice.choice((None, b"", b"\xff/\xfe", b"a/b")), dice.randrange(PARTITIONS)
    return key, partition_of(key, PARTITIONS)


def _folded(records: Records) -> bool:
    """Every record is in a row or skipped by one; none stops those behind it."""
    batch = fold(read(records, PARTITIONS), Facts())
    passed = {place: each.next_offset for place, each in batch.progress.items()}
    if passed != {each.source: each.offset + 1 for each in records}:
        raise LawBrokenError("a record was not passed")
    return _lets_in(batch)


class _Undone:
    """A connection whose commits are undone in the end: each input meets an empty database."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - DuckDB's own
        self._connection = connection

    def execute(self, statement: str, *arguments: Any) -> Any:  # noqa: ANN401 - DuckDB's own
        return self if statement in _MARKS else self._connection.execute(statement, *arguments)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - DuckDB's own
        return getattr(self._connection, name)


_MARKS = frozenset({"BEGIN", "COMMIT", "ROLLBACK"})


@cache
def _store() -> Store:
    return Store(Path(tempfile.mkdtemp(prefix="remit-fuzz-")) / "views.duckdb")


@contextmanager
def _empty() -> Iterator[Store]:
    """The database without rows, and again when the input is judged."""
    store = _store()
    connection = store._connection  # noqa: SLF001 - so here: no door of the store undoes a commit
    store._progress, store._streams = {}, {}  # noqa: SLF001
    connection.execute("BEGIN")
    store._connection = _Undone(connection)  # type: ignore[assignment]  # noqa: SLF001
    try:
        yield store
    finally:
        store._connection = connection  # noqa: SLF001
        connection.execute("ROLLBACK")


def _stored(records: Records) -> bool:
    """What was folded goes into the database."""
    with _empty() as store:
        batch = batch_of(store, records, PARTITIONS)
        positions = {each.source: each.offset + 1 for each in records}
        if not store.commit(batch, positions):
            raise LawBrokenError("nothing was written")
    return _lets_in(batch)


def _lets_in(batch: Batch) -> bool:
    """Whether a transition came in, and so made rows."""
    return any(stream.sequence for stream in batch.streams.values())


TARGETS = (
    Target("projector.fold", _records, _folded, least=1_000),
    Target("projector.store", _records, _stored, least=300, memory=8 << 30),  # DuckDB addresses far more than it takes
)
