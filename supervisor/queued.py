"""Queued tasks that may be offered, each in its place, kept as their workflows change. Pure bookkeeping.

Tasks that want the same of a worker stand in one line: where the first gets none, neither does any behind it. So what
an assignment costs does not grow with the number of tasks that wait.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from remit.contract.normal import EvidenceKind

from . import dataflow, limits
from .recovery import AVOIDED, DISAGREED, REASSIGNED
from .state import Queued, Task, Workflow, phases
from .states import Key


class Wants(NamedTuple):
    """What a task wants of a worker: all that can exclude one, but for what that one has to do already."""

    policy_sha256: str
    pool: str
    capability: str
    grants: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    output_schema: str | None
    risk_class: str
    authors: frozenset[str]  # who made what a review or a verification is about: nobody judges their own work
    blocked: frozenset[str]  # who said in this round that they lack the capability or the permission, or disagreed
    avoided: frozenset[str]  # who lost an attempt of this round, or sent what doesn't fit: taken only if nobody else is


class Ready(NamedTuple):
    """A task that its workflow's own limits allow to be offered now; in order of its turn within its tenant."""

    since: datetime
    workflow_id: str
    number: int  # in file order
    task_id: str
    wants: Wants


class QueuedTasks:
    """The ready tasks of all workflows, by tenant and by what they want of a worker, the longest waiting first."""

    def __init__(self, workflows: Iterable[Workflow] = ()) -> None:
        """Start with those of `workflows`; no tenant had a turn yet."""
        self.lines: dict[str, dict[Wants, list[Ready]]] = {}
        self.wanted: Counter[Wants] = Counter()  # lines of all tenants
        self.workflows: dict[Key, Workflow] = {}
        self.order: list[tuple[int, str]] = []  # tenants that wait, first the one whose last turn is longest ago
        self._ready: dict[Key, dict[str, Ready]] = {}
        self._turns: dict[str, int] = {}
        self._turn = 0
        for each in workflows:
            self.put((each.tenant_id, each.workflow_id), each)

    def __bool__(self) -> bool:
        """Whether any task is ready."""
        return bool(self._ready)

    def serve(self, tenant_id: str) -> None:
        """The tenant had its turn."""
        waits = tenant_id in self.lines
        if waits:
            self._step_out(tenant_id)
        self._turn += 1
        self._turns[tenant_id] = self._turn
        if waits:
            self._line_up(tenant_id)

    def put(self, key: Key, workflow: Workflow | None) -> None:
        """Replace what a workflow has here; None where nothing of it may be offered."""
        before, ready = self._ready.pop(key, {}), {}
        earlier = self.workflows.pop(key, None)
        if workflow is not None and (ready := ready_tasks(workflow, earlier, before)):
            self._ready[key], self.workflows[key] = ready, workflow
        for task_id, each in before.items():
            if ready.get(task_id) is not each:
                self._leave(key[0], each)
        for task_id, each in ready.items():
            if before.get(task_id) is not each:
                self._join(key[0], each)

    def _join(self, tenant_id: str, ready: Ready) -> None:
        if tenant_id not in self.lines:
            self.lines[tenant_id] = {}
            self._line_up(tenant_id)
        lines = self.lines[tenant_id]
        if ready.wants not in lines:
            lines[ready.wants] = []
            self.wanted[ready.wants] += 1
        insort(lines[ready.wants], ready)

    def _leave(self, tenant_id: str, ready: Ready) -> None:
        lines = self.lines[tenant_id]
        line = lines[ready.wants]
        del line[bisect_left(line, ready)]
        if not line:
            del lines[ready.wants]
            self._want_less(ready.wants)
        if not lines:
            del self.lines[tenant_id]
            self._step_out(tenant_id)

    def _want_less(self, wants: Wants) -> None:
        self.wanted[wants] -= 1
        if not self.wanted[wants]:
            del self.wanted[wants]

    def _line_up(self, tenant_id: str) -> None:
        insort(self.order, (self._turns.get(tenant_id, 0), tenant_id))

    def _step_out(self, tenant_id: str) -> None:
        del self.order[bisect_left(self.order, (self._turns.get(tenant_id, 0), tenant_id))]


def ready_tasks(workflow: Workflow, earlier: Workflow | None, known: Mapping[str, Ready]) -> dict[str, Ready]:
    """The queued tasks of an open workflow that its limits allow to be offered, in file order.

    `known` are those of its `earlier` state: what did not change since stands in its place.
    """
    if Queued not in phases(workflow) or not workflow.open or limits.enough_at_work(workflow):
        return {}
    old = earlier.tasks if earlier is not None and _same_rules(earlier, workflow) else {}
    return {
        task_id: known[task_id] if task_id in known and old.get(task_id) is task else _ready(workflow, number, task)
        for number, (task_id, task) in enumerate(workflow.tasks.items())
        if isinstance(task.phase, Queued) and not limits.blockers(workflow, task_id)
    }


def _same_rules(one: Workflow, other: Workflow) -> bool:
    return one.contract is other.contract and one.policy_sha256 == other.policy_sha256


def _ready(workflow: Workflow, number: int, task: Task) -> Ready:
    since = task.phase.since if isinstance(task.phase, Queued) else workflow.submitted_at
    return Ready(since, workflow.workflow_id, number, task.task_id, wants_of(workflow, task))


def wants_of(workflow: Workflow, task: Task) -> Wants:
    """What the task wants of a worker, queued or not."""
    contract = workflow.contract.tasks[task.task_id]
    return Wants(
        policy_sha256=workflow.policy_sha256,
        pool=contract.pool,
        capability=contract.capability,
        grants=_sorted(contract.permissions.grants),
        tools=contract.tools,
        output_schema=contract.output_schema.name if contract.output_schema else None,
        risk_class=contract.risk_class,
        authors=_authors(workflow, task),
        blocked=_of_outcome(task, REASSIGNED | {DISAGREED}),
        avoided=_of_outcome(task, AVOIDED),
    )


def _sorted(grants: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(grants.items()))


def _authors(workflow: Workflow, task: Task) -> frozenset[str]:
    checks = workflow.contract.checks_of(task.task_id)
    reviews = any(check.kind is EvidenceKind.REVIEW for _, check in checks)
    verifies = workflow.contract.tasks[task.task_id].verifies is not None
    return dataflow.authors(workflow, task.task_id) if reviews or verifies else frozenset()


def _of_outcome(task: Task, outcomes: frozenset[str]) -> frozenset[str]:
    """The workers whose attempt of this round ended so."""
    return frozenset(each.worker_id for each in task.attempts if each.round == task.round and each.outcome in outcomes)
