"""A log in memory with one supervisor and one attempt at work, and whatever a stranger lays down beside it.

All ids are derived, so that the same world comes about each time. Only the targets import it.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache

from remit.artefacts import ArtefactStore
from remit.codec import decode
from remit.errors import CodecError
from remit.events.base import Event
from remit.events.envelope import message
from remit.events.transitions import Transition
from remit.log.memory import MemoryLog
from remit.log.protocols import Message, Partition, Recorded
from remit.topics import INPUTS, Topic, partition_of
from supervisor.service import Supervisor

from .said import AT, BESIDE, DOCUMENT, OUTPUT, POLICY, REPORT, TENANT, WORKFLOW, contract, liveness, policy, worker
from .target import LawBrokenError

KEY = f"{TENANT}/{WORKFLOW}".encode()
PARTITIONS = 2
_TURNS = 200


class World:
    """The log, and its supervisor."""

    def __init__(self) -> None:
        """A policy, a worker, and a workflow whose first task was claimed."""
        self.log = MemoryLog(PARTITIONS, lambda: AT)
        self._writer = self.log.writer()
        self._written = 0
        self.write(Topic.POLICIES, policy(POLICY))
        self.write(Topic.WORKERS, worker())
        self.write(Topic.LIVENESS, liveness())
        self.supervisor = self._supervisor()
        self.write(Topic.CONTRACTS, contract(WORKFLOW, DOCUMENT))
        self.settle()

    def _supervisor(self) -> Supervisor:
        made = Supervisor(self.log, "s1", _artefacts(), lambda: AT)
        made._inspector._pool = _AtOnce()  # type: ignore[assignment]  # noqa: SLF001 - so that all is done when it is at rest
        return made

    def restart(self) -> None:
        """Another process takes over under the same name."""
        self.supervisor.close()
        self.supervisor = self._supervisor()

    def write(self, topic: str, event: Event) -> None:
        """Write as our own writers do."""
        self._writer.append([message(event, topic)])

    def lay(self, topic: str, key: bytes | None, value: bytes | None) -> None:
        """Lay down what no writer of ours would write."""
        count = 1 if topic not in _SHARDED else PARTITIONS
        laid = Message(topic, key, value)  # type: ignore[arg-type]  # what a stranger may do
        place = Partition(topic, partition_of(key or b"", count))
        store = self.log._store  # noqa: SLF001 - no door of ours lets such a record in
        with store.changed:
            store._lay(laid, place, None)  # noqa: SLF001

    def settle(self) -> None:
        """Let the supervisor turn until nothing more is written or read."""
        quiet, before = 0, -1
        for _ in range(_TURNS):
            self.supervisor.turn(0.0)
            after = sum(len(held.entries) for held in self.log._store._held.values())  # noqa: SLF001
            quiet, before = (quiet + 1 if after == before else 0), after
            if quiet > _QUIET:
                return
        raise LawBrokenError("the supervisor never comes to rest")

    def events(self, topic: str) -> Iterator[Event]:
        """What can be read of a topic."""
        for recorded in self.records(topic):
            try:
                yield decode(topic, recorded.value)
            except CodecError:
                continue

    def records(self, topic: str) -> list[Recorded]:
        """All records of a topic."""
        places = [Partition(topic, number) for number in range(PARTITIONS)]
        with closing(self.log.reader()) as reader:
            reader.assign(dict.fromkeys(places, 0))
            return reader.poll(10_000, 0.0)

    def kinds(self, workflow_id: str) -> list[str]:
        """Kinds of a workflow's transitions."""
        found = (each for each in self.events(Topic.TRANSITIONS) if isinstance(each, Transition))
        return [each.kind.value for each in found if each.workflow_id == workflow_id]

    def go_on_beside(self) -> None:
        """A workflow that comes after all the others is judged; LawBrokenError if it is not."""
        self.write(Topic.CONTRACTS, contract(BESIDE, DOCUMENT))
        self.settle()
        if not self.kinds(BESIDE):
            raise LawBrokenError("a workflow beside the poison was never judged")
        self._refuse_unread()

    def _refuse_unread(self) -> None:
        reader = self.log.reader()
        places = [Partition(topic, shard) for topic in INPUTS for shard in range(PARTITIONS)]
        for place, end in reader.ends(places).items():
            session = self.supervisor._session  # noqa: SLF001 - how far it read is nobody else's business
            if session.position(place) < end:
                raise LawBrokenError(f"{place.topic} was read to {session.position(place)} of {end}")

    def close(self) -> None:
        """Leave nothing behind."""
        self.supervisor.close()


_SHARDED = frozenset(Topic) - {Topic.POLICIES, Topic.WORKERS, Topic.LIVENESS}
_QUIET = 8


@cache
def _artefacts() -> ArtefactStore:
    store = ArtefactStore(tempfile.mkdtemp(prefix="remit-fuzz-"))
    for data in (OUTPUT, REPORT):
        store.put(data)
    return store


class _AtOnce:
    """A pool without threads: what is submitted is done when `submit` returns."""

    def submit(self, work: Callable[..., object], *arguments: object) -> None:
        work(*arguments)

    def shutdown(self, **_: object) -> None:
        """Nothing runs."""
