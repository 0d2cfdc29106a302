"""Reads one workflow's transitions: its past up to a pinned end, then whatever follows. The command line imports it."""

from contextlib import closing
from typing import NamedTuple

from remit.client.effects import POLL, read_transition
from remit.events.transitions import Transition
from remit.log.catch_up import replay
from remit.log.protocols import Log, Partition, Recorded
from remit.topics import Topic, partition_of, workflow_key

HUNG_S = 30.0


class Entry(NamedTuple):
    """A transition, and where it lies."""

    recorded: Recorded
    transition: Transition


class Follower:
    """Follows one workflow through its shard's transitions, committed ones only. One thread owns it."""

    def __init__(self, log: Log, tenant_id: str, workflow_id: str) -> None:
        """Nothing is read before `past`."""
        self._key = workflow_key(tenant_id, workflow_id)
        self._here = Partition(Topic.TRANSITIONS, partition_of(self._key, log.partitions))
        self._reader = log.reader()

    def past(self) -> list[Entry]:
        """All from the first to the end that the shard has now; LogError if a transaction hangs."""
        pins = self._reader.ends([self._here])
        batches = replay(self._reader, {self._here: 0}, pins, timeout=HUNG_S)
        return [entry for batch in batches for entry in self._ours(batch)]

    def more(self, timeout: float) -> list[Entry]:
        """What came since; waits at most `timeout` seconds for the shard's next records, and may give none."""
        return self._ours(self._reader.poll(POLL, timeout))

    def close(self) -> None:
        """Stop reading."""
        self._reader.close()

    def _ours(self, batch: list[Recorded]) -> list[Entry]:
        read = [Entry(each, found) for each in batch if each.key == self._key and (found := read_transition(each))]
        return [
            each for each in read if workflow_key(each.transition.tenant_id, each.transition.workflow_id) == self._key
        ]


def _key(transition: Transition) -> bytes:
    return workflow_key(transition.tenant_id, transition.workflow_id)


def history(log: Log, tenant_id: str, workflow_id: str) -> list[Entry]:
    """All transitions of a workflow up to now; empty if there is none."""
    with closing(Follower(log, tenant_id, workflow_id)) as follower:
        return follower.past()
