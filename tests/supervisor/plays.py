"""Whole histories of several workflows on one log, played in a chosen order across them, with records that come twice.

What a worker, a client or a person does is decided by workflow, task and how many offers the task had: never by the
order in which workflows take their turns. So two plays of the same plan must come to the same verdicts.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from remit.codec import decode
from remit.events.inputs import Decision, Malformed
from remit.events.service import Dispatch, DispatchKind
from remit.events.transitions import NOTES, Transition
from remit.log.protocols import Message, Partition, Recorded
from remit.topics import INPUTS, Topic, dispatches
from supervisor.state import Task, Workflow
from tests.supervisor.behaviours import USED, body
from tests.supervisor.world import World

POOL = "shell"
LEASE_OVER_S = 31
MOST_WAITS = 100
RECENT = 8
AT_REST = frozenset({"waiting", "escalated", "awaiting_decision", "completed", "stopped", "quarantined"})
CHAIN = {"a": [], "b": ["a"]}
LINE = {"a": [], "b": ["a"], "c": ["b"]}
FORK: dict[str, list[str]] = {"a": [], "b": [], "c": ["a", "b"]}
SHAPES: dict[str, dict[str, list[str]]] = {"chain": CHAIN, "line": LINE, "fork": FORK}
"""Tasks, and what each depends on; the last one has the check, and sends defects back to the first."""


@dataclass(frozen=True)
class Script:
    """One workflow: its shape, and what happens at the nth offer of each task (`good` beyond the end)."""

    shape: str
    behaviours: Mapping[str, tuple[str, ...]]

    def behaviour(self, task_id: str, nth: int) -> str:
        """What happens at that offer; a defect is only found by whoever checks."""
        planned = self.behaviours.get(task_id, ())
        found = planned[nth] if nth < len(planned) else "good"
        return found if found != "defect" or task_id == self.last else "failed"

    @property
    def last(self) -> str:
        """The task with the check."""
        return list(SHAPES[self.shape])[-1]

    def document(self, workflow_id: str, tenant_id: str) -> dict[str, Any]:
        """The workflow file."""
        check = {"id": "works", "kind": "command", "task": self.last, "command": "suite", "holds_at": "none"}
        return {
            "schema_version": "workflow-v1",
            "workflow_id": workflow_id,
            "tenant_id": tenant_id,
            "owner": "user:priya",
            "objective": "Try it",
            "definition_of_done": ["it works"],
            "limits": {"max_attempts": 3, "max_tokens": 100_000, "max_cost_gbp": "90"},
            "checks": {"it works": [check]},
            "tasks": {task_id: self._task(task_id, before) for task_id, before in SHAPES[self.shape].items()},
        }

    def _task(self, task_id: str, before: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = {"task_type": "shell", "permissions": {"repository": "none"}}
        if before:
            found |= {"depends_on": before, "inputs": {f"of_{each}": f"task://{each}/report" for each in before}}
        return found | ({"rework": "a"} if task_id == self.last else {})


@dataclass(frozen=True)
class Order:
    """How a play goes: the seed of who takes turns with whom, and the share of turns at which records come again."""

    seed: int
    again: float


Action = Callable[[], None]


@dataclass
class Play:
    """One play of a plan: all scripts on one log, under one supervisor."""

    world: World
    scripts: Mapping[str, Script]
    order: Order
    slots: int = 8
    _next: dict[str, deque[Action]] = field(default_factory=lambda: defaultdict(deque))
    _later: list[tuple[str, Action]] = field(default_factory=list)  # once time has passed
    _offers: Counter[tuple[str, str]] = field(default_factory=Counter)
    _read: dict[Partition, int] = field(default_factory=dict)
    _inputs: list[Recorded] = field(default_factory=list)

    def go(self) -> None:
        """Until all workflows are at rest."""
        self._dice = Random(self.order.seed)  # noqa: S311 - an order, not a secret
        for number in range(3):
            self.world.worker(f"w{number}", POOL, slots=self.slots)
        for workflow_id, script in self.scripts.items():
            submit = partial(self.world.submit, script.document(workflow_id, self.tenant(workflow_id)))
            self._next[workflow_id].append(partial(submit, workflow_id, self.tenant(workflow_id)))
        self.world.settle()  # it serves, and has read of the workers
        for _ in range(MOST_WAITS):
            self._turns()
            if not self._moves():
                return
            self._wait()
        raise AssertionError("the play never comes to rest")

    def tenant(self, workflow_id: str) -> str:
        """Every other workflow is another tenant's."""
        return ("default", "other")[list(self.scripts).index(workflow_id) % 2]

    def _moves(self) -> bool:
        """Whether time will do anything yet."""
        found = [self.world.shards.state((self.tenant(each), each)) for each in self.scripts]
        tasks = [task for each in found if isinstance(each, Workflow) for task in each.tasks.values()]
        holds = any(attempt.held_until is not None for task in tasks for attempt in task.attempts)
        return bool(self._later) or holds or not AT_REST.issuperset(task.status for task in tasks)

    def _turns(self) -> None:
        """Let some workflows do their next thing at once, and the supervisor answer, until none has anything to do."""
        while busy := sorted(workflow_id for workflow_id, actions in self._next.items() if actions):
            for workflow_id in self._dice.sample(busy, self._dice.randint(1, len(busy))):
                self._next[workflow_id].popleft()()
                self._redeliver()
            self._answer()

    def _wait(self) -> None:
        """Let every lease end that nobody renews, and what waited for that come after it."""
        late, self._later = self._later, []  # offers that are met only now wait for the next time
        self.world.forward(LEASE_OVER_S)
        for number in range(3):
            self.world.alive(f"w{number}", POOL, slots=self.slots)
        self._answer()
        for workflow_id, action in late:
            self._next[workflow_id].append(action)

    def _answer(self) -> None:
        self.world.settle(2)
        for offer in self._fresh_offers():
            nth = self._offers[offer.workflow_id, offer.task_id]
            self._offers[offer.workflow_id, offer.task_id] += 1
            self._meet(offer, self.scripts[offer.workflow_id].behaviour(offer.task_id, nth))

    def _fresh_offers(self) -> list[Dispatch]:
        """In the order in which their workflows made them, whichever partitions they lie in."""
        found = [decode(each.topic, each.value) for each in self._unread([dispatches(POOL)])]
        offers = [each for each in found if isinstance(each, Dispatch) and each.kind is DispatchKind.OFFER]
        return sorted(offers, key=lambda each: (each.workflow_id, each.state_version, each.task_id))

    def _unread(self, topics: list[str]) -> list[Recorded]:
        reader = self.world.log.reader()
        places = [Partition(topic, number) for topic in topics for number in range(self.world.log.partitions)]
        reader.assign({place: self._read.get(place, 0) for place in places})
        found: list[Recorded] = []
        while batch := reader.poll(500, 0.0):
            found += batch
        self._read |= {each.source: each.offset + 1 for each in found}
        return found

    def _meet(self, offer: Dispatch, behaviour: str) -> None:
        """Queue what follows the offer, in the order in which it will be written."""
        now = self._next[offer.workflow_id]
        claim = partial(self.world.claim, offer)
        match behaviour:
            case "ignore":
                return
            case "decline":
                now.append(partial(self.world.decline, offer))
            case "late":  # silent until its lease is over
                now.append(claim)
                self._later.append((offer.workflow_id, partial(self._send, offer, "good")))
            case "cut off":  # never heard of again
                now.append(claim)
            case "slow":
                now += (claim, partial(self.world.renew, offer, usage=USED, progress=1))
                now.append(partial(self._send, offer, "good"))
            case "cancel" | "cancel task":
                now += (claim, partial(self._cancel, offer, behaviour), partial(self._send, offer, "good"))
            case _:
                now.append(partial(self._do, claim, partial(self._send, offer, behaviour)))  # in one batch

    @staticmethod
    def _do(*actions: Action) -> None:
        for action in actions:
            action()

    def _cancel(self, offer: Dispatch, what: str) -> None:
        said = {"kind": "cancel", "person": "user:priya", "reason": "not needed"}
        said |= {"task_id": offer.task_id} if what == "cancel task" else {}
        self.world.write_input(Topic.DECISIONS, Decision, offer.workflow_id, offer.tenant_id, **said)

    def _send(self, offer: Dispatch, behaviour: str) -> None:
        wrong = {"malformed": Malformed(text="?", faults=("a fault",), usage=USED), "untold": None}
        if behaviour in wrong:
            self.world.result(offer, None, malformed=wrong[behaviour])
        else:
            self.world.result(offer, body(offer, self.world, behaviour))

    def _redeliver(self) -> None:
        """Write some records of some workflows again, the very same bytes; new ones as often as old ones."""
        self._inputs += self._unread(sorted(INPUTS))
        if self._inputs and self._dice.random() < self.order.again:
            for among in (self._inputs, self._inputs[-RECENT:]):
                each = self._dice.choice(among)
                again = Message(each.topic, each.key or b"", each.value or b"", each.partition, each.headers)
                self.world.writer.append([again])


