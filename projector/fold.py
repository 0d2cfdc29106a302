"""A batch of records -> what comes in of them and the guard's new state. Pure; the service and the rebuild import it.

A transition is let in by the rule of the log: each sequence of a key once, in log order; one of an older generation
behind a newer is ignored; a fork or a gap freezes that key.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple
from uuid import UUID

import pyarrow as pa
from msgspec.structs import replace

from remit.events.base import Evidence
from remit.events.inputs import Decision
from remit.events.service import DeadLetter, Policy
from remit.events.transitions import NOTES, Transition, TransitionKind
from remit.log.protocols import Partition, Recorded
from remit.topics import Topic

from .decoding import CONTRACT_UNREADABLE, Read, skipped
from .documents import ContractUnreadableError, human_minute, normal_form
from .incoming import SHARD_NOTES, Incoming, plain, stream_of
from .tables import Values


class Stream(NamedTuple):
    """The guard of one key of transitions."""

    sequence: int = 0
    generation: int = 0
    conflict_sequence: int | None = None
    repeats: int = 0
    outdated: int = 0
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one partition was read, and what came of it."""

    next_offset: int = 0
    records: int = 0
    skipped: int = 0
    newest_at: datetime | None = None


Place = tuple[str, int]
"""A stream, and a sequence in it."""


@dataclass(frozen=True)
class Facts:
    """What the database holds of what a batch is about."""

    progress: Mapping[Partition, Progress] = field(default_factory=dict)
    streams: Mapping[str, Stream] = field(default_factory=dict)
    ids: Mapping[Place, str | None] = field(default_factory=dict)  # event ids of stored transitions, where asked for


@dataclass(frozen=True)
class Batch:
    """What one commit writes: rows by table, without a repeated key, and how far each partition was read.

    Events make rows by `sql/rows.sql`; the rest are rows already.
    Where `unknown` names places, the facts were too few: fold again with the ids of the transitions stored there.
    """

    incoming: Mapping[str, pa.Table]
    rows: Mapping[str, Sequence[Values]]
    progress: Mapping[Partition, Progress]
    streams: Mapping[str, Stream]
    unknown: frozenset[Place]


class Verdict(Enum):
    """What the guard says of a transition."""

    NEXT = auto()  # it comes in
    REPEAT = auto()  # the very same transition again
    OUTDATED = auto()  # of an older generation, behind a newer one
    CONFLICT = auto()  # history forked or tore


def judge(stream: Stream, event: Transition, known: str | None) -> Verdict:
    """The guard's rule; `known` is the id of the transition that was let in under this sequence."""
    if event.writer.generation < stream.generation:
        return Verdict.OUTDATED
    if event.sequence <= stream.sequence and known == str(event.event_id):
        return Verdict.REPEAT
    if stream.conflict_sequence is None and event.sequence == stream.sequence + 1:
        return Verdict.NEXT
    return Verdict.CONFLICT


def counted(stream: Stream, event: Transition, verdict: Verdict) -> Stream:
    """The guard after that verdict."""
    sequence, generation, conflict, repeats, outdated, conflicts = stream
    match verdict:
        case Verdict.NEXT:
            return Stream(event.sequence, event.writer.generation, conflict, repeats, outdated, conflicts)
        case Verdict.REPEAT:
            return Stream(sequence, generation, conflict, repeats + 1, outdated, conflicts)
        case Verdict.OUTDATED:
            return Stream(sequence, generation, conflict, repeats, outdated + 1, conflicts)
        case Verdict.CONFLICT:
            first = event.sequence if conflict is None else conflict
            return Stream(sequence, generation, first, repeats, outdated, conflicts + 1)


class _Mark:
    """How far one partition is read while a batch is folded."""

    __slots__ = ("newest_at", "next_offset", "records", "skipped")

    def __init__(self, before: Progress) -> None:
        self.next_offset, self.records = before.next_offset, before.records
        self.skipped, self.newest_at = before.skipped, before.newest_at

    def advance(self, record: Recorded) -> None:
        self.next_offset = record.offset + 1
        self.records += 1
        if self.newest_at is None or record.appended_at > self.newest_at:
            self.newest_at = record.appended_at

    def progress(self) -> Progress:
        return Progress(self.next_offset, self.records, self.skipped, self.newest_at)


