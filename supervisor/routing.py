"""schedule(ready workflows, registry) -> assignments: tenants in turn; the same input gives the same choice. Pure."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from remit import ids
from remit.contract.normal import EvidenceKind, TaskContract
from remit.events.service import Worker
from remit.events.transitions import Candidate
from remit.policy.model import Policy
from remit.policy.permissions import covers

from . import dataflow, limits
from .inputs import Assignment
from .state import Offered, Queued, Running, Task, Workflow

RISK = {"low": 0, "medium": 1, "high": 2}
LONG_AGO, NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Alive:
    """What a worker last said of itself, and when."""

    free_slots: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Registry:
    """The workers as known now: registrations, what those alive said, next offset of the registry's topic."""

    workers: Mapping[str, Worker]
    alive: Mapping[str, Alive]
    offset: int


@dataclass(frozen=True, slots=True)
class Ready:
    """A queued task that its budget allows to be offered."""

    workflow: Workflow
    task: Task
    policy: Policy

    @property
    def contract(self) -> TaskContract:
        """The task's contract."""
        return self.workflow.contract.tasks[self.task.task_id]


class Load:
    """What this supervisor has given out: open attempts by worker and by pool, and whose turn it was last."""

    def __init__(self) -> None:
        """Start with nothing given out."""
        self.attempts: dict[str, dict[UUID, datetime]] = {}  # by worker: since when it counts them itself
        self.pools: Counter[str] = Counter()
        self.turns: dict[str, int] = {}  # by tenant: the number of its last turn

    def copy(self) -> "Load":
        """A load that can be added to without changing this one."""
        other = Load()
        other.attempts = {worker_id: dict(attempts) for worker_id, attempts in self.attempts.items()}
        other.pools, other.turns = Counter(self.pools), dict(self.turns)
        return other

    def change(self, before: Workflow | None, after: Workflow | None) -> None:
        """Replace a workflow's part of the load."""
        for worker_id, pool, attempt_id, _ in _given(before):
            self.take(worker_id, pool, attempt_id)
        for worker_id, pool, attempt_id, known_at in _given(after):
            self.give(worker_id, pool, attempt_id, known_at)

    def give(self, worker_id: str, pool: str, attempt_id: UUID, known_at: datetime) -> None:
        """Count one attempt, which the worker counts itself from then on."""
        self.attempts.setdefault(worker_id, {})[attempt_id] = known_at
        self.pools[pool] += 1

    def take(self, worker_id: str, pool: str, attempt_id: UUID) -> None:
        """Count one attempt no more."""
        mine = self.attempts.get(worker_id, {})
        mine.pop(attempt_id, None)
        if not mine:
            self.attempts.pop(worker_id, None)
        self.pools[pool] -= 1

    def of(self, worker_id: str) -> int:
        """How many attempts the worker has of this supervisor."""
        return len(self.attempts.get(worker_id, {}))

    def unknown_at(self, worker_id: str, at: datetime) -> int:
        """How many of them it did not count yet when it spoke at that time."""
        return sum(known_at >= at for known_at in self.attempts.get(worker_id, {}).values())

    def serve(self, tenant_id: str) -> None:
        """The tenant had its turn."""
        self.turns[tenant_id] = max(self.turns.values(), default=0) + 1


def _given(workflow: Workflow | None) -> Iterator[tuple[str, str, UUID, datetime]]:
    for task in workflow.tasks.values() if workflow is not None and workflow.open else ():
        attempt = task.current()
        if attempt is not None:
            yield attempt.worker_id, attempt.pool, attempt.attempt_id, _known_at(task)


def _known_at(task: Task) -> datetime:
    """Since when the worker counts the task's attempt among its busy slots: its claim; an offer, never yet."""
    match task.phase:
        case Offered():
            return NEVER
        case Running(claimed_at=claimed_at):
            return claimed_at
        case _:
            return LONG_AGO


def schedule(
    workflows: Iterable[Workflow], policies: Mapping[str, Policy], registry: Registry, load: Load
) -> list[tuple[Workflow, Assignment]]:
    """Assign queued tasks to free workers; one task per workflow and call, so that each sees its own reservation."""
    given = load.copy()
    chosen = []
    for tasks in _in_turn([ready for each in workflows if (ready := _ready(each, policies))], load.turns):
        assignment = next((found for each in tasks if (found := _assign(each, registry, given))), None)
        if assignment is not None:
            workflow = tasks[0].workflow
            chosen.append((workflow, assignment))
            token = workflow.sequence + 1
            attempt_id = ids.attempt_id(workflow.tenant_id, workflow.workflow_id, assignment.task_id, token)
            given.give(assignment.worker.worker_id, assignment.worker.pool, attempt_id, NEVER)
    return chosen


def _ready(workflow: Workflow, policies: Mapping[str, Policy]) -> list[Ready]:
    """The tasks of a workflow that may be offered now, the longest waiting first, then in file order."""
    policy = policies.get(workflow.policy_sha256)
    if policy is None or not workflow.open or limits.enough_at_work(workflow):
        return []
    queued = [task for task in workflow.tasks.values() if isinstance(task.phase, Queued)]
    ready = [Ready(workflow, task, policy) for task in queued if not limits.blockers(workflow, task.task_id)]
    return sorted(ready, key=lambda each: _waiting_since(each)[0])


