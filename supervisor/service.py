"""The loop, written once: poll a batch, decide, evolve, produce, commit. All of the supervisor's writing is here."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from functools import partial

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit.artefacts import ArtefactStore
from remit.errors import FencedError, HistoryGapError, LogError, StepAbortedError
from remit.events.transitions import TransitionKind
from remit.log.protocols import Log, Partition, Recorded
from remit.topics import INPUTS, Topic

from .checkpointer import EVERY, Checkpointer
from .decide.inspection import UNREACHABLE
from .directory import Directory
from .handover import MovedError
from .inspect.inspector import Inspector
from .inspect.questions import answer
from .intake import Intake
from .packed import UnreadableStateError
from .routing import schedule
from .shard import Shards
from .signing import Sign, Signer, unsigned
from .state import AwaitingReview, Workflow
from .states import Key
from .step import Step
from .takeover import take_over

log = logging.getLogger("remit.supervisor")
BATCH = 500
ENOUGH = 2_000
"""So many messages of timers, and of assignments, are enough for one step; what is left goes into the next ones. A step
that outlasts the group's patience is lost, and would be no shorter when it is made again."""
POLL_S = 0.05
FENCINGS = 3
OUTAGE_PAUSE_S = 1.0
FENCING_WINDOW_S = 60
ASKS = frozenset({TransitionKind.INSPECTION_REQUESTED, TransitionKind.INSPECTION_RETRIED})


