"""Checkpoints: where a takeover may begin instead of at history's start. Pure: what they hold, and which may be used.

A state newer than its shard's marker is harmless, since the fold passes by what the state has. Whatever is in doubt is
not used: history tells everything that a checkpoint tells.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from remit import __version__, ids
from remit.codec.catalogue import catalogue
from remit.errors import CodecError
from remit.events.service import Checkpoint, CheckpointKind, ShardPosition
from remit.events.transitions import Writer
from remit.topics import INPUTS, Topic, shard_key, workflow_key

from .fold import Cursor
from .packed import check, unpack
from .shard import Shards
from .state import DECIDER_VERSION, STATE_SCHEMA, Workflow
from .states import Key

WORKFLOW, CLOSED = CheckpointKind.WORKFLOW, CheckpointKind.CLOSED


class ShardState(msgspec.Struct, frozen=True, kw_only=True):
    """What a marker holds beside its positions: all that the fold knows of a shard and of no workflow."""

    generation: int  # of the newest writer
    sequence: int  # of the shard's own notes
    clocks: dict[str, datetime]  # by topic: the newest append time
    broken: list[tuple[str, str, str]]  # tenant, workflow and reason of those whose history can't be folded
    build: str  # which build found them so: another may read them


@dataclass(frozen=True, slots=True)
class Found:
    """What lies under one key: the newest record's offset, and its checkpoint if it can be read."""

    offset: int
    checkpoint: Checkpoint | None


@dataclass(frozen=True, slots=True)
class Saved:
    """The checkpoints of one shard that may be used."""

    shard: int
    offset: int  # of the first transition to be folded
    positions: Mapping[str, int]  # by topic: the first input not yet decided
    state: ShardState
    workflows: Mapping[Key, Checkpoint]


def of_workflow(shards: Shards, key: Key, end: int, writer: Writer, at: datetime) -> Checkpoint | None:
    """A workflow's checkpoint; `end` of its shard's transitions. None if nothing is known of it."""
    state, packed = shards.states.get(key), shards.states.packed(key)
    if state is None or packed is None:
        return None
    rests = isinstance(state, Workflow) and shards.states.rests(key)
    return Checkpoint(
        event_id=ids.checkpoint_id("/".join(key), writer.generation, state.sequence),
        tenant_id=key[0],
        workflow_id=key[1],
        occurred_at=at,
        producer=f"supervisor/{writer.instance}",
        kind=CLOSED if rests else WORKFLOW,
        shard=shards.shard_of(key),
        sequence=state.sequence,
        state_schema=STATE_SCHEMA,
        state=packed,
        transitions_offset=end,
        content_digest=state.content_digest if isinstance(state, Workflow) and rests else None,
        outcome=_outcome(state) if isinstance(state, Workflow) and rests else None,
        writer=writer,
    )


def _outcome(workflow: Workflow) -> str:
    return workflow.stop_reason.value if workflow.stop_reason is not None else workflow.status.value


def of_shard(shards: Shards, shard: int, offset: int, writer: Writer, at: datetime) -> Checkpoint:
    """The marker of a shard: every checkpoint of its workflows has what lies before `offset`."""
    state = ShardState(
        generation=writer.generation,
        sequence=shards.sequences.get(shard, 0),
        clocks={topic: shards.clock[topic, shard] for topic in INPUTS if (topic, shard) in shards.clock},
        broken=sorted((*key, reason) for key, reason in shards.broken.items() if shards.shard_of(key) == shard),
        build=build(),
    )
    return Checkpoint(
        event_id=ids.checkpoint_id(shard_key(shard).decode(), writer.generation, offset),
        tenant_id="",
        workflow_id="",
        occurred_at=at,
        producer=f"supervisor/{writer.instance}",
        kind=CheckpointKind.SHARD,
        shard=shard,
        sequence=0,
        state_schema=STATE_SCHEMA,
        state=msgspec.json.encode(state),
        transitions_offset=offset,
        positions=tuple(_positions(shards, shard)),
        writer=writer,
    )


def _positions(shards: Shards, shard: int) -> Iterator[ShardPosition]:
    for topic in INPUTS:
        if (topic, shard) in shards.decided:
            yield ShardPosition(topic=topic, next_offset=shards.decided[topic, shard] + 1)


