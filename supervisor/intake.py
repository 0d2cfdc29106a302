"""From a record to transitions: decode, place, decide, and what to do when any of that fails. No I/O of its own.

One poison record never stops a shard, and a fault inside decide freezes one workflow.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from remit import ids
from remit.codec import decode
from remit.errors import CodecError, UnknownSchemaError
from remit.events import inputs as events
from remit.events.base import Cause, Usage
from remit.events.service import DeadLetterKind
from remit.events.transitions import StopReason, Writer
from remit.log.protocols import Recorded
from remit.topics import Topic, partition_of, workflow_key

from .checks.secrets import names_a_secret
from .decide import decided
from .decide.quarantine import quarantine
from .directory import Directory
from .inputs import Assignment, Facts, Input, InputEvent, Received, Timer, cause_of
from .shard import Shards, key_of
from .signing import Sign, unsigned
from .state import Running, State, Unborn, Workflow
from .states import Key
from .step import Step, Written, dead_letter, shard_note, written

log = logging.getLogger("remit.supervisor")
RESERVED_TENANT = "_shard"  # a shard's own notes and marker stand under keys of this form


@dataclass(slots=True)
class Intake:
    """Decides inputs one after another into a step."""

    shards: Shards
    directory: Directory
    instance: str
    partitions: int
    clock: Callable[[], datetime]
    sign: Sign = unsigned  # of the grants that it hands out

    def take(self, recorded: Recorded, step: Step) -> None:
        """Handle one record of an input topic."""
        step.passed(recorded)
        if self.shards.is_decided(recorded.topic, recorded.partition, recorded.offset):
            self._pass_again(recorded)
            return
        refusal = self._placed(recorded)
        if refusal is not None:
            self._dead_letter(recorded, *refusal, step)
            return
        try:
            event = decode(recorded.topic, recorded.value)
        except UnknownSchemaError as error:
            self._unknown(recorded, str(error), step)
        except CodecError as error:
            self._dead_letter(recorded, DeadLetterKind.UNDECODABLE, str(error), step)
        else:
            self._take_event(recorded, event, step)

    def _pass_again(self, recorded: Recorded) -> None:
        """A record that was decided is never decided again; a renewal only tells, and is heard after a takeover."""
        if recorded.topic != Topic.LEASES:
            self.shards.counts["decided_before"] += 1
            return
        renewal = _renewal(recorded)
        if renewal is not None and self._placed(recorded) is None and not names_a_secret(renewal):
            self._renew((renewal.tenant_id, renewal.workflow_id), renewal, recorded)

    def _placed(self, recorded: Recorded) -> tuple[DeadLetterKind, str] | None:
        key = key_of(recorded)
        if key is None:
            return DeadLetterKind.UNDECODABLE, "key: not tenant/workflow in UTF-8"
        if key[0] == RESERVED_TENANT:
            return DeadLetterKind.NOT_ALLOWED, f"key: tenant {RESERVED_TENANT} is the log's own"
        if partition_of(recorded.key or b"", self.partitions) != recorded.partition:
            return DeadLetterKind.MISPLACED, f"key: hashes to another partition of {self.partitions}"
        return None

    def _take_event(self, recorded: Recorded, event: object, step: Step) -> None:
        key = key_of(recorded) or ("", "")
        if not isinstance(event, InputEvent):
            self._dead_letter(recorded, DeadLetterKind.NOT_ALLOWED, "not a record of this topic", step)
        elif (event.tenant_id, event.workflow_id) != key:
            self._dead_letter(recorded, DeadLetterKind.NOT_ALLOWED, "key: names another workflow than the event", step)
        elif names_a_secret(event):
            self._dead_letter(recorded, DeadLetterKind.NOT_ALLOWED, "a name in it looks like a secret", step)
        elif isinstance(event, events.Lease) and event.kind is events.LeaseKind.RENEWED:
            self._renew(key, event, recorded)
        elif event.kind.value == "UNKNOWN":
            self._unknown(recorded, "kind: not known to this build", step)
        elif (
            key not in self.shards.frozen
            and isinstance(self.shards.state(key), Unborn)
            and not isinstance(event, events.Contract)
        ):
            self._dead_letter(
                recorded, DeadLetterKind.UNKNOWN_WORKFLOW, "no contract was accepted under this key", step
            )
        else:
            self._take_input(key, event, recorded, step)

    def _take_input(self, key: Key, event: InputEvent, recorded: Recorded, step: Step) -> None:
        now = self.shards.now(recorded.topic, recorded.partition, recorded.appended_at)
        item = Received(event, recorded.topic, recorded.partition, recorded.offset, recorded.appended_at)
        if key not in self.shards.frozen:
            self._decide(key, item, now, recorded.partition, step)
        if key in self.shards.frozen:  # before, or since no decision could be made
            self._refuse_frozen(key, recorded, step)

    def _refuse_frozen(self, key: Key, recorded: Recorded, step: Step) -> None:
        reason = f"the workflow is frozen: {self.shards.frozen[key]}"
        self._dead_letter(recorded, DeadLetterKind.NOT_ALLOWED, reason, step)

    def _start_lease(self, key: Key, event: events.Lease, now: datetime) -> None:
        """A claim is the first report of its lease: nothing was used before it."""
        state = self.shards.state(key)
        task = state.tasks.get(event.task_id) if isinstance(state, Workflow) else None
        if task is None or not isinstance(task.phase, Running) or task.phase.attempt_id != event.attempt_id:
            return
        if event.kind is events.LeaseKind.CLAIM and self.shards.leases.get(event.attempt_id) is None:
            self.shards.leases.start(event.attempt_id, now, event.usage or Usage())

    def decide(self, key: Key, item: Timer | Assignment, step: Step) -> int:
        """Decide a timer or an assignment; how many transitions followed, none for a frozen workflow."""
        if key in self.shards.frozen:
            return 0
        shard = partition_of(workflow_key(*key), self.partitions)
        return self._decide(key, item, self.clock(), shard, step)

    def _decide(self, key: Key, item: Input, now: datetime, shard: int, step: Step) -> int:
        state = self.shards.state(key)
        facts = self._facts(state, now, shard)
        if facts is None:
            self.shards.freeze(key, "policy_missing")
            return 0
        try:
            done = written(state, decided(state, item, facts), facts.policy, self.sign)
        except Exception as error:
            # Whatever broke is a fault of ours in one workflow; the others must go on.
            log.exception("ALARM decide failed for %s/%s: it is quarantined", *key)
            decision = (cause_of(state, item), facts, StopReason.DECIDER_FAULT, type(error).__name__)
            return self._quarantine(key, state, decision, shard, step)
        self._fold(key, done, shard, step)
        if isinstance(item, Received) and isinstance(item.event, events.Lease):
            self._start_lease(key, item.event, now)
        self._remember(key)
        return len(done.transitions)

    def _quarantine(
        self, key: Key, state: State, decision: tuple[Cause, Facts, StopReason, str], shard: int, step: Step
    ) -> int:
        """Quarantine by a transition; if not even that can be made, freeze the workflow until the next takeover."""
        try:
            done = written(state, quarantine(state, *decision), decision[1].policy, self.sign)
        except Exception:
            log.exception("ALARM %s/%s can't even be quarantined", *key)
            self.shards.freeze(key, decision[2].value)
            return 0
        self._fold(key, done, shard, step)
        self._remember(key)
        return len(done.transitions)

    def _facts(self, state: State, now: datetime, shard: int) -> Facts | None:
        sha = state.policy_sha256 if isinstance(state, Workflow) else self.directory.newest
        policy = self.directory.policies.get(sha or "")
        if policy is None or sha is None:
            return None
        writer = Writer(instance=self.instance, generation=self.shards.generations[shard])
        leases = self.shards.leases
        return Facts(now, writer, policy, sha, leases.usage(), leases.saved())

    def _fold(self, key: Key, done: Written, shard: int, step: Step) -> None:
        step.write(shard, done)
        for transition in done.transitions:
            self.shards.note_decided(transition)
        if done.transitions:
            self.shards.put(key, done.state)

    def _remember(self, key: Key) -> None:
        self.shards.remember(key, self.directory.incarnations(), self.directory.policies)

    def _renew(self, key: Key, event: events.Lease, recorded: Recorded) -> None:
        """Soft state only: no transition, no transaction."""
        state = self.shards.state(key)
        task = state.tasks.get(event.task_id) if isinstance(state, Workflow) else None
        current = task.current() if task is not None and isinstance(task.phase, Running) else None
        said = (event.attempt_id, event.fencing_token, event.worker_id, event.incarnation)
        if current is None or said != (current.attempt_id, current.token, current.worker_id, current.incarnation):
            self.shards.counts["renewal_ignored"] += 1
            return
        self.shards.leases.renew(event, recorded.appended_at)

    def _unknown(self, recorded: Recorded, reason: str, step: Step) -> None:
        """A record that a newer build wrote: its workflow is frozen, since what it says may matter."""
        key = key_of(recorded) or ("", "")
        state = self.shards.state(key)
        now = self.shards.now(recorded.topic, recorded.partition, recorded.appended_at)
        facts = self._facts(state, now, recorded.partition)
        if key in self.shards.frozen:
            self._refuse_frozen(key, recorded, step)
            return
        if not isinstance(state, Workflow) or not state.open or facts is None:
            self._dead_letter(recorded, DeadLetterKind.UNDECODABLE, reason, step)
            return
        cause = Cause(
            event_id=ids.dead_letter_id(recorded.topic, recorded.partition, recorded.offset),
            topic=recorded.topic,
            partition=recorded.partition,
            offset=recorded.offset,
        )
        decision = (cause, facts, StopReason.UNTRUSTED_STATE, "unknown_schema")
        if not self._quarantine(key, state, decision, recorded.partition, step):
            self._refuse_frozen(key, recorded, step)

    def _dead_letter(self, recorded: Recorded, kind: DeadLetterKind, reason: str, step: Step) -> None:
        shard = recorded.partition
        letter = dead_letter(recorded, kind, reason, f"supervisor/{self.instance}")
        sequence = self.shards.sequences.get(shard, 0) + 1
        self.shards.sequences[shard] = sequence
        writer = Writer(instance=self.instance, generation=self.shards.generations[shard])
        note = shard_note(letter, writer, sequence)
        self.shards.note_decided(note)
        self.shards.counts["dead_letters"] += 1
        step.dead_letter(letter, note, shard)


def _renewal(recorded: Recorded) -> events.Lease | None:
    """The renewal that a record is, under its own key; None for anything else."""
    try:
        event = decode(recorded.topic, recorded.value)
    except CodecError:
        return None
    if not isinstance(event, events.Lease) or event.kind is not events.LeaseKind.RENEWED:
        return None
    return event if (event.tenant_id, event.workflow_id) == key_of(recorded) else None
