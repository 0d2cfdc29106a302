"""The pure core on a bench: decide and evolve without a log, every step held to the laws that need no log.

Whatever a history does to it, each step is decided twice, delivered twice, and folded anew at the end.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid5

from remit import ids
from remit.codec import decode, encode
from remit.events import inputs as events
from remit.events import service
from remit.events.base import Usage
from remit.events.transitions import NOTES, Transition, Writer
from remit.policy import load
from remit.policy.model import Policy
from supervisor.decide import decide, decided
from supervisor.evolve import evolve
from supervisor.inputs import Facts, Input, Received, Timer
from supervisor.leases import LeaseBook
from supervisor.load import Load
from supervisor.outbox import outbox
from supervisor.queued import QueuedTasks
from supervisor.routing import Alive, Registry, schedule
from supervisor.state import AwaitingReview, Running, State, Workflow, initial
from supervisor.timers import due, waits
from tests.supervisor import laws

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BASE = "0f" * 20
NAMES = UUID("3f0c0a1e-0000-4000-8000-000000000000")
POLICY = """
schema_version: policy-v1
environment: development
default_tenant: default
default_owner: user:priya
repositories: {svc: /srv/svc}
pools:
  coders: {capabilities: [code], permissions: {repository: ["read-write:*"]}}
  testers: {capabilities: [test], permissions: {repository: [execute]}}
  reviewers: {capabilities: [review], permissions: {repository: [execute]}}
task_types:
  code: {pool: coders}
  test: {pool: testers}
  review: {pool: reviewers}
prices:
  entries:
    default: {per_1k_tokens_in: "1.00", per_1k_tokens_out: "2.00", per_tool_call: "0.01", per_worker_second: "0.0001"}
limits:
  max: {deadline_seconds: 86400, max_tokens: 1000000, max_tool_calls: 1000, max_cost_gbp: "1000", max_attempts: 5,
    max_reworks: 5, max_tasks: 100, max_depth: 5, max_workers: 100, max_turns: 100}
  default: {deadline_seconds: 7200, max_tokens: 60000, max_tool_calls: 300, max_cost_gbp: "90", max_attempts: 2,
    max_reworks: 2, max_tasks: 20, max_depth: 1, max_workers: 10, max_turns: 50}