def verdicts(play: Play) -> dict[str, Any]:
    """What became of each workflow: no ids, no times, no workers."""
    history = play.world.read(Topic.TRANSITIONS)
    every = [each for record in history if isinstance(each := decode(Topic.TRANSITIONS, record.value), Transition)]
    return {workflow_id: _verdict(play, workflow_id, every) for workflow_id in play.scripts}


def _verdict(play: Play, workflow_id: str, every: list[Transition]) -> dict[str, Any]:
    state = play.world.shards.state((play.tenant(workflow_id), workflow_id))
    assert isinstance(state, Workflow)
    mine = [each for each in every if each.workflow_id == workflow_id and each.kind not in NOTES]
    gates = [each.gate for each in mine if each.gate]
    return {
        "workflow": (state.status, state.stop_reason, state.version),
        "gate": [(each.requirement_id, each.held) for gate in gates for each in gate.requirements],
        "tasks": {task_id: _task(task) for task_id, task in state.tasks.items()},
        "story": [_told(each) for each in mine],
    }


def _task(task: Task) -> dict[str, Any]:
    counts = (task.round, task.attempts_started, task.reworks)
    return {
        "status": task.status,
        "round, attempts, reworks": counts,
        "attempts": [(each.round, each.number, each.outcome, each.booked_gbp) for each in task.attempts],
        "evidence": [(e.kind, e.form, e.checks, e.exit_status, e.passed_cases, e.failed_cases) for e in task.evidence],
        "outputs": [(each.name, each.kind, each.value) for each in task.outputs],
        "spent": task.spent,
    }


def _told(event: Transition) -> tuple[Any, ...]:
    ending = (event.ending.outcome, event.ending.recovery, event.ending.recovery_reason) if event.ending else None
    return (event.version, event.kind.value, event.task_id, event.round, event.attempt, event.reason, ending)


def played(folder: Path, scripts: Mapping[str, Script], order: Order, slots: int) -> dict[str, Any]:
    """The verdicts of one play."""
    world = World(folder)
    try:
        play = Play(world, scripts, order, slots)
        play.go()
        return verdicts(play)
    finally:
        world.close()
