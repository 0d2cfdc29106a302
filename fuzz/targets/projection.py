"""Records as the projector reads them: decoded, folded to rows, written into a database."""

import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random

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


@cache
def _store() -> Store:
    return Store(Path(tempfile.mkdtemp(prefix="remit-fuzz-")) / "views.duckdb")


def _stored(records: Records) -> bool:
    """What was folded goes into the database; its tables are emptied again for the next input."""
    store = _store()
    batch = batch_of(store, records, PARTITIONS)
    positions = {each.source: each.offset + 1 for each in records}
    if not store.commit(batch, positions):
        raise LawBrokenError("nothing was written")
    _empty(store)
    return _lets_in(batch)


def _lets_in(batch: Batch) -> bool:
    """Whether a transition came in, and so made rows."""
    return any(stream.sequence for stream in batch.streams.values())


@cache
def _tables() -> tuple[str, ...]:
    found = _store()._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()  # noqa: SLF001
    return tuple(name for (name,) in found if name != "meta")


def _empty(store: Store) -> None:
    """Forget all, so that an input is judged the same whatever came before it."""
    store._connection.execute(";".join(f"DELETE FROM {table}" for table in _tables()))  # noqa: S608, SLF001 - own names
    store._progress, store._streams = {}, {}  # noqa: SLF001


TARGETS = (
    Target("projector.fold", _records, _folded),
    Target("projector.store", _records, _stored, least=200),
)
