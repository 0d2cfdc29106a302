"""One step under construction: the messages and offsets that go into the log in one transaction. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid5

import msgspec

from remit import ids
from remit.events.base import Cause
from remit.events.envelope import message
from remit.events.inputs import Answer
from remit.events.service import DeadLetter, DeadLetterKind
from remit.events.transitions import Note, Transition, TransitionKind, WorkflowStatus, Writer
from remit.log.outgoing import refuse_oversize
from remit.log.protocols import Message, Partition, Recorded
from remit.policy.model import Policy
from remit.topics import Topic, dispatches

from .decide.unit import Sealed
from .outbox import outbox
from .signing import Sign, unsigned
from .state import DECIDER_VERSION, State


@dataclass(frozen=True, slots=True)
class Written:
    """A decision in the form in which it goes into the log, and the state that it leads to."""

    state: State
    transitions: tuple[Transition, ...]
    messages: tuple[Message, ...]


def written(state: State, decided: tuple[Sealed, ...], policy: Policy, sign: Sign = unsigned) -> Written:
    """Encode a decision about `state`. Raises whatever the outbox or the codec raise, LogError for one too large."""
    messages: list[Message] = []
    for each in decided:
        messages.append(message(each.transition, Topic.TRANSITIONS))
        told = map(sign, outbox(each.state, each.transition, policy))
        messages += [message(sent, dispatches(sent.pool)) for sent in told]
    refuse_oversize(messages)
    after = decided[-1].state if decided else state
    return Written(after, tuple(each.transition for each in decided), tuple(messages))


class Step:
    """Collects what is written together."""

    def __init__(self) -> None:
        """Start empty."""
        self.messages: list[Message] = []
        self.transitions: list[Transition] = []
        self.offsets: dict[Partition, int] = {}
        self.touched: set[int] = set()

    def passed(self, recorded: Recorded) -> None:
        """The record is handled: its offset is committed with the step, as last + 1."""
        at = self.offsets.get(recorded.source, 0)
        self.offsets[recorded.source] = max(at, recorded.offset + 1)

    def write(self, shard: int, written: Written) -> None:
        """What was decided for one workflow of the shard."""
        if written.messages:
            self.transitions += written.transitions
            self.messages += written.messages
            self.touched.add(shard)

    def checkpoint(self, shard: int, laid: Message) -> None:
        """A checkpoint of the shard."""
        self.messages.append(laid)
        self.touched.add(shard)

    def dead_letter(self, letter: DeadLetter, note: Transition, shard: int) -> None:
        """A record that can't be used, and the shard's note of it."""
        self.messages += [message(letter, Topic.DEAD_LETTERS), message(note, Topic.TRANSITIONS)]
        self.transitions.append(note)
        self.touched.add(shard)

    def fenced_offsets(self, positions: Mapping[int, tuple[Partition, int]]) -> dict[Partition, int]:
        """The offsets to commit, with at least one of each shard touched: without it a zombie's step would pass."""
        unmoved = {partition: offset for shard, (partition, offset) in positions.items() if shard in self.touched}
        return unmoved | self.offsets


def dead_letter(recorded: Recorded, kind: DeadLetterKind, reason: str, producer: str) -> DeadLetter:
    """The dead letter of a record: where it lies, its hash, why; never its bytes."""
    value = recorded.value or b""
    return DeadLetter(
        event_id=ids.dead_letter_id(recorded.topic, recorded.partition, recorded.offset),
        tenant_id="",
        workflow_id="",
        occurred_at=recorded.appended_at,
        producer=producer,
        kind=kind,
        source_topic=recorded.topic,
        source_partition=recorded.partition,
        source_offset=recorded.offset,
        record_sha256=ids.sha256(value),
        size=len(value),
        reason=reason[:500],
    )


def shard_note(letter: DeadLetter, writer: Writer, sequence: int) -> Transition:
    """The note by which the fold knows that the record was passed."""
    cause = Cause(
        event_id=letter.event_id,
        topic=letter.source_topic,
        partition=letter.source_partition,
        offset=letter.source_offset,
    )
    return Transition(
        event_id=ids.transition_id(letter.event_id, sequence),
        tenant_id="",
        workflow_id="",
        occurred_at=letter.occurred_at,
        producer=letter.producer,
        cause=cause,
        kind=TransitionKind.DEAD_LETTERED,
        sequence=sequence,
        version=0,
        writer=writer,
        decider_version=DECIDER_VERSION,
        decided_at=letter.occurred_at,
        workflow_status=WorkflowStatus.UNKNOWN,
        reason=letter.kind.value,
        note=Note(event_id=letter.event_id, differs=(letter.reason,)),
    )


def inspection_id(request: UUID, tries: int, answers: tuple[Answer, ...]) -> UUID:
    """Id of the inspector's answer to one request: asked again by a takeover, another answer is another event."""
    return uuid5(request, f"{tries}/{ids.sha256(msgspec.json.encode(answers))}")
