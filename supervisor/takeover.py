"""Taking shards over: wait for a predecessor's offsets, pin the high watermark, replay, serve. Each wait is needed.

Replay begins at the checkpoints where these may be used, else at history's start. Runs in the main loop, outside any
callback; given up as soon as the session's epoch moves.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeVar

from remit.codec import decode
from remit.errors import CodecError
from remit.events.service import Checkpoint
from remit.events.transitions import Transition
from remit.log.catch_up import replay
from remit.log.protocols import Log, Partition, Recorded, Session
from remit.topics import ANSWERED, INPUTS, SHARDED, Topic, partition_of, shard_key, workflow_key

from .checkpoint import Found, Saved, in_doubt, placed, restore, usable
from .shard import Shards, key_of
from .states import Key

log = logging.getLogger("remit.supervisor")
HUNG_AFTER = 30.0  # seconds: transaction timeout and 20 s more
MAGIC = b"\x00"  # of the wire format
T = TypeVar("T")


class MovedError(Exception):
    """The shards changed hands meanwhile: begin again. Never leaves the service."""


def take_over(source: Log, session: Session, clock: Callable[[], datetime], *, from_checkpoints: bool = True) -> Shards:
    """The folded state of all shards that the session owns, which then consumes their inputs."""
    epoch, owned = session.epoch, sorted(session.shards)
    every = [Partition(topic, shard) for topic in SHARDED for shard in owned]
    committed = _insist(session, epoch, lambda: session.committed(every))
    history = [Partition(Topic.TRANSITIONS, shard) for shard in owned]
    pins = _insist(session, epoch, lambda: session.ends(history))
    saved = _saved(source, session, epoch, pins) if from_checkpoints else []
    shards = _folded(source, session, epoch, pins, saved)
    if in_doubt(shards, saved):
        log.error("ALARM checkpoints and transitions don't agree: history is read from its start")
        shards = _folded(source, session, epoch, pins, [])
    for shard in owned:
        shards.generations[shard] = shards.generations.get(shard, 0) + 1
    shards.index()
    inputs = [Partition(topic, shard) for topic in INPUTS for shard in owned]
    held = firsts(source, inputs)
    shards.start_leases(clock(), {each.number: first for each, first in held.items() if each.topic == Topic.LEASES})
    session.resume({each: start(each, shards, committed.get(each, -1), first=held[each]) for each in inputs})
    return shards


def _insist(session: Session, epoch: int, ask: Callable[[], T | None]) -> T:
    """Ask until it is known, serving the group between tries."""
    while (answer := ask()) is None:
        session.poll(1, 0.05)
        if session.epoch != epoch:
            raise MovedError
    return answer


def _saved(source: Log, session: Session, epoch: int, pins: Mapping[Partition, int]) -> list[Saved]:
    """The checkpoints that may be used, of each shard that has some."""
    asked = [Partition(Topic.CHECKPOINTS, each.number) for each in pins]
    ends = _insist(session, epoch, lambda: session.ends(asked))
    newest: dict[int, dict[Key | None, Found]] = {each.number: {} for each in pins}
    for recorded in _replayed(source, session, epoch, firsts(source, asked), ends):
        shard = recorded.partition
        key = None if recorded.key == shard_key(shard) else key_of(recorded)
        if recorded.key == shard_key(shard) or _home(key, source.partitions) == shard:
            newest[shard][key] = Found(recorded.offset, _checkpoint(recorded))
    judged = [_judge(shard, found, pins) for shard, found in newest.items() if found]
    return [each for each in judged if each is not None]


def _home(key: Key | None, partitions: int) -> int | None:
    return None if key is None else partition_of(workflow_key(*key), partitions)


def _checkpoint(recorded: Recorded) -> Checkpoint | None:
    try:
        event = decode(recorded.topic, recorded.value)
    except CodecError:
        return None
    return event if isinstance(event, Checkpoint) and placed(event, recorded.partition, recorded.key) else None


def _judge(shard: int, found: Mapping[Key | None, Found], pins: Mapping[Partition, int]) -> Saved | None:
    try:
        return usable(shard, found, pins[Partition(Topic.TRANSITIONS, shard)])
    except CodecError as error:
        log.warning("%s[%d] is not used, history is read instead: %s", Topic.CHECKPOINTS, shard, error)
        return None


def _folded(source: Log, session: Session, epoch: int, pins: Mapping[Partition, int], saved: Iterable[Saved]) -> Shards:
    shards = Shards(source.partitions)
    begun = dict.fromkeys(pins, 0)
    for each in saved:
        restore(shards, each)
        begun[Partition(Topic.TRANSITIONS, each.shard)] = each.offset
    for recorded in _replayed(source, session, epoch, begun, pins):
        _read(shards, recorded)
    return shards


def _replayed(
    source: Log, session: Session, epoch: int, begun: Mapping[Partition, int], pins: Mapping[Partition, int]
) -> Iterator[Recorded]:
    reader = source.reader()
    try:
        for batch in replay(reader, begun, pins, timeout=HUNG_AFTER):
            yield from batch
            session.poll(1, 0.0)
            if session.epoch != epoch:
                raise MovedError
    finally:
        reader.close()


def _read(shards: Shards, recorded: Recorded) -> None:
    try:
        event = decode(recorded.topic, recorded.value)
    except CodecError as error:
        _unreadable(shards, recorded, error)
        return
    if isinstance(event, Transition):
        shards.read(event, recorded.partition, recorded.offset)


def _unreadable(shards: Shards, recorded: Recorded, error: CodecError) -> None:
    """A framed record is a newer build's: its workflow may have moved on and is frozen. Other bytes are nobody's."""
    shards.counts["undecodable"] += 1
    log.critical("ALARM %s[%d]@%d is no transition: %s", recorded.topic, recorded.partition, recorded.offset, error)
    key = key_of(recorded)
    if key is not None and (recorded.value or b"")[:1] == MAGIC:
        shards.break_off(key, "unknown_schema")


def firsts(source: Log, inputs: list[Partition]) -> dict[Partition, int]:
    """The earliest offset held of each."""
    reader = source.reader()
    try:
        return reader.starts(inputs)
    finally:
        reader.close()


def start(partition: Partition, shards: Shards, committed: int, *, first: int) -> int:
    """Where to read an input on: min(group offset, highest decided + 1); a difference is an alarm.

    Leases start at the oldest claim that still runs, so that all its renewals are heard again.
    """
    decided = shards.decided.get((partition.topic, partition.number), -1) + 1
    known = [each for each in (committed, decided) if each >= 0]
    if partition.topic not in ANSWERED:
        running = [phase.claim_offset for shard, phase in shards.claims() if shard == partition.number]
        return max(min([*known[:1], *running]), first)
    if committed >= 0 and committed != decided:
        shards.counts["position_alarm"] += 1
        log.error(
            "ALARM %s[%d]: group offset %d, but inputs are decided up to %d",
            partition.topic,
            partition.number,
            committed,
            decided,
        )
    return max(min(known), first) if decided == 0 else min(known)