class _Folding:
    """The state of one batch while it is folded."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.marks: dict[tuple[str, int], _Mark] = {}
        self.streams: dict[str, Stream] = {}
        self.ids: dict[Place, UUID] = {}
        self.unknown: set[Place] = set()
        self.incoming = Incoming()
        self.skipped: list[Values] = []

    def take(self, each: Read) -> None:
        mark = self.marks.get((each.record.topic, each.record.partition)) or self._mark(each.record.source)
        if each.record.offset < mark.next_offset:
            return  # read before: its rows came in the same commit as this position
        mark.advance(each.record)
        match each.event:
            case None:
                self._skip(each.record, each.fault or "")
            case Transition() as event:
                if self._let_in(each.record, event):
                    self._transition(each.record, event)
            case Policy() as event:
                rate, environment = human_minute(event.document)
                more = {"human_minute_gbp": rate, "environment": environment}
                self.incoming.add(Topic.POLICIES, each.record, event, **more)
            case Decision() | DeadLetter() as event:
                self.incoming.add(each.record.topic, each.record, event)
            # Contracts, results, inspections, receipts, workers: transitions carry what a view shows of them.

    def _skip(self, record: Recorded, reason: str) -> None:
        self.marks[record.source].skipped += 1
        self.skipped.append(skipped(record, reason))

    def _mark(self, partition: Partition) -> _Mark:
        return self.marks.setdefault(partition, _Mark(self.facts.progress.get(partition, Progress())))

    def _let_in(self, record: Recorded, event: Transition) -> bool:
        name = stream_of(record)
        stream = self.streams.get(name) or self.facts.streams.get(name) or Stream()
        known = self._known((name, event.sequence)) if event.sequence <= stream.sequence else None
        verdict = judge(stream, event, known)
        self.streams[name] = counted(stream, event, verdict)
        if verdict is Verdict.NEXT:
            self.ids[name, event.sequence] = event.event_id
        return verdict is Verdict.NEXT

    def _known(self, place: Place) -> str | None:
        if place in self.ids:
            return str(self.ids[place])
        if place not in self.facts.ids:
            self.unknown.add(place)
        return self.facts.ids.get(place)

    def _transition(self, record: Recorded, event: Transition) -> None:
        if event.kind is TransitionKind.AMENDMENT_PROPOSED:
            event = replace(event, contract=None)  # it does not hold, and may never
        topic = SHARD_NOTES if event.kind is TransitionKind.DEAD_LETTERED else Topic.TRANSITIONS
        more: dict[str, Any] = {"only_noted": event.kind in NOTES, "judged": _judged(event) or None}
        if event.contract is not None:
            try:
                more |= normal_form(event.contract)
            except ContractUnreadableError:
                # What it says of statuses holds, only the contract's own columns stay empty.
                self._skip(record, CONTRACT_UNREADABLE)
        self.incoming.add(topic, record, event, **more)

    def batch(self) -> Batch:
        streams = [{"stream": name, **stream._asdict()} for name, stream in self.streams.items()]
        moved = {Partition(*at): mark.progress() for at, mark in self.marks.items()}
        rows: dict[str, Sequence[Values]] = {"skipped": self.skipped, "streams": streams}
        return Batch(
            self.incoming.tables(), rows, {**self.facts.progress, **moved}, self.streams, frozenset(self.unknown)
        )


def _judged(event: Transition) -> list[dict[str, Any]]:
    """The evidence that the verdict names, and whether it is what failed."""
    found: list[tuple[Evidence, bool]] = []
    if event.accepted is not None:
        found += ((each, False) for each in event.accepted.evidence)
    if (ending := event.ending) is not None:
        found += ((each, each in ending.failing) for each in ending.evidence)
        found += ((each, True) for each in ending.failing if each not in ending.evidence)
    return [{**plain(evidence), "failing": failing} for evidence, failing in found]


def fold(reads: Iterable[Read], facts: Facts) -> Batch:
    """What the records add to what the database holds."""
    folding = _Folding(facts)
    for each in reads:
        folding.take(each)
    return folding.batch()


def streams_of(records: Iterable[Recorded]) -> frozenset[str]:
    """The streams that a batch may be about: what `Facts` must be looked up for."""
    return frozenset(stream_of(record) for record in records if record.topic == Topic.TRANSITIONS)
