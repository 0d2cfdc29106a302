"""A batch of records -> rows and the guard's new state. Pure; the service and the rebuild import it.

A transition is let in by the rule of the log: each sequence of a key once, in log order; one of an older generation
behind a newer is ignored; a fork or a gap freezes that key.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, auto
from typing import Any

import msgspec

from remit.events.base import Event
from remit.events.inputs import Decision
from remit.events.service import DeadLetter, Policy
from remit.events.transitions import Transition
from remit.log.protocols import Partition, Recorded

from . import rows
from .decoding import CONTRACT_UNREADABLE, Read, skipped
from .rows_contract import ContractUnreadableError
from .tables import Row, Values, reduce


@dataclass(frozen=True, slots=True)
class Stream:
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


@dataclass(frozen=True)
class Facts:
    """What the database holds of what a batch is about; `ids` are event ids by stream and sequence."""

    progress: Mapping[Partition, Progress] = field(default_factory=dict)
    streams: Mapping[str, Stream] = field(default_factory=dict)
    ids: Mapping[tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """What one commit writes: rows by table, without a repeated key, and how far each partition was read."""

    rows: Mapping[str, list[Values]]
    progress: Mapping[Partition, Progress]


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
    match verdict:
        case Verdict.NEXT:
            return replace(stream, sequence=event.sequence, generation=event.writer.generation)
        case Verdict.REPEAT:
            return replace(stream, repeats=stream.repeats + 1)
        case Verdict.OUTDATED:
            return replace(stream, outdated=stream.outdated + 1)
        case Verdict.CONFLICT:
            first = event.sequence if stream.conflict_sequence is None else stream.conflict_sequence
            return replace(stream, conflict_sequence=first, conflicts=stream.conflicts + 1)


class _Folding:
    """The state of one batch while it is folded."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.progress = dict(facts.progress)
        self.streams: dict[str, Stream] = {}
        self.ids: dict[tuple[str, int], str] = dict(facts.ids)

    def rows(self, reads: Iterable[Read]) -> Iterator[Row]:
        for each in reads:
            partition = each.record.source
            before = self.progress.get(partition, Progress())
            if each.record.offset < before.next_offset:
                continue  # read before: its rows came in the same commit as this position
            made = list(self._rows_of(each))
            self.progress[partition] = _advanced(before, each.record, any(row.table == "skipped" for row in made))
            yield from made

    def _rows_of(self, each: Read) -> Iterator[Row]:
        if each.event is None:
            yield skipped(each.record, each.fault or "")
        elif isinstance(each.event, Transition):
            yield from self._let_in(each.record, each.event)
        else:
            yield from _other(each.record, each.event)

    def _let_in(self, record: Recorded, event: Transition) -> Iterator[Row]:
        name = rows.stream_of(record)
        stream = self.streams.get(name) or self.facts.streams.get(name, Stream())
        verdict = judge(stream, event, self.ids.get((name, event.sequence)))
        self.streams[name] = counted(stream, event, verdict)
        if verdict is Verdict.NEXT:
            self.ids[name, event.sequence] = str(event.event_id)
            yield from _of_transition(record, event)

    def guards(self) -> Iterator[Row]:
        for name, stream in self.streams.items():
            yield Row("streams", {"stream": name} | _columns(stream))


def _columns(stream: Stream) -> dict[str, Any]:
    return {
        "sequence": stream.sequence,
        "generation": stream.generation,
        "conflict_sequence": stream.conflict_sequence,
        "repeats": stream.repeats,
        "outdated": stream.outdated,
        "conflicts": stream.conflicts,
    }


def _of_transition(record: Recorded, event: Transition) -> Iterator[Row]:
    try:
        yield from list(rows.transition(record, event))
    except ContractUnreadableError:
        # What it says of statuses still holds; only the contract's own columns stay empty.
        yield skipped(record, CONTRACT_UNREADABLE)
        yield from rows.transition(record, _without_contract(event))


def _without_contract(event: Transition) -> Transition:
    return msgspec.structs.replace(event, contract=None)


def _other(record: Recorded, event: Event) -> Iterator[Row]:
    match event:
        case Decision():
            yield rows.decision(record, event)
        case DeadLetter():
            yield rows.dead_letter(record, event)
        case Policy():
            yield rows.policy(record, event)
        case _:
            return  # contracts, results, inspections, receipts, workers: transitions carry what a view shows of them


def _advanced(before: Progress, record: Recorded, was_skipped: bool) -> Progress:
    newest = record.appended_at if before.newest_at is None else max(before.newest_at, record.appended_at)
    return Progress(record.offset + 1, before.records + 1, before.skipped + was_skipped, newest)


def fold(reads: Iterable[Read], facts: Facts) -> Batch:
    """What the records add to what the database holds."""
    folding = _Folding(facts)
    made = list(folding.rows(reads))
    return Batch(reduce([*made, *folding.guards()]), folding.progress)


def streams_of(reads: Iterable[Read]) -> dict[str, list[int]]:
    """The streams that a batch is about, each with the sequences it brings: what `Facts` must be looked up for."""
    wanted: dict[str, list[int]] = {}
    for each in reads:
        if isinstance(each.event, Transition):
            wanted.setdefault(rows.stream_of(each.record), []).append(each.event.sequence)
    return wanted