def _in_turn(ready: list[list[Ready]], turns: Mapping[str, int]) -> Iterator[list[Ready]]:
    """Tenants in turn, first the one whose last turn is longest ago; in each the longest waiting workflow first."""
    queues: dict[str, deque[list[Ready]]] = {}
    for each in sorted(ready, key=lambda tasks: _waiting_since(tasks[0])):
        queues.setdefault(each[0].workflow.tenant_id, deque()).append(each)
    while queues:
        for tenant in sorted(queues, key=lambda tenant: (turns.get(tenant, 0), tenant)):
            yield queues[tenant].popleft()
        queues = {tenant: queue for tenant, queue in queues.items() if queue}


def _waiting_since(ready: Ready) -> tuple[str, str, str]:
    phase = ready.task.phase
    since = phase.since.isoformat() if isinstance(phase, Queued) else ""
    return (since, ready.workflow.workflow_id, ready.task.task_id)


def _assign(ready: Ready, registry: Registry, load: Load) -> Assignment | None:
    """The cheapest eligible worker, then the least loaded, then the first by id; each other with its first reason."""
    if load.pools[ready.contract.pool] >= ready.policy.pools[ready.contract.pool].max_parallel:
        return None
    found = [registry.workers[worker_id] for worker_id in sorted(registry.workers)]
    reasons = {worker.worker_id: exclusion(ready, worker, registry, load) for worker in found}
    eligible = [worker for worker in found if reasons[worker.worker_id] is None]
    if not eligible:
        return None
    best = min(eligible, key=lambda worker: (_price(ready.policy, worker), load.of(worker.worker_id), worker.worker_id))
    candidates = tuple(_candidate(worker, best, reasons[worker.worker_id]) for worker in found)
    return Assignment(ready.task.task_id, best, registry.offset, candidates)


def _candidate(worker: Worker, best: Worker, reason: str | None) -> Candidate:
    beaten = None if worker.worker_id == best.worker_id else "not the cheapest, least loaded"
    return Candidate(worker_id=worker.worker_id, excluded_by=reason or beaten)


def exclusion(ready: Ready, worker: Worker, registry: Registry, load: Load) -> str | None:
    """The first rule that excludes the worker from the task; None when none does."""
    contract, pool = ready.contract, ready.policy.pools.get(worker.pool)
    rules = (
        ("pool", worker.pool != contract.pool or pool is None),
        ("capability", contract.capability not in worker.capabilities),
        ("permission", not _permitted(contract, worker)),
        ("tools", not set(contract.tools) <= set(worker.tools)),
        ("output_schema", not _writes_schema(contract, worker)),
        ("risk_class", RISK.get(worker.risk_class, 0) < RISK[contract.risk_class]),
        ("author", worker.worker_id in _authors(ready)),
        ("blocked_before", worker.worker_id in _blocked_before(ready.task)),
        ("not_alive", worker.worker_id not in registry.alive),
        ("no_free_slot", _free_slots(worker, registry, load) < 1),
    )
    return next((name for name, excludes in rules if excludes), None)


def _permitted(contract: TaskContract, worker: Worker) -> bool:
    """A registration may only narrow: what it does not mention is as the policy grants it."""
    wanted = contract.permissions.grants.items()
    return all(
        resource not in worker.permissions or permission == "none" or _grants(worker.permissions[resource], permission)
        for resource, permission in wanted
    )


def _grants(granted: tuple[str, ...], wanted: str) -> bool:
    return wanted.partition(":")[0] in granted or covers(granted, wanted)


def _writes_schema(contract: TaskContract, worker: Worker) -> bool:
    wanted = contract.output_schema
    return wanted is None or not worker.output_schemas or wanted.name in worker.output_schemas


def _blocked_before(task: Task) -> set[str]:
    """Workers that said in this round that they lack the capability or the permission."""
    return {
        each.worker_id
        for each in task.attempts
        if each.round == task.round and each.outcome in {"blocked:capability", "blocked:permission"}
    }


def _authors(ready: Ready) -> frozenset[str]:
    """Who made what a review is about: nobody reviews their own work."""
    reviews = any(
        check.kind is EvidenceKind.REVIEW for _, check in ready.workflow.contract.checks_of(ready.task.task_id)
    )
    return dataflow.authors(ready.workflow, ready.task.task_id) if reviews else frozenset()


def _free_slots(worker: Worker, registry: Registry, load: Load) -> int:
    """The fewer of what the worker said is free, less what it got since, and what this supervisor left it."""
    said = registry.alive.get(worker.worker_id)
    if said is None:
        return 0
    since = load.unknown_at(worker.worker_id, said.at)
    return min(said.free_slots - since, worker.slots - load.of(worker.worker_id))


def _price(policy: Policy, worker: Worker) -> Decimal:
    entries = policy.prices.entries
    price = entries.get(worker.price_entry) or entries["default"]
    return price.per_1k_tokens_in + price.per_1k_tokens_out + price.per_tool_call + price.per_worker_second
