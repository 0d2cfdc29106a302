"""Looks on at every commit and after every turn, and holds what it sees to the laws. It changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from remit.codec import decode
from remit.events.base import Cause
from remit.events.service import Dispatch, DispatchKind
from remit.events.transitions import NOTES, Transition, TransitionKind
from remit.log.protocols import Partition, Recorded
from remit.policy import load
from remit.policy.model import Policy
from remit.topics import ANSWERED, Topic, dispatches

from . import barrier, laws, repeat
from .acceptance import Acceptance
from .books import Books
from .errors import LawBrokenError
from .facts import CANARY
from .ground import POOLS
from .laws import hold
from .parts import fold, onlooker, state, timers
from .plan import dice
from .policy import LEASE_S, POLICY, VERIFYING
from .reading import read, record_at

if TYPE_CHECKING:
    from .ground import Ground
    from .hands import WorkerHand
    from .process import SupervisorProcess

Key = tuple[str, str]
Place = tuple[str, int, int]
Message = tuple[UUID, bytes]
ALL = 10_000
WAITS_FOR_NOBODY = (
    state.Waiting,
    state.Escalated,
    state.AwaitingDecision,
    state.Completed,
    state.Stopped,
    state.Quarantined,
)
OURS = (Topic.TRANSITIONS, Topic.CHECKPOINTS, Topic.DEAD_LETTERS, Topic.INSPECTIONS, *map(dispatches, POOLS))
NO_REPEAT = frozenset({"unknown_schema"})


class Watch:
    """Of one ground."""

    def __init__(
        self, ground: Ground, hands: Mapping[str, WorkerHand], serving: Callable[[], list[SupervisorProcess]]
    ) -> None:
        """From the log's beginning."""
        self.ground, self.hands, self.serving = ground, hands, serving
        self.states: dict[Key, state.State] = {}
        self.history: dict[Key, list[Transition]] = {}
        self.books: dict[Key, Books] = {}
        self.policies: dict[str, Policy] = {load.sha256(each): _parsed(each) for each in (POLICY, VERIFYING)}
        self.decided: set[Place] = set()
        self._acting: set[Message] = set()  # what led to more than notes, or was charged
        self._offers: Counter[UUID] = Counter()
        self.writer: SupervisorProcess | None = None  # whose step was committed last
        self._acceptance = Acceptance(ground.log, ground.facts)
        self._chance = dice("delivery", ground.plan.seed)
        self._reader = ground.log.reader()
        topics = (Topic.TRANSITIONS, *map(dispatches, POOLS))
        self._reader.assign(
            {Partition(topic, number): 0 for topic in topics for number in range(ground.log.partitions)}
        )

    def last_of(self, workflow_id: str) -> Transition | None:
        """The newest transition of a workflow, whichever tenant's."""
        found = [told[-1] for (_, each), told in self.history.items() if each == workflow_id and told]
        return found[-1] if found else None

    def workflows(self) -> list[state.Workflow]:
        """Those whose contract was accepted."""
        return [each for each in self.states.values() if isinstance(each, state.Workflow)]

    # at every commit

    def look(self, writer: SupervisorProcess | None = None) -> None:
        """Take what was committed since, by `writer` if it is known."""
        self.writer = writer
        groups: list[tuple[state.State, list[Transition]]] = []
        while batch := self._reader.poll(ALL, 0.0):
            for recorded in batch:
                self._refuse_secret(recorded)
                event = decode(recorded.topic, recorded.value)
                if isinstance(event, Transition):
                    self._transition(event, recorded, groups)
                elif isinstance(event, Dispatch):
                    self._dispatch(event)
        for before, group in groups:
            self._decision(before, group)

    def _transition(
        self, event: Transition, recorded: Recorded, groups: list[tuple[state.State, list[Transition]]]
    ) -> None:
        self.ground.tell("transition", f"{event.tenant_id}/{event.workflow_id}", _told(event, recorded))
        if not event.workflow_id:
            hold(self._first(event.cause), repeat.IDEMPOTENT, f"a dead letter was decided twice: {event.cause}")
            return
        key = (event.tenant_id, event.workflow_id)
        before = self.states.get(key) or state.initial(*key)
        after = self._folded(before, event)
        if after is None:
            return
        self.states[key] = after
        self.history.setdefault(key, []).append(event)
        laws.step(before, event, after)
        if self.writer is not None:
            barrier.check(self.ground, self.writer, before, event)
        self.books.setdefault(key, Books()).note(event)
        self._acceptance.note(event, before, after)
        if groups and groups[-1][1][-1].cause == event.cause and _key(groups[-1][1][-1]) == key:
            groups[-1][1].append(event)
        else:
            groups.append((before, [event]))

    def _folded(self, before: state.State, event: Transition) -> state.State | None:
        """The state after it; None for what an older owner wrote behind its successor."""
        older = event.writer.generation < before.generation
        try:
            folded = fold.fold(before, event)
        except Exception as error:
            raise LawBrokenError("2 (evolvable)", f"{event.kind} can't be folded: {error!r}") from error
        law = "4 (one history)"
        hold(folded.verdict is not fold.Verdict.CONFLICT, law, f"{event.kind} {event.sequence} after {before.sequence}")
        hold((folded.verdict is fold.Verdict.IGNORED) == older, law, "what an older owner wrote was folded")
        return None if older else folded.state

    def _decision(self, before: state.State, group: list[Transition]) -> None:
        """What holds for all transitions of one decision together."""
        first, key = group[0], _key(group[0])
        hold(first.reason != "decider_fault", "2 (evolvable)", f"a decision failed: {_detail(first)}")
        hold(self._first(first.cause), repeat.IDEMPOTENT, f"{first.kind}: its input was decided twice: {first.cause}")
        self._acts_once(group)
        if not any(each.reason in NO_REPEAT for each in group):
            repeat.check(self.ground.log, self.policies, before, group)
        after = self.states[key]
        if isinstance(after, state.Workflow):
            laws.standing(after, self.history[key], bent=self.books[key].bent)

    def _first(self, cause: Cause | None) -> bool:
        """Whether a record is decided for the first time."""
        if cause is None or cause.topic is None or cause.partition is None or cause.offset is None:
            return True
        place = (cause.topic, cause.partition, cause.offset)
        known = place in self.decided
        self.decided.add(place)
        return not known

    def _acts_once(self, group: list[Transition]) -> None:
        """The same message at another place leads to one note at most, and none that charges."""
        message = self._message(group[0].cause)
        if message is None:
            return
        acts = [each for each in group if each.kind not in NOTES or each.kind is TransitionKind.LATE_USAGE]
        if message in self._acting:
            kinds = [each.kind.value for each in group]
            law = "1 (result key)" if TransitionKind.LATE_USAGE.value in kinds else repeat.IDEMPOTENT
            hold(not acts and len(group) == 1, law, f"a repeat leads to {kinds}")
        elif acts:
            self._acting.add(message)

    def _message(self, cause: Cause | None) -> Message | None:
        """What was read: its id and its bytes."""
        if cause is None or cause.topic is None or cause.partition is None or cause.offset is None:
            return None
        return cause.event_id, record_at(self.ground.log, cause.topic, cause.partition, cause.offset).value or b""

    def _dispatch(self, event: Dispatch) -> None:
        if event.kind is DispatchKind.OFFER:
            self._offers[event.attempt_id] += 1
            hold(self._offers[event.attempt_id] == 1, repeat.IDEMPOTENT, "one attempt was offered twice")
        hand = self.hands.get(event.worker_id)
        if hand is None:
            return
        for _ in range(1 + (self._chance.random() < 0.05)):  # noqa: PLR2004 - one in twenty comes twice
            self.ground.timeline.after(self._chance.uniform(0.05, 1.0), lambda: hand.hear(event))

    def _refuse_secret(self, recorded: Recorded) -> None:
        if self.ground.facts.secrets:
            found = CANARY.encode() in (recorded.value or b"") or CANARY.encode() in (recorded.key or b"")
            place = f"{recorded.topic}[{recorded.partition}]@{recorded.offset}"
            hold(not found, "12 (no secret)", f"{place} holds a secret")

    # after every turn

    def after_turn(self, process: SupervisorProcess) -> None:
        """What one that serves holds in memory is what the log says; nothing in it is forgotten."""
        shards = process.supervisor.shards
        if shards is None:
            return
        hold(not shards.frozen, "4 (one history)", f"{process.name} froze {dict(shards.frozen)}")
        soonest = None
        incarnations = {each.hand.worker_id: each.incarnation for each in self.hands.values()}
        for key, live in list(shards.states.awake()):
            known = self.states.get(key)
            if known is None or known.generation > live.generation:
                continue  # another has taken it over, and this one does not know yet
            hold(live == known, "4 (prefix-safe)", f"{process.name} holds another state of {key} than the log")
            if isinstance(live, state.Workflow) and live.policy_sha256 in self.policies:
                timeouts = self.policies[live.policy_sha256].timeouts
                waits = list(timers.waits(live, shards.leases, incarnations, timeouts))
                laws.no_lost_work(live, waits)
                due = [each.due_at for each in waits if each.name.value != "incarnation"]
                soonest = min([*due, *([soonest] if soonest else [])], default=None)
        noted = shards.next_due()
        kept = soonest is None or (noted is not None and noted <= soonest)
        hold(kept, "6 (no lost work)", f"a wait until {soonest} is not on {process.name}'s agenda: {noted}")

    # at the end

    def at_rest(self) -> bool:
        """Whether everything was decided, and all that is open waits for a person."""
        if self.ground.timeline.now < max((each.at for each in self.ground.plan.submissions), default=0.0) + LEASE_S:
            return False
        serving = self.serving()
        shards = {shard for each in serving for shard in each.session.shards}
        everyone = len(shards) == self.ground.log.partitions
        return everyone and not any(True for _ in self.undecided()) and all(map(_rests, self.states.values()))

    def undecided(self) -> Iterator[Recorded]:
        """Records that a supervisor must answer, and that were not."""
        places = [Partition(topic, number) for topic in ANSWERED for number in range(self.ground.log.partitions)]
        for each in read(self.ground.log, places):
            if (each.topic, each.partition, each.offset) not in self.decided:
                yield each

    def refuse_unrest(self) -> None:
        """LawBrokenError that says what does not come to rest."""
        lost = [f"{each.topic}[{each.partition}]@{each.offset}" for each in self.undecided()]
        open_ = {
            "/".join(key): {task_id: task.status.value for task_id, task in each.tasks.items()}
            for key, each in self.states.items()
            if isinstance(each, state.Workflow) and not _rests(each)
        }
        serving = [each.name for each in self.serving()]
        raise LawBrokenError(
            "6 (no lost work)", f"nothing comes to rest: undecided {lost}, open {open_}, serving {serving}"
        )

    def at_end(self) -> None:
        """What holds once everything is at rest: takeovers, offers, secrets."""
        self.look()
        for from_checkpoints in (True, False):
            self._taken_over(from_checkpoints=from_checkpoints)
        dispatched = [each.attempt_id for told in self.history.values() for each in told if each.dispatch is not None]
        same = sorted(dispatched, key=str) == sorted(self._offers, key=str)
        hold(same, repeat.IDEMPOTENT, "offers and dispatches differ")
        every = [Partition(topic, number) for topic in OURS for number in range(self.ground.log.partitions)]
        for recorded in read(self.ground.log, every):
            self._refuse_secret(recorded)

    def _taken_over(self, *, from_checkpoints: bool) -> None:
        """Law 4: whoever takes over now holds what was folded step by step."""
        law = "4 (prefix-safe)"
        shards = onlooker.look(self.ground.log, from_checkpoints=from_checkpoints)
        hold(not shards.frozen, law, f"a takeover freezes {dict(shards.frozen)}")
        taken = dict(shards.states.all())
        hold(taken == self.states, law, "a takeover holds other states than were folded")


def _key(event: Transition) -> Key:
    return (event.tenant_id, event.workflow_id)


def _parsed(text: str) -> Policy:
    return load.parse(text)


def _rests(each: state.State) -> bool:
    return (
        not isinstance(each, state.Workflow)
        or not each.open
        or all(isinstance(task.phase, WAITS_FOR_NOBODY) for task in each.tasks.values())
    )


def _detail(event: Transition) -> str:
    return (event.stop and event.stop.detail) or (event.note and ", ".join(event.note.differs)) or ""


def _told(event: Transition, recorded: Recorded) -> str:
    about = " ".join(str(each) for each in (event.task_id, event.worker_id) if each)
    token = f" #{event.fencing_token}" if event.fencing_token else ""
    number = f"{event.sequence}/{event.version}"
    why = f" ({event.reason})" if event.reason else ""
    cause = event.cause
    source = f" <- {cause.topic}[{cause.partition}]@{cause.offset}" if cause and cause.topic else ""
    writer = f"{event.writer.instance}.{event.writer.generation}"
    place = f"[{recorded.partition}]@{recorded.offset}"
    return f"{number} {event.kind.value} {about}{token}{why}{source}, by {writer}, {place}"
