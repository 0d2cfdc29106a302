"""When checkpoints are written, and how many at once: a pass over what changed, in parts, then the shards' markers."""

import logging
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from remit.errors import LogError
from remit.events.envelope import message
from remit.events.service import Checkpoint
from remit.events.transitions import Writer
from remit.log.outgoing import refuse_oversize
from remit.log.protocols import Partition, Session
from remit.topics import Topic

from .checkpoint import Mark, of_shard, of_workflow
from .shard import Shards
from .states import Key
from .step import Step

log = logging.getLogger("remit.supervisor")
EVERY = timedelta(seconds=10)
PART, PART_BYTES = 100, 1024 * 1024  # of checkpoints in one step, so that none grows long


@dataclass(slots=True)
class Pass:
    """One pass: how each moved shard stood when it began, and what of the changes is still to be written."""

    marks: dict[int, Mark]
    keys: deque[Key]


@dataclass(slots=True)
class Checkpointer:
    """Adds checkpoints to the steps of one supervisor, from one takeover to the next."""

    shards: Shards
    instance: str
    due: datetime
    _pass: Pass | None = field(default=None, init=False)

    def add(self, step: Step, session: Session, now: datetime) -> None:
        """Add the next part of a pass that is due, before the step decides anything: the log has all of the states."""
        self._void(step, now)
        if self._pass is None and (now < self.due or not self.shards.moved):
            return
        ends = self._ends(session)
        if ends is not None:
            self._go_on(self._pass or self._begun(ends, now), ends, step, now)

    def _void(self, step: Step, now: datetime) -> None:
        """Let no later takeover use a marker that this one refused, however the log has grown until then."""
        for shard in self.shards.void:
            self._write(of_shard(self.shards, shard, None, self._writer(shard), now), step)
        self.shards.void = set()

    def _ends(self, session: Session) -> dict[int, int] | None:
        try:
            ends = session.ends([Partition(Topic.TRANSITIONS, shard) for shard in session.shards])
        except LogError as error:  # a checkpoint is no reason to drop anything
            log.warning("no checkpoints for now: %s", error)
            return None
        return None if ends is None else {each.number: end for each, end in ends.items()}

    def _begun(self, ends: dict[int, int], now: datetime) -> Pass:
        sizes, moved = self.shards.sizes, self.shards.moved
        marks = {shard: Mark(end, sizes[shard]) for shard, end in ends.items() if shard in moved}
        self._pass = Pass(marks, deque(self.shards.changed))
        self.shards.changed, self.shards.moved = {}, set()
        self.due = now + EVERY
        return self._pass

    def _go_on(self, begun: Pass, ends: dict[int, int], step: Step, now: datetime) -> None:
        """`ends` of the transitions as they are now: the states have exactly what lies before them."""
        written = 0
        for _ in range(min(PART, len(begun.keys))):
            key = begun.keys.popleft()
            shard = self.shards.shard_of(key)
            size = self._write(of_workflow(self.shards, key, ends[shard], self._writer(shard), now), step)
            if not size:  # without it the shard's marker stays where it was, and history is read from there
                begun.marks.pop(shard, None)
                self.shards.changed[key] = None
            if (written := written + size) > PART_BYTES:
                break
        if not begun.keys:
            for shard, mark in begun.marks.items():
                self._write(of_shard(self.shards, shard, mark, self._writer(shard), now), step)
            self._pass = None

    def _write(self, checkpoint: Checkpoint, step: Step) -> int:
        """Bytes that were written; 0 for one that is too large."""
        laid = message(checkpoint, Topic.CHECKPOINTS)
        try:
            refuse_oversize([laid])
        except LogError as error:
            log.warning("ALARM no checkpoint of %s/%s: %s", checkpoint.tenant_id, checkpoint.workflow_id, error)
            return 0
        step.checkpoint(checkpoint.shard, laid)
        return len(laid.value)

    def _writer(self, shard: int) -> Writer:
        return Writer(instance=self.instance, generation=self.shards.generations[shard])
