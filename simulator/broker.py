"""The log as one simulated process sees it: late, in small portions, in any order across partitions, and faulty.

Within a partition the order is the log's. At each step of a commit the process may be killed or stopped.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Protocol

from remit.errors import StepAbortedError
from remit.log.memory import MemoryLog, MemorySession, PreparedStep
from remit.log.protocols import Message, Partition, Reader, Recorded, Session, Writer

from .plan import Point
from .timeline import Timeline

ALL = 10_000


class Process(Protocol):
    """What a session must know of the process that holds it."""

    chance: Random
    timeline: Timeline
    held: dict[Partition, float]
    """Until when nothing of a partition is delivered."""
    crawls_until: float

    def reach(self, point: Point, prepared: PreparedStep | None = None) -> None:
        """Come to a point of the step: where it is killed, KilledError; where it is stopped, others go on meanwhile."""

    def aborts(self) -> bool:
        """Whether the next step is to be aborted."""

    def committed(self) -> None:
        """Something was committed."""


class ProcessLog:
    """Implements `Log` for one process."""

    def __init__(self, log: MemoryLog, process: Process) -> None:
        """Of that log."""
        self._log, self._process = log, process

    @property
    def partitions(self) -> int:
        """As agreed."""
        return self._log.partitions

    def reader(self) -> Reader:
        """A reader that lets virtual time pass where a real one waits."""
        return PatientReader(self._log.reader(), self._process.timeline)

    def writer(self) -> Writer:
        """A writer."""
        return self._log.writer()

    def session(self, name: str) -> Session:
        """Join the group."""
        return FaultySession(self._log.session(name), self._process)

    def close(self) -> None:
        """Nothing to close."""


class PatientReader:
    """Implements `Reader`: what it waits for may come by what the broker does in that time."""

    def __init__(self, inner: Reader, timeline: Timeline) -> None:
        """Wrap a reader."""
        self._inner, self._timeline = inner, timeline
        self.assign, self.position, self.ends = inner.assign, inner.position, inner.ends
        self.starts, self.close = inner.starts, inner.close

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """As the protocol says, on virtual time."""
        found = self._inner.poll(limit, 0.0)
        if found or not timeout:
            return found
        self._timeline.wait(timeout)
        return self._inner.poll(limit, 0.0)


class FaultySession:
    """Implements `Session` over the real one in memory."""

    def __init__(self, inner: MemorySession, process: Process) -> None:
        """Of that process."""
        self._inner, self._process = inner, process
        self._fetched: dict[Partition, list[Recorded]] = {}
        self._epoch = inner.epoch
        self.committed = inner.committed

    @property
    def epoch(self) -> int:
        """Of the real one."""
        return self._inner.epoch

    @property
    def shards(self) -> frozenset[int]:
        """Of the real one."""
        return self._inner.shards

    def poll(self, limit: int, timeout: float) -> list[Recorded]:
        """Serve the group, fetch, and deliver some of what was fetched."""
        self._process.reach(Point.POLL)
        try:
            self._fetch()
        finally:
            if self._epoch != self._inner.epoch:
                self._epoch = self._inner.epoch
                self._fetched.clear()
        if timeout:
            self._process.timeline.wait(timeout)
        return self._delivered(limit)

    def _fetch(self) -> None:
        for recorded in self._inner.poll(ALL, 0.0):
            self._fetched.setdefault(recorded.source, []).append(recorded)

    def _delivered(self, limit: int) -> list[Recorded]:
        """Some records of some partitions, each partition's in their order."""
        process, now = self._process, self._process.timeline.now
        most = min(limit, process.chance.choice((1, 2, 500, 500)) if now < process.crawls_until else limit)
        ready = sorted(each for each in self._fetched if process.held.get(each, 0.0) <= now)
        process.chance.shuffle(ready)
        taken: list[Recorded] = []
        for partition in ready:
            waiting = self._fetched.pop(partition)
            room = most - len(taken)
            taken += waiting[:room]
            if rest := waiting[room:]:
                self._fetched[partition] = rest
        return taken

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int] | None:
        """Of the real one."""
        self._process.reach(Point.ENDS)
        return self._inner.ends(partitions)

    def resume(self, positions: Mapping[Partition, int]) -> None:
        """Consume from there; what was fetched is dropped."""
        self._fetched.clear()
        self._inner.resume(positions)

    def position(self, partition: Partition) -> int:
        """Next offset to be delivered."""
        waiting = self._fetched.get(partition)
        return waiting[0].offset if waiting else self._inner.position(partition)

    def unread(self) -> list[Recorded]:
        """What was fetched and not yet delivered."""
        return [each for waiting in self._fetched.values() for each in waiting]

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        """Write in one transaction, with a chance to die before, within and after."""
        self._process.reach(Point.BEFORE)
        prepared = self._inner.prepare(messages, offsets)
        if self._process.aborts():
            prepared.abort()
            raise StepAbortedError("aborted by the broker")
        self._process.reach(Point.OPEN, prepared)
        self._process.reach(Point.ON_ITS_WAY, prepared)
        prepared.commit()
        self._process.committed()
        self._process.reach(Point.AFTER)

    def close(self) -> None:
        """Leave."""
        self._inner.close()
