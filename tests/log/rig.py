"""What a log must offer beyond its protocols to be put under the contract, and the moves that every test makes."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from remit.log.protocols import Log, Message, Partition, Reader, Recorded, Session
from remit.topics import INPUTS, Topic

PATIENCE_S = 60.0
"""A bound on hanging, never a measure: nothing is judged by how long it took."""
WAIT_S = 0.1


class Undecided(Protocol):
    """A transaction that was written and not ended."""

    def commit(self) -> None:
        """Make it visible."""

    def abort(self) -> None:
        """Undo it."""


class Rig(Protocol):
    """A log, and hands to reach behind it."""

    log: Log

    def prepare(self, session: Session, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> Undecided:
        """A step of the session without its commit."""

    def transaction(self, messages: Sequence[Message]) -> Undecided:
        """A foreign transaction, open."""

    def delete_before(self, partition: Partition, offset: int) -> None:
        """Let retention take the records before `offset`."""


def message(topic: str, value: str, partition: int | None = 0, key: str = "acme/w1") -> Message:
    """A small message, by default to partition 0."""
    return Message(topic, key.encode(), value.encode(), partition)


def values(records: Iterable[Recorded]) -> list[str]:
    """What the records say, in order."""
    return [(record.value or b"").decode() for record in records]


def settle(log: Log, *sessions: Session) -> None:
    """Poll in turn until the sessions own all shards between them, each some; records of before are dropped."""
    deadline = time.monotonic() + PATIENCE_S
    while not all(session.shards for session in sessions) or _owned(sessions) != list(range(log.partitions)):
        assert time.monotonic() < deadline, "the group never settled"
        for session in sessions:
            session.poll(100, WAIT_S)


def _owned(sessions: Iterable[Session]) -> list[int]:
    return sorted(shard for session in sessions for shard in session.shards)


def inputs_of(session: Session) -> list[Partition]:
    """The input partitions of the shards owned."""
    return [Partition(topic, shard) for topic in INPUTS for shard in sorted(session.shards)]


def committed(session: Session, partitions: Iterable[Partition]) -> dict[Partition, int]:
    """Committed offsets, waited for as the loop does."""
    wanted = list(partitions)
    deadline = time.monotonic() + PATIENCE_S
    while (found := session.committed(wanted)) is None:
        assert time.monotonic() < deadline, "committed offsets stayed undecided"
        session.poll(100, 0)
    return found


def serve(session: Session) -> None:
    """Resume every owned input at its committed offset, or at 0."""
    found = committed(session, inputs_of(session))
    session.resume({partition: max(offset, 0) for partition, offset in found.items()})


def take(source: Reader | Session, count: int) -> list[Recorded]:
    """Poll until `count` records came."""
    taken: list[Recorded] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(taken) < count:
        assert time.monotonic() < deadline, f"only {len(taken)} of {count} records came"
        taken += source.poll(count - len(taken), WAIT_S)
    return taken


def visible(log: Log, topic: str = Topic.TRANSITIONS, partition: int = 0) -> list[str]:
    """What a reader from the start sees before a record written now: so nothing needs to be waited for."""
    log.writer().append([message(topic, "end", partition)])
    reader = log.reader()
    reader.assign({Partition(topic, partition): 0})
    seen: list[str] = []
    while "end" not in seen:
        seen += values(take(reader, 1))
    reader.close()
    return seen[:-1]
