"""A small world for the supervisor: the log in memory, a clock that is set by hand, workers that are plain calls."""

import json
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid4, uuid5

from remit import ids
from remit.artefacts import ArtefactStore
from remit.codec import decode
from remit.events import inputs, service
from remit.events.base import Event, Evidence, EvidenceType, ObservedBy, Usage
from remit.events.envelope import message, new_event
from remit.events.inputs import ErrorClass, ResultBody, ResultStatus
from remit.events.transitions import Transition
from remit.log.catch_up import replay
from remit.log.memory import MemoryLog
from remit.log.protocols import Message, Partition, Recorded
from remit.policy import load
from remit.subjects import subject_of
from remit.topics import Topic, dispatches, partition_of
from supervisor.fold import fold
from supervisor.service import Supervisor
from supervisor.shard import Shards
from supervisor.state import State, Workflow, initial

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
POLICY = """
schema_version: policy-v1
environment: development
default_tenant: default
default_owner: user:priya
repositories: {}
pools:
  shell: {capabilities: [shell, other], tools: [run_command], permissions: {repository: [none]}}
  review: {capabilities: [review]}
task_types:
  shell: {pool: shell, outputs: {report: value}}
  review: {pool: review, outputs: {report: value}}
commands:
  suite: {argv: [python, -m, pytest, "{report}"], report: junit, retest: [python, -m, pytest, "{report}", "{failing}"]}
checks:
  it works: [{id: works, kind: command, command: suite, holds_at: none}]
prices:
  entries: {default: {per_1k_tokens_in: "1.00", per_1k_tokens_out: "2.00", per_tool_call: "0.01"}}
limits:
  max: {deadline_seconds: 86400, max_tokens: 1000000, max_tool_calls: 1000, max_cost_gbp: "100", max_attempts: 5,
    max_reworks: 5, max_tasks: 100, max_depth: 5, max_workers: 100, max_turns: 100}
  default: {deadline_seconds: 3600, max_tokens: 12000, max_tool_calls: 100, max_cost_gbp: "30", max_attempts: 2,
    max_reworks: 2, max_tasks: 20, max_depth: 1, max_workers: 10, max_turns: 50}
"""


