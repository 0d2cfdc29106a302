"""Taking shards over: wait for a predecessor's offsets, pin the high watermark, replay, serve. Each wait is needed.

Replay begins at the checkpoints where these may be used, else at history's start. Runs in the main loop, outside any
callback; given up as soon as the session's epoch moves.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime

from remit.codec import decode
from remit.errors import CodecError
from remit.events.transitions import Transition
from remit.log.protocols import Log, Partition, Recorded, Session
from remit.topics import ANSWERED, INPUTS, SHARDED, Topic, shard_key

from .checkpoint import doubtful, restore
from .handover import Handover
from .saved import Reading, read
from .shard import Shards, key_of

log = logging.getLogger("remit.supervisor")
MAGIC = b"\x00"  # of the wire format


def take_over(source: Log, session: Session, clock: Callable[[], datetime], *, from_checkpoints: bool = True) -> Shards:
    """The folded state of all shards that the session owns, which then consumes their inputs.

    UnreadableStateError when a checkpoint holds no state after all: history must then be read.
    """
    handover = Handover(source, session)
    every = [Partition(topic, shard) for topic in SHARDED for shard in handover.owned]
    committed = handover.insist(lambda: session.committed(every))
    saved, history = handover.of_owned(Topic.CHECKPOINTS), handover.of_owned(Topic.TRANSITIONS)
    ends = handover.insist(lambda: session.ends(saved))
    pins = handover.insist(lambda: session.ends(history))  # after the other: no marker speaks of what lies behind them
    handover.refuse_gaps(history)
    reading = read(handover, ends, pins)
    if not from_checkpoints:
        reading.refuse(set(handover.owned))
    shards = _folded(handover, pins, reading)
    for shard in handover.owned:
        shards.generations[shard] = shards.generations.get(shard, 0) + 1
    shards.index()
    inputs = [Partition(topic, shard) for topic in INPUTS for shard in handover.owned]
    held = handover.firsts(inputs)
    shards.start_leases(clock(), {each.number: first for each, first in held.items() if each.topic == Topic.LEASES})
    session.resume({each: start(each, shards, committed.get(each, -1), first=held[each]) for each in inputs})
    return shards


def _folded(handover: Handover, pins: Mapping[Partition, int], reading: Reading) -> Shards:
    """Fold on from the checkpoints; where these turn out not to fit what follows them, from history's start."""
    while True:
        shards = _folded_from(handover, pins, reading)
        if not (odd := doubtful(shards, reading.saved)):
            shards.cursors.clear()
            reading.mend(shards)
            return shards
        log.error("ALARM checkpoints and transitions of shards %s don't agree: history is read", sorted(odd))
        reading.refuse(odd)


def _folded_from(handover: Handover, pins: Mapping[Partition, int], reading: Reading) -> Shards:
    shards, begun = Shards(handover.source.partitions), dict.fromkeys(pins, 0)
    for each in reading.saved:
        begun[Partition(Topic.TRANSITIONS, each.shard)] = each.offset
        for _ in restore(shards, each):
            handover.serve()
    for recorded in handover.read(begun, pins):
        _read(shards, recorded)
    return shards


def _read(shards: Shards, recorded: Recorded) -> None:
    try:
        event = decode(recorded.topic, recorded.value)
    except CodecError as error:
        _unreadable(shards, recorded, error)
        return
    if not isinstance(event, Transition) or not _belongs(shards, recorded, event):
        _misplaced(shards, recorded)
        return
    shards.read(event, recorded.partition, recorded.offset)


def _belongs(shards: Shards, recorded: Recorded, event: Transition) -> bool:
    """Whether it lies under its own key in its own shard; no writer of ours puts one elsewhere."""
    if not event.workflow_id:
        return recorded.key == shard_key(recorded.partition)
    key = (event.tenant_id, event.workflow_id)
    return key_of(recorded) == key and shards.shard_of(key) == recorded.partition


def _misplaced(shards: Shards, recorded: Recorded) -> None:
    shards.counts["misplaced"] += 1
    log.critical(
        "ALARM %s[%d]@%d lies where no transition of ours does; it is passed over",
        recorded.topic,
        recorded.partition,
        recorded.offset,
    )


def _unreadable(shards: Shards, recorded: Recorded, error: CodecError) -> None:
    """A framed record is a newer build's: its workflow may have moved on and is frozen. Other bytes are nobody's."""
    shards.counts["undecodable"] += 1
    log.critical("ALARM %s[%d]@%d is no transition: %s", recorded.topic, recorded.partition, recorded.offset, error)
    key = key_of(recorded)
    if key is not None and (recorded.value or b"")[:1] == MAGIC:
        shards.give_up(key, "unknown_schema")


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