def build() -> str:
    """What decides which histories can be folded: the product's version, its schemas, its decider."""
    return f"{__version__}/{catalogue().newest(Topic.TRANSITIONS).id}/{DECIDER_VERSION}"


def usable(shard: int, found: Mapping[Key | None, Found], end: int) -> Saved:
    """The shard's newest checkpoints if they may be used: CodecError says why not.

    `found` by the workflow that a record's key names, None for the marker; `end` of the shard's transitions.
    """
    marker = found.get(None)
    if marker is None or marker.checkpoint is None or marker.checkpoint.transitions_offset is None:
        raise CodecError("there is no marker that can be read")
    offset, state = marker.checkpoint.transitions_offset, _shard_state(marker.checkpoint)
    if offset > end:
        raise CodecError(f"the marker speaks of transitions before {offset}, and the log ends at {end}")
    workflows = {}
    for key, each in found.items():
        if key is not None:
            workflows[key] = _checked(each, end, marker.offset, state.generation)
    positions = {each.topic: each.next_offset for each in marker.checkpoint.positions}
    return Saved(shard, offset, positions, state, workflows)


def _shard_state(marker: Checkpoint) -> ShardState:
    if marker.state_schema != STATE_SCHEMA or marker.state is None:
        raise CodecError(f"state_schema: {marker.state_schema} is not known to this build")
    try:
        state = msgspec.json.decode(marker.state, type=ShardState)
    except msgspec.DecodeError:
        raise CodecError("state: damaged") from None
    if state.broken and state.build != build():
        raise CodecError(f"some histories could not be folded by build {state.build}; this one may")
    return state


def _checked(found: Found, end: int, marker: int, generation: int) -> Checkpoint:
    checkpoint, at = found.checkpoint, f"the record at {found.offset}"
    if checkpoint is None or checkpoint.state is None or checkpoint.kind not in {WORKFLOW, CLOSED}:
        raise CodecError(f"{at} can't be read")
    if checkpoint.state_schema != STATE_SCHEMA:
        raise CodecError(f"{at} is of state schema {checkpoint.state_schema}, which is not known to this build")
    if checkpoint.transitions_offset is None or checkpoint.transitions_offset > end:
        raise CodecError(f"{at} speaks of transitions that the log, which ends at {end}, doesn't have")
    if found.offset > marker and (checkpoint.writer is None or checkpoint.writer.generation < generation):
        raise CodecError(f"{at} is an older supervisor's, written behind the marker")
    check(checkpoint.state)
    return checkpoint


def restore(shards: Shards, saved: Saved) -> None:
    """Begin from the checkpoints of a shard. CodecError for a state that can't be read."""
    shard, state = saved.shard, saved.state
    awake = {key: unpack(each.state or b"") for key, each in saved.workflows.items() if each.kind is WORKFLOW}
    shards.generations[shard] = state.generation
    if state.sequence:
        shards.sequences[shard] = state.sequence
    for topic, clock in state.clocks.items():
        shards.clock[topic, shard] = clock
    for topic, position in saved.positions.items():
        shards.decided[topic, shard] = position - 1
    for tenant_id, workflow_id, reason in state.broken:
        shards.break_off((tenant_id, workflow_id), reason)
    for key, each in saved.workflows.items():
        if (end := each.transitions_offset or 0) > saved.offset:
            shards.resumed[key] = Cursor(end, each.sequence, state.generation)
        if key in awake:
            shards.states.put(key, awake[key])
        else:
            shards.states.put_packed(key, each.state or b"")


def in_doubt(shards: Shards, saved: Collection[Saved]) -> bool:
    """Whether what was read on from the checkpoints doesn't fit them: a conflict, or a state that history lacks."""
    begun = {each.shard for each in saved}
    known = {(tenant_id, workflow_id) for each in saved for tenant_id, workflow_id, _ in each.state.broken}
    broken = any(shards.shard_of(key) in begun for key in shards.broken.keys() - known)
    return broken or any(cursor.stopped_short for cursor in shards.resumed.values())


def placed(checkpoint: Checkpoint, shard: int, key: bytes | None) -> bool:
    """Whether a checkpoint lies under the key and in the shard that it names."""
    of_shard = checkpoint.kind is CheckpointKind.SHARD
    named = shard_key(shard) if of_shard else workflow_key(checkpoint.tenant_id, checkpoint.workflow_id)
    return checkpoint.shard == shard and key == named
