"""Checkpoints: where a takeover may begin instead of at history's start. Pure: what they hold, and which may be used.

A state newer than its shard's marker is harmless, since the fold passes by what the state has. Whatever is in doubt is
not used: history tells everything that a checkpoint tells. A seal binds a checkpoint's content to all else that it
says, and to the fold that made it: what this build would fold otherwise, or can't fold, it takes from no checkpoint.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from remit import __version__, ids
from remit.codec.catalogue import catalogue
from remit.errors import CodecError
from remit.events.service import Checkpoint, CheckpointKind, ShardPosition
from remit.events.transitions import Writer
from remit.topics import INPUTS, Topic, shard_key, workflow_key
from remit.typed_json import read_json

from .fold import Cursor
from .packed import pack, unpack
from .shard import Shards
from .state import DECIDER_VERSION, STATE_SCHEMA, Workflow
from .states import Key

PAUSE = 500  # states restored between two looks at the group
SEAL = 32  # bytes of a SHA-256


class ShardState(msgspec.Struct, frozen=True, kw_only=True):
    """What a marker holds beside its positions: all that the fold knows of a shard and of no workflow."""

    generation: int  # of the newest writer
    sequence: int  # of the shard's own notes
    workflows: int  # so many have a checkpoint, at least
    clocks: dict[str, datetime]  # by topic: the newest append time
    unfoldable: list[tuple[str, str, str]]  # tenant, workflow and reason
    build: str  # which build could not fold them: another may


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a shard's transitions ended when a pass over its workflows began, and how many there were."""

    offset: int
    workflows: int


@dataclass(frozen=True, slots=True)
class Found:
    """What lies under one key: the newest record's offset, and its checkpoint, unsealed, if it can be used."""

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


def of_workflow(shards: Shards, key: Key, end: int, writer: Writer, at: datetime) -> Checkpoint:
    """A workflow's checkpoint; `end` of its shard's transitions."""
    state, name = shards.state(key), "/".join(key)
    resting = shards.states.packed(key)
    closed = state if isinstance(state, Workflow) and resting is not None else None
    return _sealed(
        Checkpoint(
            event_id=ids.checkpoint_id(name, writer.generation, state.sequence),
            tenant_id=key[0],
            workflow_id=key[1],
            occurred_at=at,
            producer=f"supervisor/{writer.instance}",
            kind=CheckpointKind.WORKFLOW if closed is None else CheckpointKind.CLOSED,
            shard=shards.shard_of(key),
            sequence=state.sequence,
            state_schema=STATE_SCHEMA,
            state=resting or pack(state),
            transitions_offset=end,
            content_digest=None if closed is None else closed.content_digest,
            outcome=None if closed is None else _outcome(closed),
            writer=writer,
        )
    )


def _outcome(workflow: Workflow) -> str:
    return workflow.stop_reason.value if workflow.stop_reason is not None else workflow.status.value


def of_shard(shards: Shards, shard: int, mark: Mark | None, writer: Writer, at: datetime) -> Checkpoint:
    """The marker of a shard: each workflow's checkpoint has what lies before the mark; None voids the last one."""
    name = shard_key(shard).decode()
    state = ShardState(
        generation=writer.generation,
        sequence=shards.sequences.get(shard, 0),
        workflows=mark.workflows if mark else 0,
        clocks={topic: shards.clock[topic, shard] for topic in INPUTS if (topic, shard) in shards.clock},
        unfoldable=sorted((*key, reason) for key, reason in shards.unfoldable.items() if shards.shard_of(key) == shard),
        build=_build(),
    )
    return _sealed(
        Checkpoint(
            event_id=ids.checkpoint_id(name, writer.generation, mark.offset if mark else 0),
            tenant_id="",
            workflow_id="",
            occurred_at=at,
            producer=f"supervisor/{writer.instance}",
            kind=CheckpointKind.SHARD,
            shard=shard,
            sequence=0,
            state_schema=STATE_SCHEMA,
            state=msgspec.json.encode(state),
            transitions_offset=mark.offset if mark else None,
            positions=tuple(_positions(shards, shard)),
            writer=writer,
        )
    )


def _positions(shards: Shards, shard: int) -> Iterator[ShardPosition]:
    for topic in INPUTS:
        if (topic, shard) in shards.decided:
            yield ShardPosition(topic=topic, next_offset=shards.decided[topic, shard] + 1)


def _build() -> str:
    return f"{__version__}/{catalogue().newest(Topic.TRANSITIONS).id}/{DECIDER_VERSION}"


def _sealed(checkpoint: Checkpoint) -> Checkpoint:
    return replace(checkpoint, state=_seal(checkpoint) + (checkpoint.state or b""))


def _seal(checkpoint: Checkpoint) -> bytes:
    """Over the content and whatever decides how it is used."""
    fold = (STATE_SCHEMA, catalogue().newest(Topic.TRANSITIONS).id)
    positions = [(each.topic, each.next_offset) for each in checkpoint.positions]
    said = (checkpoint.kind, checkpoint.shard, checkpoint.tenant_id, checkpoint.workflow_id, checkpoint.sequence)
    known = (checkpoint.transitions_offset, checkpoint.writer and checkpoint.writer.generation, positions, fold)
    return sha256(msgspec.json.encode((*said, *known)) + b"\n" + (checkpoint.state or b"")).digest()


