"""What one supervisor holds of the shards it owns: folded states, soft leases, how far inputs were decided, indexes.

Pure bookkeeping, no I/O: the service and the takeover feed it.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from uuid import UUID

from remit import ids
from remit.events.base import Usage
from remit.events.transitions import Transition, TransitionKind
from remit.log.protocols import Recorded
from remit.policy.model import Policy
from remit.topics import partition_of, workflow_key

from .agenda import Agenda
from .fold import Cursor, Verdict, fold
from .inputs import Timer
from .leases import LeaseBook
from .limits import open_attempts
from .load import Load
from .queued import QueuedTasks
from .stalls import Stall, stalls
from .state import AwaitingReview, Queued, Running, State, Workflow, initial, phases
from .states import Key, States
from .timers import due, waits

log = logging.getLogger("remit.supervisor")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Shards:
    """All shards of this supervisor; a workflow's key is (tenant, workflow)."""

    def __init__(self, partitions: int) -> None:
        """Start with nothing; `partitions` is the agreed count."""
        self.partitions = partitions
        self.states = States()
        self.leases = LeaseBook()
        self.decided: dict[tuple[str, int], int] = {}
        self.sequences: dict[int, int] = {}  # of each shard's own notes
        self.generations: dict[int, int] = {}
        self.frozen: dict[Key, str] = {}
        self.unfoldable: dict[Key, str] = {}  # those of them whose history can't be folded
        self.sizes: Counter[int] = Counter()  # states, by shard
        self.changed: dict[Key, None] = {}  # without a checkpoint as they are, in order
        self.moved: set[int] = set()  # shards in which anything was decided since their marker
        self.void: set[int] = set()  # shards whose marker must not be used any more
        self.cursors: dict[Key, Cursor] = {}  # at a takeover: through what a checkpoint newer than the marker has
        self.stalled: dict[Key, Stall] = {}
        self.newest: Policy | None = None  # which governs workers
        self.clock: dict[tuple[str, int], datetime] = {}
        self.load = Load()
        self.queued = QueuedTasks()
        self._agenda = Agenda()
        self.counts: Counter[str] = Counter()

    def state(self, key: Key) -> State:
        """The state of a key; unborn when nothing is known of it. UnreadableStateError if it is kept, but damaged."""
        return self.states.get(key) or initial(*key)

    def shard_of(self, key: Key) -> int:
        """The shard that a workflow lies in."""
        return partition_of(workflow_key(*key), self.partitions)

    def read(self, transition: Transition, shard: int, offset: int) -> None:
        """Fold one transition as read from the log, at a takeover."""
        generation = transition.writer.generation
        self.generations[shard] = max(self.generations.get(shard, 0), generation)
        if not transition.workflow_id:
            self._read_note(transition, shard)
            return
        key = (transition.tenant_id, transition.workflow_id)
        if key not in self.frozen and not self._fold(key, transition, shard, offset):
            return
        self.note_decided(transition)

    def _fold(self, key: Key, transition: Transition, shard: int, offset: int) -> bool:
        """Fold it, or freeze its workflow; False for one of an older writer, which counts for nothing."""
        if transition.kind is TransitionKind.UNKNOWN:
            self.give_up(key, "unknown_kind")
            return True
        verdict = self._skip(key, transition, offset) or self._evolve(key, transition, shard)
        self.counts[verdict.value] += 1
        if verdict is Verdict.CONFLICT:
            self.give_up(key, Verdict.CONFLICT.value)
        return verdict is not Verdict.IGNORED

    def _skip(self, key: Key, transition: Transition, offset: int) -> Verdict | None:
        """What becomes of a transition that the key's checkpoint already has; None for one that it hasn't."""
        cursor = self.cursors.get(key)
        if cursor is None or offset >= cursor.end:
            return None
        verdict, self.cursors[key] = cursor.skip(transition)
        return verdict

    def _evolve(self, key: Key, transition: Transition, shard: int) -> Verdict:
        state = self.state(key)
        try:
            folded = fold(state, transition)
            if folded.verdict is Verdict.FOLDED:
                self._store(key, folded.state, shard)
        except Exception:
            # A fault of ours, or a record that no decision of ours made: one workflow must not keep the others down.
            log.exception("ALARM transition %d of %s/%s can't be folded", transition.sequence, *key)
            self.give_up(key, "decider_fault")
            return Verdict.UNFOLDABLE
        return folded.verdict

    def _store(self, key: Key, state: State, shard: int) -> None:
        self.sizes[shard] += key not in self.states
        self.states.put(key, state)
        self.changed[key] = None
        self.moved.add(shard)

    def _read_note(self, transition: Transition, shard: int) -> None:
        if transition.writer.generation >= self.generations[shard]:
            self.sequences[shard] = max(self.sequences.get(shard, 0), transition.sequence)
            self.note_decided(transition)

    def note_decided(self, transition: Transition) -> None:
        """Remember the highest input of each topic and partition that a transition names, and the time it had."""
        cause = transition.cause
        if cause is not None and cause.topic is not None and cause.partition is not None and cause.offset is not None:
            place = (cause.topic, cause.partition)
            self.decided[place] = max(self.decided.get(place, -1), cause.offset)
            self.moved.add(cause.partition)
            self.now(*place, transition.decided_at)

    def give_up(self, key: Key, reason: str) -> None:
        """Freeze a workflow for what its history holds: no later takeover will read it otherwise."""
        self.unfoldable[key] = reason
        self.freeze(key, reason)

    def freeze(self, key: Key, reason: str) -> None:
        """Decide nothing more for this workflow; an alarm."""
        self.frozen[key] = reason
        self.queued.put(key, None)
        log.error("ALARM %s/%s is frozen: %s", *key, reason)

    def is_decided(self, topic: str, partition: int, offset: int) -> bool:
        """Whether this input was decided already."""
        return offset <= self.decided.get((topic, partition), -1)

    def now(self, topic: str, partition: int, appended_at: datetime) -> datetime:
        """The log's time of a message: the running maximum of its partition's append times."""
        place = (topic, partition)
        self.clock[place] = max(self.clock.get(place, EPOCH), appended_at)
        return self.clock[place]

    def put(self, key: Key, state: State) -> None:
        """Replace a state and keep the indexes true."""
        before = self.states.get(key)
        self._store(key, state, self.shard_of(key))
        self.leases.forget(_attempts(before) - _attempts(state))
        self.leases.close(_current(before) - _current(state))
        self._enter(key, before, state)

    def _enter(self, key: Key, before: State | None, state: State) -> None:
        self.load.change(_workflow(before), _workflow(state))
        self.queued.put(key, _workflow(state) if key not in self.frozen else None)

    def index(self) -> None:
        """Build all indexes anew, after a takeover."""
        self.load = Load()
        self.queued = QueuedTasks()
        for key, state in self.states.awake():
            self._enter(key, None, state)

    def pinned(self) -> dict[str, str]:
        """The policies that open workflows pin, each with one of these workflows."""
        return {
            state.policy_sha256: "/".join(key)
            for key, state in self.states.awake()
            if isinstance(state, Workflow) and state.open and key not in self.frozen
        }

    def claims(self) -> Iterator[tuple[int, Running]]:
        """Each running attempt with its shard."""
        for key, state in self.states.awake():
            for phase in _running(state):
                yield self.shard_of(key), phase

    def start_leases(self, at: datetime, firsts: Mapping[int, int]) -> None:
        """Running leases start afresh, in full; `firsts` is the earliest lease record held, by shard.

        What a lease has told since its claim is read again. Where its claim is no longer held, neither are all of its
        reports, and it starts without one.
        """
        for shard, phase in self.claims():
            told = phase.claim_offset >= firsts.get(shard, 0)
            self.leases.start(phase.attempt_id, at, Usage() if told else None)

    def restart_leases(self, at: datetime) -> None:
        """After a time in which nothing could be read, running leases start afresh: nobody could be heard."""
        for _, phase in self.claims():
            self.leases.restart(phase.attempt_id, at)

    def remember(self, key: Key, incarnations: Mapping[str, UUID], policies: Mapping[str, Policy]) -> None:
        """Put the workflow's next wait on the agenda; that it has none is an alarm."""
        timers = self._waits(key, incarnations, policies)
        if timers:
            self._agenda.note(key, min(timer.due_at for timer in timers))
        state = self.states.get(key)
        if isinstance(state, Workflow) and key not in self.frozen and state.policy_sha256 in policies:
            self._watch(key, list(stalls(state, timers)))

    def _watch(self, key: Key, stalled: list[Stall]) -> None:
        for each in stalled if key not in self.stalled else ():
            log.error("ALARM %s/%s stands still: %s: %s", *key, each.task_id or "the workflow", each.why)
        if stalled:
            self.stalled[key] = stalled[0]
        else:
            self.stalled.pop(key, None)

    def revisit(self) -> None:
        """Put every workflow on the agenda, first of all, after a takeover: the waits of each are looked up in turn."""
        for key, _ in self.states.awake():
            self._agenda.note(key, EPOCH)

    def recall(self, workers: set[str], at: datetime) -> None:
        """Put every workflow with an attempt of these workers on the agenda: their process is another one now."""
        for key, state in self.states.awake() if workers else ():
            if isinstance(state, Workflow) and any(each.worker_id in workers for each in open_attempts(state)):
                self._agenda.note(key, at)

    def govern(self, newest: Policy | None, at: datetime) -> None:
        """Let another policy say which workers there may be: whatever is queued is looked at again."""
        if newest is self.newest:
            return
        self.newest = newest
        for key, state in self.states.awake():
            if isinstance(state, Workflow) and Queued in phases(state):
                self._agenda.note(key, at)

    def next_due(self) -> datetime | None:
        """When the first wait on the agenda is over; renewals may have moved it since."""
        return self._agenda.next_due()

    def fall_due(self, now: datetime) -> None:
        """Set aside every workflow that is due, to be taken one by one."""
        self._agenda.fall_due(now)

    def take_due(
        self, now: datetime, incarnations: Mapping[str, UUID], policies: Mapping[str, Policy]
    ) -> tuple[Key, list[Timer]] | None:
        """Take the next workflow that fell due, with its timers that are really over; None if none is left."""
        key = self._agenda.take()
        if key is None:
            return None
        over = due(iter(self._waits(key, incarnations, policies)), now)
        if not over:
            self.remember(key, incarnations, policies)
        return key, over

    def _waits(self, key: Key, incarnations: Mapping[str, UUID], policies: Mapping[str, Policy]) -> list[Timer]:
        state = self.states.get(key)
        if not isinstance(state, Workflow) or key in self.frozen or state.policy_sha256 not in policies:
            return []
        timeouts = policies[state.policy_sha256].timeouts
        return list(waits(state, self.leases, incarnations, timeouts, self.newest))

    def reviews(self) -> list[tuple[Key, str, AwaitingReview]]:
        """Every result that waits for its inspector."""
        return [
            (key, task.task_id, task.phase)
            for key, state in self.states.awake()
            if isinstance(state, Workflow) and state.open
            for task in state.tasks.values()
            if isinstance(task.phase, AwaitingReview)
        ]


def _workflow(state: State | None) -> Workflow | None:
    return state if isinstance(state, Workflow) else None


def _running(state: State | None) -> list[Running]:
    tasks = state.tasks.values() if isinstance(state, Workflow) and Running in phases(state) else ()
    return [task.phase for task in tasks if isinstance(task.phase, Running)]


def _attempts(state: State | None) -> set[UUID]:
    return {phase.attempt_id for phase in _running(state)}


def _current(state: State | None) -> set[UUID]:
    return {each.attempt_id for each in open_attempts(state)} if isinstance(state, Workflow) else set()


def key_of(recorded: Recorded) -> Key | None:
    """The workflow that a record's key names; None if it names none."""
    try:
        tenant_id, slash, workflow_id = (recorded.key or b"").decode().partition("/")
    except UnicodeDecodeError:
        return None
    return (tenant_id, workflow_id) if slash and ids.is_id(tenant_id) and ids.is_id(workflow_id) else None