class Supervisor:
    """One supervisor under one stable name; `clock` gives aware UTC."""

    def __init__(
        self,
        source: Log,
        name: str,
        store: ArtefactStore,
        clock: Callable[[], datetime],
        key: Ed25519PrivateKey | None = None,
        *,
        inspector: Inspector | None = None,
    ) -> None:
        """Join the group; shards come with the first turns. Grants are signed with `key`, without one unsigned."""
        self._log, self._name, self._clock = source, name, clock
        self._directory = Directory(source, clock)
        self._sign: Sign = unsigned if key is None else Signer(key, self._directory.worker_key)
        self._session = source.session(name)
        self._inspector = inspector or Inspector(source.writer(), partial(answer, store=store), clock, name)
        self._intake: Intake | None = None
        self._checkpointer: Checkpointer | None = None
        self._from_checkpoints = True
        self._epoch = -1
        self._barrier: tuple[datetime, dict[Partition, int]] | None = None
        self._fencings: deque[datetime] = deque(maxlen=FENCINGS)
        self._warned = False
        self._blind = False  # the log could not be looked at

    @property
    def shards(self) -> Shards | None:
        """What it holds; None while it owns nothing or is taking over."""
        return self._intake.shards if self._intake else None

    def run(self, stop: threading.Event) -> None:
        """Serve until `stop` is set. FencedError after three fencings in a minute."""
        while not stop.is_set():
            if not self.turn():
                stop.wait(OUTAGE_PAUSE_S)

    def close(self) -> None:
        """Leave the group."""
        self._inspector.close()
        self._session.close()
        self._directory.close()

    def turn(self, timeout: float = POLL_S) -> bool:
        """One round of the loop; whether the log answered. What breaks drops all state: the next turn takes over anew.

        Raises HistoryGapError when history is gone, PolicyUnknownError when a pinned policy can't be read, FencedError
        after three fencings in a minute.
        """
        try:
            self._turn(timeout)
        except MovedError:
            self._drop()
        except UnreadableStateError as error:
            log.critical("ALARM a checkpoint holds no state, history is read instead: %s", error)
            self._drop()
            self._from_checkpoints = False
        except HistoryGapError:
            raise
        except (StepAbortedError, FencedError) as error:
            log.warning("the step was not committed, taking the shards over anew: %s", error)
            self._drop()
            self._count_fencing(error)
        except LogError as error:
            log.warning("the log does not answer, trying again: %s", error)
            self._drop()
            return False
        return True

    def _turn(self, timeout: float) -> None:
        batch = self._session.poll(BATCH, timeout)
        if self._session.epoch != self._epoch:
            self._drop()
            self._epoch = self._session.epoch
            return
        arrived = self._directory.poll()
        if not self._ready():
            return
        if self._intake is None:
            self._take_over()
            return
        self._step(self._intake, batch, arrived)

    def _ready(self) -> bool:
        """Shards to serve, and a policy to serve them by."""
        if self._directory.newest is None and not self._warned:
            self._warned = True
            log.warning("waiting for a policy: apply one with `remit policy apply FILE`")
        return bool(self._session.shards) and self._directory.newest is not None

    def _take_over(self) -> None:
        shards = take_over(self._log, self._session, self._clock, from_checkpoints=self._from_checkpoints)
        self._from_checkpoints = True
        self._directory.require(shards.pinned())
        self._intake = Intake(shards, self._directory, self._name, self._log.partitions, self._clock, self._sign)
        self._checkpointer = Checkpointer(shards, self._name, due=self._clock() + EVERY)
        shards.revisit()
        for (tenant_id, workflow_id), task_id, phase in shards.reviews():
            self._inspector.ask(tenant_id, workflow_id, task_id, phase)
        log.info("serving shards %s with %d workflows", sorted(self._session.shards), len(shards.states))

    def _step(self, intake: Intake, batch: list[Recorded], arrived: set[str]) -> None:
        """One step: decide all, then write all in one transaction with the offsets."""
        step = Step()
        if self._checkpointer is not None:
            self._checkpointer.add(step, self._session, self._clock())
        for recorded in batch:
            intake.take(recorded, step)
        intake.shards.recall(arrived, self._clock())
        intake.shards.govern(self._directory.governing(), self._clock())
        self._fire(intake, step)
        self._assign(intake, step)
        if step.messages:
            self._session.step(step.messages, step.fenced_offsets(self._positions()))
            self._inspect(intake.shards, step)

    def _positions(self) -> dict[int, tuple[Partition, int]]:
        """For each shard one partition and its unmoved position."""
        return {
            shard: (partition, self._session.position(partition))
            for shard in self._session.shards
            for partition in (Partition(Topic.CONTRACTS, shard),)
        }

    def _fire(self, intake: Intake, step: Step) -> None:
        """Fire what is due, once every input is read to the end that it had when it became due."""
        now = self._clock()
        if self._barrier is None:
            due = intake.shards.next_due()
            if due is None or due > now:
                return
            inputs = [Partition(topic, shard) for topic in INPUTS for shard in self._session.shards]
            ends = self._session.ends(inputs)
            self._blind = self._blind or ends is None
            if ends is None:
                return
            if self._blind:  # nobody could be heard meanwhile, so nobody's silence counts
                self._blind = False
                intake.shards.restart_leases(now)
                return
            intake.shards.fall_due(now)
            self._barrier = (now, ends)
        at, ends = self._barrier
        if all(self._session.position(partition) >= end for partition, end in ends.items()):
            self._fire_until(at, intake, step)

    def _fire_until(self, at: datetime, intake: Intake, step: Step) -> None:
        """Fire what was due at that time, as much as one step may hold; nor are more workflows looked at in one."""
        directory, full = self._directory, len(step.messages) + ENOUGH
        for _ in range(ENOUGH):
            if len(step.messages) >= full:
                return
            found = intake.shards.take_due(at, directory.incarnations(), directory.policies)
            if found is None:
                self._barrier = None
                return
            for timer in found[1]:
                intake.decide(found[0], timer, step)

    def _assign(self, intake: Intake, step: Step) -> None:
        """Hand out queued tasks until no worker is free, nothing is left, or the step is full."""
        shards, full = intake.shards, len(step.messages) + ENOUGH
        while shards.queued:
            registry = self._directory.registry()
            followed = 0
            for workflow, assignment in schedule(shards.queued, self._directory.policies, registry, shards.load):
                if len(step.messages) >= full:
                    return
                followed += intake.decide((workflow.tenant_id, workflow.workflow_id), assignment, step)
                shards.queued.serve(workflow.tenant_id)
            if not followed:
                return

    def _inspect(self, shards: Shards, step: Step) -> None:
        for transition in step.transitions:
            if transition.kind in ASKS and transition.reason != UNREACHABLE and transition.task_id is not None:
                key: Key = (transition.tenant_id, transition.workflow_id)
                state = shards.state(key)
                phase = state.tasks[transition.task_id].phase if isinstance(state, Workflow) else None
                if isinstance(phase, AwaitingReview):
                    self._inspector.ask(*key, transition.task_id, phase)

    def _drop(self) -> None:
        self._intake = self._checkpointer = None
        self._barrier = None

    def _count_fencing(self, error: Exception) -> None:
        if not isinstance(error, FencedError):
            return
        now = self._clock()
        self._fencings.append(now)
        first = self._fencings[0]
        if len(self._fencings) == FENCINGS and (now - first).total_seconds() < FENCING_WINDOW_S:
            raise FencedError(
                f"fenced {FENCINGS} times within a minute: another supervisor runs under the name {self._name}"
            ) from error