def unsealed(checkpoint: Checkpoint, shard: int, key: bytes | None) -> Checkpoint:
    """The checkpoint as it was before it was sealed, read from that shard under that key; CodecError if it is none."""
    of_shard = checkpoint.kind is CheckpointKind.SHARD
    named = shard_key(shard) if of_shard else workflow_key(checkpoint.tenant_id, checkpoint.workflow_id)
    if checkpoint.shard != shard or key != named or checkpoint.writer is None:
        raise CodecError("it lies where another belongs")
    whole = checkpoint.state or b""
    plain = replace(checkpoint, state=whole[SEAL:])
    if whole[:SEAL] != _seal(plain):
        raise CodecError("state: damaged, or made by another build's fold")
    return plain


def usable(shard: int, found: Mapping[Key | None, Found], end: int) -> Saved:
    """The shard's newest checkpoints if they may be used: CodecError says why not.

    `found` by the workflow that a record's key names, None for the marker; `end` of the shard's transitions.
    """
    marker = found.get(None)
    if marker is None or marker.checkpoint is None or marker.checkpoint.transitions_offset is None:
        raise CodecError("there is no marker that can be used")
    offset, state = marker.checkpoint.transitions_offset, _shard_state(marker.checkpoint)
    if offset > end:
        raise CodecError(f"the marker speaks of transitions before {offset}, and the log ends at {end}")
    if len(found) - 1 < state.workflows:
        raise CodecError(f"the marker speaks of {state.workflows} workflows, and there are {len(found) - 1}")
    behind = {key: each for key, each in found.items() if key is not None}
    workflows = {key: _checked(each, end, marker.offset, offset, state.generation) for key, each in behind.items()}
    positions = {each.topic: each.next_offset for each in marker.checkpoint.positions}
    return Saved(shard, offset, positions, state, workflows)


def _shard_state(marker: Checkpoint) -> ShardState:
    try:
        state = read_json(marker.state or b"", ShardState)
    except msgspec.DecodeError:
        raise CodecError("state: not that of a marker") from None
    if state.unfoldable and state.build != _build():
        raise CodecError(f"some histories could not be folded by build {state.build}; this one may")
    return state


def _checked(found: Found, end: int, marker: int, marked: int, generation: int) -> Checkpoint:
    """A workflow's checkpoint, beside a marker at offset `marker` that has the transitions before `marked`."""
    checkpoint, at = found.checkpoint, f"the record at {found.offset}"
    if checkpoint is None or checkpoint.transitions_offset is None or checkpoint.writer is None:
        raise CodecError(f"{at} can't be used")
    if checkpoint.transitions_offset > end:
        raise CodecError(f"{at} speaks of transitions that the log, which ends at {end}, doesn't have")
    older = checkpoint.writer.generation < generation or checkpoint.transitions_offset < marked
    if found.offset > marker and older:
        raise CodecError(f"{at} is older than the marker before it")
    return checkpoint


def restore(shards: Shards, saved: Saved) -> Iterator[None]:
    """Begin from the checkpoints of a shard, with pauses in which the caller may serve the group."""
    shard, state = saved.shard, saved.state
    shards.generations[shard] = state.generation
    if state.sequence:
        shards.sequences[shard] = state.sequence
    for topic, clock in state.clocks.items():
        shards.clock[topic, shard] = clock
    for topic, position in saved.positions.items():
        shards.decided[topic, shard] = position - 1
    for tenant_id, workflow_id, reason in state.unfoldable:
        shards.give_up((tenant_id, workflow_id), reason)
    for number, (key, each) in enumerate(saved.workflows.items(), start=1):
        _restore(shards, key, each, saved)
        if number % PAUSE == 0:
            yield


def _restore(shards: Shards, key: Key, checkpoint: Checkpoint, saved: Saved) -> None:
    if not checkpoint.sequence:
        return  # it stands in the place of a record that was nobody's
    if (end := checkpoint.transitions_offset or 0) > saved.offset:
        shards.cursors[key] = Cursor(end, checkpoint.sequence, saved.state.generation)
    shards.sizes[saved.shard] += 1
    packed = checkpoint.state or b""
    if checkpoint.kind is CheckpointKind.CLOSED:
        shards.states.put_packed(key, packed)
    else:
        shards.states.put(key, unpack(packed))


def doubtful(shards: Shards, saved: Collection[Saved]) -> set[int]:
    """The shards in which what was read on doesn't fit the checkpoints: a conflict, or a state that history lacks."""
    known = {(tenant_id, workflow_id) for each in saved for tenant_id, workflow_id, _ in each.state.unfoldable}
    short = {key for key, cursor in shards.cursors.items() if cursor.stopped_short}
    odd = {shards.shard_of(key) for key in short | (shards.unfoldable.keys() - known)}
    return odd & {each.shard for each in saved}
