"""All that a run left on the log, read at once as a committed reader sees it; what the invariants are checked on."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from remit.codec import decode
from remit.events.base import Event
from remit.events.service import Dispatch
from remit.events.transitions import Transition, TransitionKind
from remit.log.catch_up import replay
from remit.log.protocols import Log, Partition, Recorded
from remit.policy.verification import SUFFIX
from remit.topics import INPUTS, Topic, dispatches

from .worker import POOL, VERIFIERS

TIMEOUT_S = 60.0
TELLING = frozenset(
    {
        TransitionKind.CORRECTION_REQUESTED,
        TransitionKind.CONTRACT_AMENDED,
        TransitionKind.LEASE_EXPIRED,
        TransitionKind.STALE,
        TransitionKind.TASK_RESOLVED,
    }
)
Key = tuple[str, str]
Place = tuple[str, int, int]


class Entry(NamedTuple):
    """A record and the event in it."""

    recorded: Recorded
    event: Event

    @property
    def place(self) -> Place:
        """Topic, partition and offset."""
        return (self.recorded.topic, self.recorded.partition, self.recorded.offset)


@dataclass(frozen=True)
class History:
    """Inputs, transitions and dispatches of a run, each in log order."""

    inputs: list[Entry] = field(default_factory=list)
    transitions: list[tuple[Recorded, Transition]] = field(default_factory=list)
    dispatched: list[Dispatch] = field(default_factory=list)

    @cached_property
    def workflows(self) -> dict[Key, list[Transition]]:
        """The transitions of each workflow, in log order."""
        found: dict[Key, list[Transition]] = defaultdict(list)
        for _, each in self.transitions:
            if each.workflow_id:
                found[each.tenant_id, each.workflow_id].append(each)
        return found

    @property
    def counts(self) -> Counter[str]:
        """How often each guard had something to do."""
        found: Counter[str] = Counter()
        for _, each in self.transitions:
            if each.kind in TELLING:
                found[each.kind.value] += 1
            if each.accepted is not None:
                found["subtasks taken up"] += len(each.accepted.subtasks)
                found["subtasks refused"] += len(each.accepted.refused_subtasks)
                found["verifications"] += (each.task_id or "").endswith(SUFFIX)
        return found

    @cached_property
    def streams(self) -> dict[tuple[int, str], list[Transition]]:
        """The transitions of each key, those of the shards' own among them."""
        found: dict[tuple[int, str], list[Transition]] = defaultdict(list)
        for recorded, each in self.transitions:
            found[recorded.partition, (recorded.key or b"").decode()].append(each)
        return found

    @cached_property
    def shards(self) -> dict[int, list[Transition]]:
        """The transitions of each shard."""
        found: dict[int, list[Transition]] = defaultdict(list)
        for recorded, each in self.transitions:
            found[recorded.partition].append(each)
        return found


def read(log: Log) -> History:
    """Read all topics that the invariants speak of to the end that they have now; LogError."""
    topics = [*INPUTS, Topic.TRANSITIONS, dispatches(POOL), dispatches(VERIFIERS)]
    every = [Partition(topic, number) for topic in topics for number in range(log.partitions)]
    history = History()
    for recorded in _records(log, every):
        event = decode(recorded.topic, recorded.value)
        if isinstance(event, Transition):
            history.transitions.append((recorded, event))
        elif isinstance(event, Dispatch):
            history.dispatched.append(event)
        else:
            history.inputs.append(Entry(recorded, event))
    return history


def _records(log: Log, every: list[Partition]) -> Iterator[Recorded]:
    reader = log.reader()
    try:
        for batch in replay(reader, dict.fromkeys(every, 0), reader.ends(every), timeout=TIMEOUT_S):
            yield from batch
    finally:
        reader.close()
