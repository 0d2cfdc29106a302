"""A supervisor and its workers, all of them real, on one log in memory and by the real clock."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from remit import ids
from remit.artefacts import ArtefactStore
from remit.codec import decode
from remit.events.envelope import message, new_event
from remit.events.inputs import Contract, ContractKind, Lease, LeaseKind
from remit.events.service import Dispatch, DispatchKind, Policy, PolicyKind
from remit.events.transitions import Transition
from remit.log.memory import MemoryLog
from remit.log.protocols import Partition
from remit.policy import load
from remit.topics import Topic, dispatches
from supervisor.service import Supervisor
from tests.workers.rig import PATIENCE_S, TENANT
from workers.config import WorkerConfig
from workers.service import Service

POOL, WORKFLOW, TASK = "shell", "w1", "only"
POLICY = """
schema_version: policy-v1
environment: development
default_tenant: default
default_owner: user:priya
repositories: {}
pools: {shell: {capabilities: [shell], tools: [run_command]}}
task_types: {shell: {pool: shell, outputs: {report: value}}}
prices: {entries: {default: {per_1k_tokens_in: "1.00", per_1k_tokens_out: "2.00", per_tool_call: "0.01"}}}
limits:
  max: {deadline_seconds: 86400, max_tokens: 1000000, max_tool_calls: 1000, max_cost_gbp: "100", max_attempts: 5,
    max_reworks: 5, max_tasks: 100, max_depth: 5, max_workers: 100, max_turns: 100}
  default: {deadline_seconds: 3600, max_tokens: 12000, max_tool_calls: 100, max_cost_gbp: "30", max_attempts: 2,
    max_reworks: 2, max_tasks: 20, max_depth: 1, max_workers: 10, max_turns: 50}
timeouts: {lease_seconds: 3, renewal_seconds: 1, backoff_min_seconds: 1, backoff_max_seconds: 2}
"""
HEAD = "import remit\n@remit.worker('shell', tools=['run_command'])\ndef work(attempt):\n"


def now() -> datetime:
    return datetime.now(UTC)


def python(folder: Path, body: str) -> list[str]:
    """The command line of a handler in Python with this body."""
    (folder / "mine.py").write_text(HEAD + body, encoding="utf-8")
    return [sys.executable, "-m", "remit.sdk", "mine.py:work", str(folder)]


def one_task(**limits: Any) -> dict[str, Any]:
    """A workflow of one task, whose only check is its own document."""
    return {
        "schema_version": "workflow-v1",
        "workflow_id": WORKFLOW,
        "owner": "user:priya",
        "objective": "Try it",
        "definition_of_done": ["it is reported"],
        "checks": {"it is reported": [{"id": "told", "kind": "document", "task": TASK, "output": "report"}]},
        "tasks": {TASK: {"task_type": "shell", "outputs": {"report": "document"}, "limits": limits}},
    }


class House:
    """One log, and what is read of it."""

    def __init__(self, folder: Path, policy: str = POLICY) -> None:
        """Nobody works yet; the policy is there."""
        self.folder = folder
        self.log = MemoryLog(partitions=2, clock=now)
        self.store = ArtefactStore(str(folder / "store"))
        self._writer = self.log.writer()
        said = {"document": policy, "policy_sha256": load.sha256(policy), "author": "user:ops"}
        self._write(Topic.POLICIES, Policy, kind=PolicyKind.APPLIED, **said)

    @contextmanager
    def at_work(self, argv: list[str], *worker_ids: str) -> Iterator[None]:
        """A supervisor and these workers, until the end of the block."""
        with ExitStack() as stack:
            supervisor, stop = Supervisor(self.log, "s1", self.store, now), threading.Event()
            stack.callback(supervisor.close)
            self._start(stack, lambda: supervisor.run(stop), stop.set)
            for worker_id in worker_ids:
                self._start_worker(stack, argv, worker_id)
            yield

    def _start_worker(self, stack: ExitStack, argv: list[str], worker_id: str) -> None:
        config = WorkerConfig(
            worker_id=worker_id,
            pool=POOL,
            argv=argv,
            home=self.folder / "home",
            sandbox="off",
            calls_no_model=True,
            liveness_seconds=0.5,
            drain_seconds=0,
        )
        service = Service(self.log, config, self.store)
        self._start(stack, service.run, service.stop)
        assert service.registered.wait(PATIENCE_S)

    @staticmethod
    def _start(stack: ExitStack, run: Callable[[], None], stop: Callable[[], None]) -> None:
        thread = threading.Thread(target=run)
        thread.start()
        stack.callback(thread.join, PATIENCE_S)
        stack.callback(stop)

    def submit(self, document: dict[str, Any]) -> None:
        """Write a contract."""
        self._write(
            Topic.CONTRACTS,
            Contract,
            tenant_id=TENANT,
            workflow_id=document["workflow_id"],
            kind=ContractKind.SUBMITTED,
            document=json.dumps(document),
            content_digest=ids.digest(document),
            submitter="user:priya",
        )

    def _write(self, topic: Topic, cls: type[Any], *, tenant_id: str = "", workflow_id: str = "", **said: Any) -> None:
        event = new_event(cls, tenant_id=tenant_id, workflow_id=workflow_id, producer="test", clock_now=now(), **said)
        self._writer.append([message(event, topic)])

    def _read(self, topic: str) -> list[Any]:
        reader = self.log.reader()
        reader.assign({Partition(topic, number): 0 for number in range(self.log.partitions)})
        found: list[Any] = []
        while batch := reader.poll(1000, 0.0):
            found += [decode(topic, record.value) for record in batch if record.value is not None]
        return found

    def history(self) -> list[Transition]:
        """What became of the workflow."""
        return [each for each in self._read(Topic.TRANSITIONS) if each.workflow_id == WORKFLOW]

    def kinds(self) -> list[str]:
        """The kinds of its transitions, in order."""
        return [each.kind.value for each in self.history()]

    def leases(self, kind: LeaseKind) -> list[Lease]:
        """What workers said of their leases."""
        return [each for each in self._read(Topic.LEASES) if each.kind is kind]

    def told(self, kind: DispatchKind) -> list[Dispatch]:
        """What workers were told."""
        return [each for each in self._read(dispatches(POOL)) if each.kind is kind]

    def until(self, kind: str, times: int = 1) -> None:
        """Wait for so many transitions of this kind."""
        reader = self.log.reader()
        partitions = [Partition(Topic.TRANSITIONS, number) for number in range(self.log.partitions)]
        end = time.monotonic() + PATIENCE_S
        while self.kinds().count(kind) < times:
            assert time.monotonic() < end, f"no {kind}, but {self.kinds()}"
            reader.assign(reader.ends(partitions))
            if self.kinds().count(kind) < times:
                reader.poll(1, 0.25)
