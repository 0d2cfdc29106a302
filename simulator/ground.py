"""What everything in a simulated world stands on: its plan, time, facts, log and story, and a hand to write with.

It knows none of the actors; they all import it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid5

from remit.events.base import Event
from remit.events.envelope import message, new_event
from remit.log.memory import MemoryLog
from remit.log.protocols import Message, Partition
from remit.topics import INPUTS, SINGLE, Topic, dispatches

from .facts import Facts
from .plan import Plan
from .reading import read
from .timeline import START, Timeline

E = TypeVar("E", bound=Event)
PARTITIONS = 2
POOLS = ("hands", "coders", "testers", "verifiers")
NAMES = UUID("3f0c0a1e-0000-4000-8000-000000000002")


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that happened, as it was told."""

    at: float
    what: str
    who: str
    words: str


class Ground:
    """Of one history under way."""

    def __init__(self, plan: Plan) -> None:
        """Nothing has happened yet."""
        self.plan = plan
        self.timeline = Timeline()
        self.facts = Facts()
        self.ahead_s = 0.0  # of the log's clock
        self.calm = False
        self.pace = 1.5  # seconds between two turns of a supervisor, at most
        self.changes = 0  # of anything that a supervisor may have to act on
        self.depth = 0  # processes that stand still
        self.story: list[Told] = []
        self.written: list[Message] = []
        self._ids = 0
        self.log = MemoryLog(PARTITIONS, self._log_clock)
        self._writer = self.log.writer()

    def _log_clock(self) -> datetime:
        return self.timeline.clock(self.ahead_s)

    def calm_down(self) -> None:
        """Let the log, the store and everybody's ways be well from here on."""
        self.tell("calm", "", "from here on nothing goes wrong")
        self.calm, self.ahead_s, self.pace = True, 0.0, 5.0
        self.see_again()

    def see_again(self) -> None:
        """The artefact store is there."""
        self.facts.shelf.blind = False

    def new_id(self) -> UUID:
        """An id that this history alone has."""
        self._ids += 1
        return uuid5(NAMES, f"{self.plan.seed}/{self._ids}")

    def event(self, cls: type[E], **said: Any) -> E:  # noqa: ANN401 - fields of the event
        """An event as its writer makes it."""
        return new_event(cls, event_id=self.new_id(), producer="simulated", clock_now=self.timeline.clock(), **said)

    def write(self, topic: Topic, cls: type[Event], **said: Any) -> None:  # noqa: ANN401 - fields of the event
        """Make an event and send it."""
        self.send(topic, self.event(cls, **said))

    def send(self, topic: Topic, event: Event) -> Message:
        """Write an event."""
        made = message(event, topic)
        self.append(made)
        return made

    def append(self, made: Message, *, again: bool = True) -> None:
        """Write a record; `again`: it may come again."""
        self._writer.append([made])
        self.changes += made.topic != Topic.LIVENESS
        if again and made.topic in INPUTS:
            self.written.append(made)

    def tell(self, what: str, who: str, words: str = "") -> None:
        """Keep what happened, for whoever must find out why a law was broken."""
        self.changes += 1
        self.story.append(Told(self.timeline.now, what, who, words))

    def digest(self) -> str:
        """SHA-256 over everything that lies in the log."""
        found = hashlib.sha256()
        topics = [*map(str, Topic), *map(dispatches, POOLS)]
        for topic in topics:
            for number in range(1 if topic in SINGLE else PARTITIONS):
                for each in read(self.log, [Partition(topic, number)]):
                    at = (each.appended_at - START).total_seconds()
                    found.update(repr((topic, number, each.offset, at, each.key, each.value)).encode())
        return found.hexdigest()