@dataclass
class Clock:
    """A clock that moves when told to."""

    at: datetime = START

    def __call__(self) -> datetime:
        return self.at

    def forward(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass
class World:
    """One log, one supervisor, and what a client or a worker would do."""

    folder: Path
    policy: str = POLICY
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.log = MemoryLog(partitions=2, clock=self.clock)
        self.store = ArtefactStore(str(self.folder / "artefacts"))
        self.writer = self.log.writer()
        self.incarnations: dict[str, UUID] = {}
        self.written: Counter[str] = Counter()  # inputs, by workflow
        self.others: list[Supervisor] = []
        self.apply(self.policy)
        self.supervisor = self._supervisor("s1")

    def _supervisor(self, name: str) -> Supervisor:
        made = Supervisor(self.log, name, self.store, self.clock)
        made._inspector._pool = ThreadPoolExecutor(max_workers=1)  # in order, so that `settle` can wait for the last
        return made

    def apply(self, text: str) -> str:
        sha = load.sha256(text)
        self._write(Topic.POLICIES, service.Policy, kind="applied", document=text, policy_sha256=sha, author="user:ops")
        return sha

    def restart(self) -> None:
        """Forget the supervisor as a kill does, and start another under its name."""
        self.supervisor._inspector._pool.shutdown(cancel_futures=True)
        self.supervisor = self._supervisor("s1")

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.forward(seconds)

    def another(self, name: str = "s2") -> Supervisor:
        """A second supervisor of the same group."""
        made = self._supervisor(name)
        self.others.append(made)
        return made

    def close(self) -> None:
        """Leave no thread behind."""
        for each in (self.supervisor, *self.others):
            each._inspector._pool.shutdown(cancel_futures=True)

    @property
    def shards(self) -> Shards:
        """What the supervisor holds; it must be serving."""
        assert self.supervisor.shards is not None
        return self.supervisor.shards

    def raw(self, topic: Topic, value: bytes | None, key: bytes = b"default/w1", partition: int | None = None) -> None:
        """Lay down bytes that no writer of ours would write."""
        number = partition_of(key, self.log.partitions) if partition is None else partition
        laid = Message(topic, key, value)  # type: ignore[arg-type]
        with self.log._store.changed:
            self.log._store._lay(laid, Partition(topic, number), None)

    def run(self, offer: service.Dispatch) -> None:
        """Claim an offer, send a good result, and let it be judged."""
        self.claim(offer)
        self.settle()
        self.result(offer, completed(offer, self))
        self.settle()
        self.alive(offer.worker_id, offer.pool)
        self.settle()

    def counts(self) -> Counter[str]:
        """What the supervisor counted since its last takeover."""
        return self.shards.counts

    def dead_letters(self) -> list[service.DeadLetter]:
        every = [decode(Topic.DEAD_LETTERS, each.value) for each in self.read(Topic.DEAD_LETTERS)]
        return [each for each in every if isinstance(each, service.DeadLetter)]

    def settle(self, turns: int = 12) -> None:
        """Let the supervisor turn until nothing more is written."""
        for _ in range(50):
            before = self._size()
            for _ in range(turns):
                self.supervisor.turn(0.0)
            self._inspected()
            if self._size() == before:
                return
        raise AssertionError("the supervisor never comes to rest")

    def _inspected(self) -> None:
        self.supervisor._inspector._pool.submit(lambda: None).result(10)  # one thread: what was asked before is done

    def _size(self) -> int:
        reader = self.log.reader()
        every = [Partition(topic, n) for topic in Topic for n in range(self.log.partitions if topic in SHARDED else 1)]
        return sum(reader.ends(every).values())

    def worker(self, worker_id: str = "w1", pool: str = "shell", *, slots: int = 1, **narrowed: Any) -> None:
        self.incarnations[worker_id] = uuid4()
        common = {"worker_id": worker_id, "incarnation": self.incarnations[worker_id], "pool": pool}
        self._write(Topic.WORKERS, service.Worker, kind="registered", slots=slots, **common, **narrowed)
        self.alive(worker_id, pool, slots=slots)

    def alive(self, worker_id: str = "w1", pool: str = "shell", *, slots: int = 1) -> None:
        self._write(
            Topic.LIVENESS,
            service.Liveness,
            kind="alive",
            worker_id=worker_id,
            incarnation=self.incarnations[worker_id],
            pool=pool,
            free_slots=slots,
        )

    def submit(self, document: Mapping[str, Any], workflow_id: str = "w1", tenant_id: str = "default") -> None:
        self.write_input(
            Topic.CONTRACTS,
            inputs.Contract,
            workflow_id,
            tenant_id,
            kind="submitted",
            document=json.dumps(document),
            content_digest=ids.digest(document),
            submitter="user:priya",
        )

    def claim(self, offer: service.Dispatch, **changed: Any) -> None:
        self._lease(offer, "claim", **({"usage": Usage()} | changed))

    def decline(self, offer: service.Dispatch, reason: str = "busy") -> None:
        self._lease(offer, "decline", reason=reason)

    def renew(self, offer: service.Dispatch, **said: Any) -> None:
        self._lease(offer, "renewed", **said)

    def _lease(self, offer: service.Dispatch, kind: str, **said: Any) -> None:
        fields: dict[str, Any] = {
            "kind": kind,
            "worker_id": offer.worker_id,
            "incarnation": self.incarnations[offer.worker_id],
            "task_id": offer.task_id,
            "attempt_id": offer.attempt_id,
            "fencing_token": offer.fencing_token,
        }
        self.write_input(Topic.LEASES, inputs.Lease, offer.workflow_id, offer.tenant_id, **(fields | said))

    def result(self, offer: service.Dispatch, body: ResultBody | None, submission: int = 1, **changed: Any) -> None:
        assert offer.offer is not None
        fields: dict[str, Any] = {
            "kind": "submitted" if body is not None else "malformed",
            "worker_id": offer.worker_id,
            "incarnation": self.incarnations[offer.worker_id],
            "task_id": offer.task_id,
            "attempt_id": offer.attempt_id,
            "fencing_token": offer.fencing_token,
            "submission": submission,
            "state_version": offer.state_version,
            "contract_sha256": offer.offer.contract_sha256,
            "result": body,
        }
        self.write_input(Topic.RESULTS, inputs.Result, offer.workflow_id, offer.tenant_id, **(fields | changed))

    def write_input(self, topic: Topic, cls: type, workflow_id: str, tenant_id: str = "default", **said: Any) -> None:
        event_id = self._next_id(workflow_id)
        self._write(topic, cls, workflow_id=workflow_id, tenant_id=tenant_id, event_id=event_id, **said)

    def _next_id(self, workflow_id: str) -> UUID:
        """The nth input of a workflow has the same id in every world: waits are drawn from the ids of their causes."""
        self.written[workflow_id] += 1
        return uuid5(NAMESPACE_OID, f"{workflow_id}/{self.written[workflow_id]}")

    def cancel(self, workflow_id: str = "w1", task_id: str | None = None) -> None:
        said: dict[str, Any] = {"kind": "cancel", "person": "user:priya", "task_id": task_id, "reason": "not needed"}
        self.write_input(Topic.DECISIONS, inputs.Decision, workflow_id, **said)

    def _write(self, topic: Topic, cls: type, **said: Any) -> None:
        said = {"tenant_id": "", "workflow_id": "", "producer": "test"} | said
        for name in ("kind",):
            said[name] = cls.__annotations__["kind"](said[name])
        event: Event = new_event(cls, clock_now=self.clock(), **said)
        self.writer.append([message(event, topic)])

    def read(self, topic: str, partitions: int | None = None) -> list[Recorded]:
        reader = self.log.reader()
        every = [Partition(topic, n) for n in range(partitions or self.log.partitions)]
        ends = reader.ends(every)
        return [each for batch in replay(reader, dict.fromkeys(every, 0), ends, timeout=5) for each in batch]

    def history(self, workflow_id: str = "w1", tenant_id: str = "default") -> list[Transition]:
        every = [decode(Topic.TRANSITIONS, each.value) for each in self.read(Topic.TRANSITIONS)]
        return [
            t for t in every if isinstance(t, Transition) and (t.tenant_id, t.workflow_id) == (tenant_id, workflow_id)
        ]

    def kinds(self, workflow_id: str = "w1") -> list[str]:
        return [each.kind.value for each in self.history(workflow_id)]

    def state(self, workflow_id: str = "w1") -> State:
        state: State = initial("default", workflow_id)
        for transition in self.history(workflow_id):
            folded = fold(state, transition)
            assert folded.verdict.value == "folded"
            state = folded.state
        return state

    def workflow(self, workflow_id: str = "w1") -> Workflow:
        state = self.state(workflow_id)
        assert isinstance(state, Workflow)
        return state

    def sent(self, pool: str = "shell", kind: str = "offer") -> list[service.Dispatch]:
        every = [decode(dispatches(pool), each.value) for each in self.read(dispatches(pool))]
        found = [each for each in every if isinstance(each, service.Dispatch) and each.kind.value == kind]
        return sorted(found, key=lambda each: (each.occurred_at, each.workflow_id, each.fencing_token))

    def offer(self, pool: str = "shell") -> service.Dispatch:
        return self.sent(pool)[-1]

    def begun(self) -> service.Dispatch:
        """The offer of the first of two tasks, whose worker has claimed it."""
        self.worker()
        self.submit(two_tasks())
        self.settle()
        offer = self.offer()
        self.claim(offer)
        self.settle()
        return offer


SHARDED = frozenset(Topic) - {Topic.POLICIES, Topic.WORKERS, Topic.LIVENESS}


def two_tasks(**changed: Any) -> dict[str, Any]:
    """A workflow file: b after a, one check on b, no repository."""
    document: dict[str, Any] = {
        "schema_version": "workflow-v1",
        "workflow_id": "w1",
        "owner": "user:priya",
        "objective": "Try it",
        "definition_of_done": ["it works"],
        "checks": {
            "it works": [{"id": "works", "kind": "command", "task": "b", "command": "suite", "holds_at": "none"}]
        },
        "tasks": {
            "a": {"task_type": "shell", "permissions": {"repository": "none"}},
            "b": {
                "task_type": "shell",
                "permissions": {"repository": "none"},
                "depends_on": ["a"],
                "inputs": {"before": "task://a/report"},
            },
        },
    }
    return document | changed


def completed(offer: service.Dispatch, world: World, **changed: Any) -> ResultBody:
    """A result that meets its contract: the declared value, and evidence for each of its checks."""
    assert offer.offer is not None
    contract = json.loads(offer.offer.contract)
    fields: dict[str, Any] = {
        "status": ResultStatus.COMPLETED,
        "error_class": ErrorClass.COMPLETED,
        "output": json.dumps(dict.fromkeys(contract["task"]["outputs"], "fine")),
        "evidence": tuple(
            evidence(offer, world, check) for requirement in contract["requirements"] for check in requirement["checks"]
        ),
        "usage": Usage(tokens_in=1000, tokens_out=500, tool_calls=2, worker_seconds=Decimal("1.5")),
        "input_versions": offer.offer.inputs,
        "environment": {"python": "3.11.7"},
        "started_at": world.clock(),
        "ended_at": world.clock(),
    }
    return ResultBody(**(fields | changed))


def evidence(offer: service.Dispatch, world: World, check: Mapping[str, Any], **changed: Any) -> Evidence:
    """Runner-observed evidence of a command that went well."""
    assert offer.offer is not None
    stored = world.store.put(b"1 passed")
    fields: dict[str, Any] = {
        "kind": EvidenceType(check["kind"]),
        "observed_by": ObservedBy.RUNNER,
        "worker_id": offer.worker_id,
        "task_id": offer.task_id,
        "attempt_id": offer.attempt_id,
        "checks": (check["id"],),
        "command": check["command"],
        "argv": ("python", "-m", "pytest"),
        "subject": subject_of(offer.offer.inputs),
        "exit_status": 0,
        "output": stored,
        "report": stored,
        "passed_cases": ("tests.test_it::test_works",),
        "environment_digest": ids.sha256(b"environment"),
        "started_at": world.clock(),
        "ended_at": world.clock(),
    }
    return Evidence(**(fields | changed))
