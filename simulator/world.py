"""One simulated world: a log, supervisors, workers, clients and people, and all that goes wrong by its plan."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid5

from remit import ids
from remit.events.base import Event
from remit.events.envelope import message, new_event
from remit.events.inputs import Contract, ContractKind
from remit.events.service import Policy, PolicyKind
from remit.log.memory import MemoryLog
from remit.log.protocols import Message, Partition
from remit.policy import load
from remit.topics import INPUTS, SINGLE, Topic, dispatches

from . import faults
from .facts import CANARY, Facts
from .hands import WorkerHand
from .parts import state
from .people import work_inbox
from .plan import TROUBLED_S, Plan, Submission, dice
from .policy import POLICY, VERIFYING
from .process import SupervisorProcess
from .reading import read
from .shapes import Document, document
from .timeline import START, Timeline
from .watch import Watch

E = TypeVar("E", bound=Event)
PARTITIONS = 2
POOLS = ("hands", "coders", "testers", "verifiers")
NAMES = UUID("3f0c0a1e-0000-4000-8000-000000000002")
LONGEST_S = 700.0
LOOK_S = 15.0


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that happened, as it was told."""

    at: float
    what: str
    who: str
    words: str


class World:
    """One history under way."""

    def __init__(self, plan: Plan) -> None:
        """Set everything up; nothing has happened yet."""
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
        self.watch = Watch(self)
        self.apply_policy(VERIFYING if plan.verifying else POLICY)
        self._processes: dict[str, SupervisorProcess] = {}
        for name in plan.supervisors:
            self.start(name)
        self.hands = {each.worker_id: WorkerHand(self, each) for each in plan.hands}
        for submission in plan.submissions:
            self.timeline.at(submission.at, lambda each=submission: self._submit(each))  # type: ignore[misc]
        for fault in plan.faults:
            self.timeline.at(fault.at, lambda each=fault: faults.apply(self, each))  # type: ignore[misc]

    def _log_clock(self) -> datetime:
        return self.timeline.clock(self.ahead_s)

    def run(self) -> None:
        """Trouble first, then calm until everything is at rest. LawBrokenError."""
        self.timeline.run_until(TROUBLED_S)
        self._calm_down()
        while not self.watch.at_rest():
            if self.timeline.now > LONGEST_S:
                self.watch.refuse_unrest()
            self.timeline.run_until(self.timeline.now + LOOK_S)
        self.watch.at_end()

    def _calm_down(self) -> None:
        """Let nothing more go wrong; what is gone comes back."""
        self.tell("calm", "", "from here on nothing goes wrong")
        self.calm, self.ahead_s, self.pace = True, 0.0, 5.0
        self.see_again()
        for name in self.plan.supervisors:
            self.newest(name).disarm()
        for hand in self.hands.values():
            hand.paused_until = 0.0
            hand.come_back()
        for seconds in (20.0, 60.0):
            self.timeline.after(seconds, lambda: work_inbox(self, dice("inbox", self.plan.seed, self.timeline.now)))

    # supervisors

    def start(self, name: str) -> None:
        """Start a process under that name, whoever else bears it."""
        known = self._processes.get(name)
        self._processes[name] = SupervisorProcess(self, name, known.number + 1 if known else 0)

    def newest(self, name: str) -> SupervisorProcess:
        """The process that took the name last."""
        return self._processes[name]

    def restart_later(self, process: SupervisorProcess, seconds: float) -> None:
        """Start another under its name, unless one has come by then."""

        def start() -> None:
            if not self.newest(process.name).alive:
                self.tell("starts", process.name, "")
                self.start(process.name)

        self.timeline.after(seconds, start)

    def serving(self) -> list[SupervisorProcess]:
        """Those that hold shards and may go on."""
        return [each for each in self._processes.values() if each.serves]

    # clients and people

    def apply_policy(self, text: str) -> None:
        """An operator applies a policy."""
        said = {"kind": PolicyKind.APPLIED, "document": text, "policy_sha256": load.sha256(text), "author": "user:ops"}
        self.write(Topic.POLICIES, Policy, tenant_id="", workflow_id="", **said)

    def _submit(self, each: Submission) -> None:
        self.tell("submits", each.workflow_id, str(each))
        wanted = document(each.shape, each.workflow_id, each.tenant_id)
        if each.flaw == "invalid":
            wanted["checks"] = {}
        elif each.flaw == "secret":
            self.facts.secrets = True
            wanted["objective"] = f"Use {CANARY}"
        self._send(each, wanted)
        if each.flaw == "twice":
            self.timeline.after(7.0, lambda: self._send(each, wanted))
        elif each.flaw == "other":
            self.timeline.after(7.0, lambda: self._send(each, wanted | {"objective": "Try something else"}))

    def _send(self, each: Submission, wanted: Document) -> None:
        said = {"document": json.dumps(wanted), "content_digest": ids.digest(wanted), "submitter": "user:priya"}
        key = {"tenant_id": each.tenant_id, "workflow_id": each.workflow_id}
        self.write(Topic.CONTRACTS, Contract, kind=ContractKind.SUBMITTED, **key, **said)

    def amend(self, workflow: state.Workflow, wanted: Document, *, base: int) -> None:
        """A client asks for another version; `base`: how many versions ago it looked."""
        said = {"document": json.dumps(wanted), "content_digest": ids.digest(wanted), "submitter": "user:priya"}
        key = {"tenant_id": workflow.tenant_id, "workflow_id": workflow.workflow_id}
        version = {"base_version": workflow.contract_version - base, "reason": "it should be so"}
        self.write(Topic.CONTRACTS, Contract, kind=ContractKind.AMENDED, **key, **said, **version)

    def decide(self, workflow_id: str, cls: type[Event], topic: Topic, **said: Any) -> None:  # noqa: ANN401 - its fields
        """Somebody writes about a workflow, by whatever tenant it was submitted."""
        tenant = next((each.tenant_id for each in self.plan.submissions if each.workflow_id == workflow_id), "default")
        self.write(topic, cls, tenant_id=tenant, workflow_id=workflow_id, **said)

    def see_again(self) -> None:
        """The artefact store is there."""
        self.facts.shelf.blind = False

    # writing

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

    # afterwards

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
