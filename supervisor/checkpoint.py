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
from .packed import pack, sealed, unpack, unsealed
from .shard import Shards
from .state import DECIDER_VERSION, STATE_SCHEMA, Workflow
from .states import Key

PAUSE = 500  # states restored between two looks at the group


class ShardState(msgspec.Struct, frozen=True, kw_only=True):
    """What a marker holds beside its positions: all that the fold knows of a shard and of no workflow."""

    generation: int  # of the newest writer
    sequence: int  # of the shard's own notes
    workflows: int  # so many have a checkpoint, at least
    clocks: dict[str, datetime]  # by topic: the newest append time
    unfoldable: list[tuple[str, str, str]]  # tenant, workflow and reason
    build: str  # which build could not fold them: another may


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
    workflows: Mapping[Key, tuple[Checkpoint, bytes]]  # with their packed states


def of_workflow(shards: Shards, key: Key, end: int, writer: Writer, at: datetime) -> Checkpoint:
    """A workflow's checkpoint; `end` of its shard's transitions."""
    state, name = shards.state(key), "/".join(key)
    resting = shards.states.packed(key)
    closed = state if isinstance(state, Workflow) and resting is not None else None
    return Checkpoint(
        event_id=ids.checkpoint_id(name, writer.generation, state.sequence),
        tenant_id=key[0],
        workflow_id=key[1],
        occurred_at=at,
        producer=f"supervisor/{writer.instance}",
        kind=CheckpointKind.WORKFLOW if closed is None else CheckpointKind.CLOSED,
        shard=shards.shard_of(key),
        sequence=state.sequence,
        state_schema=STATE_SCHEMA,
        state=sealed(name, state.sequence, resting or pack(state)),
        transitions_offset=end,
        content_digest=None if closed is None else closed.content_digest,
        outcome=None if closed is None else _outcome(closed),
        writer=writer,
    )


def _outcome(workflow: Workflow) -> str:
    return workflow.stop_reason.value if workflow.stop_reason is not None else workflow.status.value


def of_shard(shards: Shards, shard: int, offset: int | None, writer: Writer, at: datetime) -> Checkpoint:
    """The marker of a shard: each of its workflows' checkpoints has what lies before `offset`; None voids the last."""
    name = shard_key(shard).decode()
    state = ShardState(
        generation=writer.generation,
        sequence=shards.sequences.get(shard, 0),
        workflows=shards.sizes[shard],
        clocks={topic: shards.clock[topic, shard] for topic in INPUTS if (topic, shard) in shards.clock},
        unfoldable=sorted((*key, reason) for key, reason in shards.unfoldable.items() if shards.shard_of(key) == shard),
        build=_build(),
    )
    return Checkpoint(
        event_id=ids.checkpoint_id(name, writer.generation, offset or 0),
        tenant_id="",
        workflow_id="",
        occurred_at=at,
        producer=f"supervisor/{writer.instance}",
        kind=CheckpointKind.SHARD,
        shard=shard,
        sequence=0,
        state_schema=STATE_SCHEMA,
        state=sealed(name, offset or 0, msgspec.json.encode(state)),
        transitions_offset=offset,
        positions=tuple(_positions(shards, shard)),
        writer=writer,
    )


def _positions(shards: Shards, shard: int) -> Iterator[ShardPosition]:
    for topic in INPUTS:
        if (topic, shard) in shards.decided:
            yield ShardPosition(topic=topic, next_offset=shards.decided[topic, shard] + 1)


def _build() -> str:
    return f"{__version__}/{catalogue().newest(Topic.TRANSITIONS).id}/{DECIDER_VERSION}"


def placed(checkpoint: Checkpoint, shard: int, key: bytes | None) -> bool:
    """Whether a checkpoint lies under the key and in the shard that it names."""
    of_shard = checkpoint.kind is CheckpointKind.SHARD
    named = shard_key(shard) if of_shard else workflow_key(checkpoint.tenant_id, checkpoint.workflow_id)
    return checkpoint.shard == shard and key == named


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
    if len(found) - 1 < state.workflows:
        raise CodecError(f"the marker speaks of {state.workflows} workflows, and there are {len(found) - 1}")
    workflows = {
        key: _checked(each, end, marker.offset, state.generation) for key, each in found.items() if key is not None
    }
    positions = {each.topic: each.next_offset for each in marker.checkpoint.positions}
    return Saved(shard, offset, positions, state, workflows)


def _shard_state(marker: Checkpoint) -> ShardState:
    content = unsealed(shard_key(marker.shard).decode(), marker.transitions_offset or 0, marker.state or b"")
    try:
        state = msgspec.json.decode(content, type=ShardState)
    except msgspec.DecodeError:
        raise CodecError("state: not that of a marker") from None
    if state.unfoldable and state.build != _build():
        raise CodecError(f"some histories could not be folded by build {state.build}; this one may")
    return state


def _checked(found: Found, end: int, marker_offset: int, generation: int) -> tuple[Checkpoint, bytes]:
    checkpoint, at = found.checkpoint, f"the record at {found.offset}"
    if checkpoint is None or checkpoint.kind not in {CheckpointKind.WORKFLOW, CheckpointKind.CLOSED}:
        raise CodecError(f"{at} can't be read")
    if checkpoint.transitions_offset is None or checkpoint.transitions_offset > end:
        raise CodecError(f"{at} speaks of transitions that the log, which ends at {end}, doesn't have")
    if found.offset > marker_offset and (checkpoint.writer is None or checkpoint.writer.generation < generation):
        raise CodecError(f"{at} is an older supervisor's, written behind the marker")
    name = f"{checkpoint.tenant_id}/{checkpoint.workflow_id}"
    return checkpoint, unsealed(name, checkpoint.sequence, checkpoint.state or b"")


def restore(shards: Shards, saved: Saved) -> Iterator[None]:
    """Begin from the checkpoints of a shard, with pauses in which the caller may serve the group."""
    shard, state = saved.shard, saved.state
    shards.generations[shard], shards.sizes[shard] = state.generation, len(saved.workflows)
    if state.sequence:
        shards.sequences[shard] = state.sequence
    for topic, clock in state.clocks.items():
        shards.clock[topic, shard] = clock
    for topic, position in saved.positions.items():
        shards.decided[topic, shard] = position - 1
    for tenant_id, workflow_id, reason in state.unfoldable:
        shards.give_up((tenant_id, workflow_id), reason)
    for number, (key, (each, packed)) in enumerate(saved.workflows.items(), start=1):
        _restore(shards, key, each, packed, saved)
        if number % PAUSE == 0:
            yield


def _restore(shards: Shards, key: Key, checkpoint: Checkpoint, packed: bytes, saved: Saved) -> None:
    if (end := checkpoint.transitions_offset or 0) > saved.offset:
        shards.cursors[key] = Cursor(end, checkpoint.sequence, saved.state.generation)
    if checkpoint.kind is CheckpointKind.CLOSED:
        shards.states.put_packed(key, packed)
    elif checkpoint.sequence:  # else it stands in the place of a record that was nobody's
        shards.states.put(key, unpack(packed))


def doubtful(shards: Shards, saved: Collection[Saved]) -> set[int]:
    """The shards in which what was read on doesn't fit the checkpoints: a conflict, or a state that history lacks."""
    known = {(tenant_id, workflow_id) for each in saved for tenant_id, workflow_id, _ in each.state.unfoldable}
    short = {key for key, cursor in shards.cursors.items() if cursor.stopped_short}
    odd = {shards.shard_of(key) for key in short | (shards.unfoldable.keys() - known)}
    return odd & {each.shard for each in saved}