"""


def document(**changed: Any) -> dict[str, Any]:
    """A revision line: code, then tests and a lint side by side, then a review; tests send defects back to code."""
    check = {"kind": "test_run", "command": "suite", "holds_at": "final"}
    return {
        "schema_version": "workflow-v1",
        "workflow_id": "w1",
        "owner": "user:priya",
        "objective": "Mend it",
        "inputs": {"repo": f"repo://svc@commit:{BASE}"},
        "definition_of_done": ["committed", "tests pass", "lint is clean", "reviewed"],
        "commands": {
            "suite": {"argv": ["pytest", "{report}"], "report": "junit", "retest": ["pytest", "{report}", "{failing}"]},
            "lint": {"argv": ["lint"]},
        },
        "checks": {
            "committed": [{"id": "committed", "kind": "revision", "task": "code", "holds_at": "final"}],
            "tests pass": [{"id": "suite", "task": "test", **check}],
            "lint is clean": [{"id": "lint", "task": "lint", "kind": "command", "command": "lint", "holds_at": "own"}],
            "reviewed": [
                {"id": "review", "task": "review", "kind": "review", "output": "findings", "holds_at": "final"}
            ],
        },
        "tasks": {
            "code": {
                "task_type": "code",
                "inputs": {"repo": "input://repo"},
                "outputs": {"revision": "revision"},
                "permissions": {"repository": "read-write:feature", "paths": ["src/**"]},
            },
            "test": _after("test", ["code"], {"report": "value"}),
            "lint": _after("test", ["code"], {"report": "value"}),
            "review": _after("review", ["test", "lint"], {"findings": "document"}),
        },
    } | changed


def _after(task_type: str, before: list[str], outputs: dict[str, str]) -> dict[str, Any]:
    return {
        "task_type": task_type,
        "depends_on": before,
        "rework": "code",
        "inputs": {"revision": "task://code/revision"},
        "outputs": outputs,
        "permissions": {"repository": "execute"},
    }


@dataclass
class Lab:
    """One workflow on the bench."""

    text: str = POLICY
    now: datetime = START
    state: State = field(default_factory=lambda: initial("default", "w1"))
    history: list[Transition] = field(default_factory=list)
    offers: list[service.Dispatch] = field(default_factory=list)
    told: list[service.Dispatch] = field(default_factory=list)
    leases: LeaseBook = field(default_factory=LeaseBook)
    generation: int = 1
    offset: int = 0
    bent: bool = False  # an overrun was recorded: limits may be passed by what was reported late

    def __post_init__(self) -> None:
        self.policy: Policy = load.parse(self.text)
        self.sha = load.sha256(self.text)
        self.workers: dict[str, service.Worker] = {}

    @property
    def workflow(self) -> Workflow:
        assert isinstance(self.state, Workflow)
        return self.state

    @property
    def kinds(self) -> list[str]:
        return [each.kind.value for each in self.history]

    def facts(self) -> Facts:
        return Facts(self.now, Writer(instance="lab", generation=self.generation), self.policy, self.sha, self.usage())

    def usage(self) -> Mapping[UUID, Usage]:
        return self.leases.usage()

    # what comes from the log

    def submit(self, wanted: dict[str, Any] | None = None) -> tuple[Transition, ...]:
        body = wanted or document()
        said = {"document": json.dumps(body), "content_digest": ids.digest(body), "submitter": "user:priya"}
        return self.receive(events.Contract, "contracts", kind=events.ContractKind.SUBMITTED, **said)

    def receive(self, cls: type[Any], topic: str, **said: Any) -> tuple[Transition, ...]:
        self.offset += 1
        event = cls(
            event_id=uuid5(NAMES, str(self.offset)),
            tenant_id="default",
            workflow_id="w1",
            occurred_at=self.now,
            producer="test",
            **said,
        )
        return self.give(Received(event, topic, 0, self.offset, self.now))

    def give(self, item: Input) -> tuple[Transition, ...]:
        """Decide one input, under the laws."""
        before = self.state
        found = decide(before, item, self.facts())
        assert found == decide(before, item, self.facts()), "law 3: the same input is decided the same way"
        handed_on = [each.state for each in decided(before, item, self.facts())]
        self._fold(found, handed_on)
        if isinstance(item, Received):
            self._again(item)
        return found

    def _again(self, item: Received) -> None:
        """Law 1: the same message again changes no version, dispatches nothing, leaves at most one note."""
        again = decide(self.state, item, self.facts())
        assert len(again) <= 1
        assert all(each.kind in NOTES for each in again)
        after = self.state
        for each in again:
            after = evolve(after, each)
            sent = outbox(after, each, self.policy)
            assert all(one.kind is service.DispatchKind.LEASE_LOST for one in sent), "a late claim is answered, no more"
        assert after.version == self.state.version

    def _fold(self, found: Iterable[Transition], handed_on: Iterable[State]) -> None:
        for transition, state in zip(found, handed_on, strict=True):
            before = self.state
            self.state = evolve(before, transition)
            assert self.state == state, "the state that decide hands on is the one that evolve makes"
            self.history.append(transition)
            self.bent |= laws.bends(transition)
            laws.step(before, transition, self.state)
            sent = outbox(self.state, transition, self.policy)
            self.offers += [each for each in sent if each.kind is service.DispatchKind.OFFER]
            self.told += [each for each in sent if each.kind is not service.DispatchKind.OFFER]
        if isinstance(self.state, Workflow):
            self._keep_leases(self.state)
            laws.standing(self.state, self.history, bent=self.bent)
            laws.no_lost_work(self.state, list(self.waits()))

    def _keep_leases(self, workflow: Workflow) -> None:
        running = {task.phase.attempt_id for task in workflow.tasks.values() if isinstance(task.phase, Running)}
        self.leases.forget({each for each in self.leases._held if each not in running})
        for attempt_id in running:
            if self.leases.get(attempt_id) is None:
                self.leases.start(attempt_id, self.now, Usage())

    # workers

    def register(self, worker_id: str, pool: str, **narrowed: Any) -> None:
        self.workers[worker_id] = service.Worker(
            event_id=uuid5(NAMES, worker_id),
            tenant_id="",
            workflow_id="",
            occurred_at=self.now,
            producer="test",
            kind=service.WorkerKind.REGISTERED,
            worker_id=worker_id,
            incarnation=uuid5(NAMES, f"{worker_id}/{len(self.history)}"),
            pool=pool,
            capabilities=tuple(self.policy.pools[pool].capabilities),
            **narrowed,
        )

    def assign(self) -> int:
        """Let the scheduler hand out what it will; how many offers followed."""
        before = len(self.offers)
        while isinstance(self.state, Workflow):
            load_now = Load()
            load_now.change(None, self.state)
            alive = {
                each: Alive(worker.slots, self.now - timedelta(seconds=1)) for each, worker in self.workers.items()
            }
            registry = Registry(self.workers, alive, 7)
            chosen = schedule(QueuedTasks([self.state]), {self.sha: self.policy}, registry, load_now)
            if not [t for _, assignment in chosen for t in self.give(assignment)]:
                break
        return len(self.offers) - before

    def lease(self, offer: service.Dispatch, kind: str, **said: Any) -> tuple[Transition, ...]:
        fields = self._of(offer) | {"kind": events.LeaseKind(kind)} | said
        return self.receive(events.Lease, "leases", **fields)

    def renew(self, offer: service.Dispatch, usage: Usage | None = None, progress: int | None = None) -> None:
        if self.leases.get(offer.attempt_id) is not None:
            fields = self._of(offer) | {"kind": events.LeaseKind.RENEWED, "usage": usage, "progress": progress}
            common: dict[str, Any] = {"tenant_id": "default", "workflow_id": "w1", "producer": "test"}
            self.leases.renew(events.Lease(event_id=offer.event_id, occurred_at=self.now, **common, **fields), self.now)

    def result(self, offer: service.Dispatch, body: events.ResultBody | None, **said: Any) -> tuple[Transition, ...]:
        assert offer.offer is not None
        fields = self._of(offer) | {
            "kind": events.ResultKind.SUBMITTED if body else events.ResultKind.MALFORMED,
            "submission": 1,
            "state_version": offer.state_version,
            "contract_sha256": offer.offer.contract_sha256,
            "result": body,
        }
        return self.receive(events.Result, "results", **(fields | said))

    def offer(self, task_id: str) -> service.Dispatch:
        """The newest offer of the task."""
        return next(each for each in reversed(self.offers) if each.task_id == task_id)

    def start(self, task_id: str) -> service.Dispatch:
        """Have the task offered and claimed."""
        self.assign()
        offer = self.offer(task_id)
        self.lease(offer, "claim")
        assert self.status(task_id) == "running"
        return offer

    def finish(self, offer: service.Dispatch, body: events.ResultBody | None) -> tuple[Transition, ...]:
        """Send a result and have it inspected; what the last decision on it was."""
        found = self.result(offer, body)
        while any(phase.attempt_id == offer.attempt_id for _, phase in self.reviews()):
            found = self.inspect(task_id=offer.task_id)
        return found

    def status(self, task_id: str) -> str:
        return self.workflow.tasks[task_id].status.value

    def statuses(self) -> dict[str, str]:
        return {task_id: task.status.value for task_id, task in self.workflow.tasks.items()}

    def _of(self, offer: service.Dispatch) -> dict[str, Any]:
        dispatched = next(each for each in self.history if each.attempt_id == offer.attempt_id and each.dispatch)
        assert dispatched.dispatch is not None
        return {
            "worker_id": offer.worker_id,
            "incarnation": dispatched.dispatch.incarnation,
            "task_id": offer.task_id,
            "attempt_id": offer.attempt_id,
            "fencing_token": offer.fencing_token,
        }

    # the inspector

    def reviews(self) -> list[tuple[str, AwaitingReview]]:
        tasks = self.workflow.tasks.values() if isinstance(self.state, Workflow) else ()
        return [(task.task_id, task.phase) for task in tasks if isinstance(task.phase, AwaitingReview)]

    def inspect(self, verdict: str = "match", task_id: str | None = None, only: str = "") -> tuple[Transition, ...]:
        """Answer the first open request: `verdict` to the questions of kind `only` (all, by default), else match."""
        task, phase = next(each for each in self.reviews() if task_id in {None, each[0]})
        answers = tuple(
            events.Answer(
                question_id=each.id,
                kind=each.kind,
                verdict=events.Verdict(verdict if only in {"", each.kind.value} else "match"),
                expected=each.expected,
            )
            for each in phase.questions
        )
        said = {"request_id": phase.request_id, "task_id": task, "attempt_id": phase.attempt_id, "answers": answers}
        return self.receive(events.Inspection, "inspections", kind=events.InspectionKind.INSPECTED, **said)

    # time, people, crashes

    def waits(self) -> Iterable[Timer]:
        incarnations = {each: worker.incarnation for each, worker in self.workers.items()}
        state = self.state
        return waits(state, self.leases, incarnations, self.policy.timeouts) if isinstance(state, Workflow) else ()

    def forward(self, seconds: float) -> list[Timer]:
        """Let time pass, and fire what is due until nothing is; no timer may fire and do nothing."""
        self.now += timedelta(seconds=seconds)
        fired = []
        while over := due(iter(self.waits()), self.now):
            assert self.give(over[0]), f"{over[0].name} fired and did nothing: it would fire for ever"
            fired.append(over[0])
        return fired

    def cancel(self, task_id: str | None = None, **said: Any) -> tuple[Transition, ...]:
        fields = {"kind": events.DecisionKind.CANCEL, "person": "user:priya", "task_id": task_id}
        return self.receive(events.Decision, "decisions", **(fields | said))

    def restart(self, *, lease_log: bool = True) -> None:
        """Another supervisor: the state is what its transitions say; leases start afresh with what is still heard."""
        self.check_replay()
        self.generation += 1
        heard = self.usage() if lease_log else {}
        self.leases = LeaseBook()
        for task in self.workflow.tasks.values() if isinstance(self.state, Workflow) else ():
            if isinstance(task.phase, Running):
                self.leases.start(task.phase.attempt_id, self.now, heard.get(task.phase.attempt_id))

    def check_replay(self) -> None:
        """Laws 2 and 4: what was written, read back and folded from the start, is the state as it stands."""
        state: State = initial("default", "w1")
        for transition in self.history:
            read = decode("transitions", encode("transitions", transition))
            assert read == transition
            state = evolve(state, transition)
        assert state == self.state

    def spent(self) -> tuple[Decimal, int, int]:
        spent = [task.spent for task in self.workflow.tasks.values()]
        costs = sum((each.cost_gbp for each in spent), Decimal(0))
        return costs, sum(each.tokens for each in spent), sum(each.tool_calls for each in spent)
