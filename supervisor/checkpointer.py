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

from .checkpoint import of_shard, of_workflow
from .shard import Shards
from .states import Key
from .step import Step

log = logging.getLogger("remit.supervisor")
EVERY = timedelta(seconds=10)
PART = 100  # checkpoints in one step, so that none grows long


@dataclass(slots=True)
class Pass:
    """One pass: where each shard's transitions ended when it began, and what of the changes is still to be written."""

    ends: dict[int, int]
    keys: deque[Key]
    complete: bool = True  # nothing was too large


@dataclass(slots=True)
class Checkpointer:
    """Adds checkpoints to the steps of one supervisor, from one takeover to the next."""

    shards: Shards
    instance: str
    due: datetime
    _pass: Pass | None = field(default=None, init=False)

    def add(self, step: Step, session: Session, now: datetime) -> None:
        """Add the next part of a pass that is due, before the step decides anything: the log has all of the states."""
        if self._pass is None and (now < self.due or not self.shards.moved):
            return
        ends = session.ends([Partition(Topic.TRANSITIONS, shard) for shard in session.shards])
        if ends is not None:
            by_shard = {each.number: end for each, end in ends.items()}
            self._go_on(self._pass or self._begun(by_shard, now), by_shard, step, now)

    def _begun(self, ends: dict[int, int], now: datetime) -> Pass:
        self._pass = Pass(ends, deque(self.shards.changed))
        self.shards.changed, self.shards.moved = {}, False
        self.due = now + EVERY
        return self._pass

    def _go_on(self, begun: Pass, ends: dict[int, int], step: Step, now: datetime) -> None:
        for _ in range(min(PART, len(begun.keys))):
            key = begun.keys.popleft()
            shard = self.shards.shard_of(key)
            checkpoint = of_workflow(self.shards, key, ends[shard], self._writer(shard), now)
            if checkpoint is not None and key not in self.shards.broken:
                begun.complete &= self._write(checkpoint, step)
        if not begun.keys:
            self._mark(begun, step, now)
            self._pass = None

    def _mark(self, begun: Pass, step: Step, now: datetime) -> None:
        """Without all of the states the markers stay where they were, and history is read from there."""
        for shard, end in begun.ends.items() if begun.complete else ():
            self._write(of_shard(self.shards, shard, end, self._writer(shard), now), step)

    def _write(self, checkpoint: Checkpoint, step: Step) -> bool:
        laid = message(checkpoint, Topic.CHECKPOINTS)
        try:
            refuse_oversize([laid])
        except LogError as error:
            log.warning("ALARM no checkpoint of %s/%s: %s", checkpoint.tenant_id, checkpoint.workflow_id, error)
            return False
        step.checkpoint(checkpoint.shard, laid)
        return True

    def _writer(self, shard: int) -> Writer:
        return Writer(instance=self.instance, generation=self.shards.generations[shard])
