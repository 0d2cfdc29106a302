"""schedule(ready workflows, registry) -> assignments: tenants in turn; the same input gives the same choice. Pure."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from remit.contract.normal import TaskContract
from remit.events.service import Worker
from remit.events.transitions import Candidate
from remit.policy.model import Policy

from . import limits
from .inputs import Assignment
from .state import Attempt, Queued, Task, Workflow

RISK = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Registry:
    """The workers as known now: registrations, free slots of those alive, next offset of the registry's topic."""

    workers: Mapping[str, Worker]
    alive: Mapping[str, int]
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


@dataclass(frozen=True, slots=True)
class Load:
    """What this supervisor has given out: open attempts by worker and by pool."""

    workers: Counter[str]
    pools: Counter[str]


def load_of(workflows: Iterable[Workflow]) -> Load:
    """The load that these workflows make."""
    attempts = [attempt for each in workflows for attempt in open_attempts(each)]
    return Load(Counter(each.worker_id for each in attempts), Counter(each.pool for each in attempts))


def schedule(
    workflows: Iterable[Workflow], policies: Mapping[str, Policy], registry: Registry, load: Load
) -> list[tuple[Workflow, Assignment]]:
    """Assign queued tasks to free workers; one task per workflow and call, so that each sees its own reservation."""
    workers, pools = Counter(load.workers), Counter(load.pools)
    chosen = []
    for ready in _in_turn(list(_ready(workflows, policies))):
        pool = ready.contract.pool
        if pools[pool] >= ready.policy.pools[pool].max_parallel:
            continue
        assignment = _route(ready, registry, workers)
        if assignment is not None:
            chosen.append((ready.workflow, assignment))
            workers[assignment.worker.worker_id] += 1
            pools[pool] += 1
    return chosen


def open_attempts(workflow: Workflow) -> list[Attempt]:
    """The attempts that are offered, running or under review."""
    currents = [task.current() for task in workflow.tasks.values()] if workflow.open else []
    return [each for each in currents if each is not None]


def _ready(workflows: Iterable[Workflow], policies: Mapping[str, Policy]) -> Iterator[Ready]:
    """The first task of each workflow that may be offered now, in file order."""
    for workflow in workflows:
        policy = policies.get(workflow.policy_sha256)
        if policy is None or not workflow.open or _enough_at_work(workflow):
            continue
        for task in workflow.tasks.values():
            if isinstance(task.phase, Queued) and not limits.blockers(workflow, task.task_id):
                yield Ready(workflow, task, policy)
                break


def _enough_at_work(workflow: Workflow) -> bool:
    allowed = workflow.contract.limits.max_workers
    return allowed is not None and len(open_attempts(workflow)) >= allowed


def _in_turn(ready: list[Ready]) -> Iterator[Ready]:
    """Tenants in turn, in each the longest waiting first."""
    queues: dict[str, deque[Ready]] = {}
    for each in sorted(ready, key=_waiting_since):
        queues.setdefault(each.workflow.tenant_id, deque()).append(each)
    while queues:
        for tenant in sorted(queues):
            yield queues[tenant].popleft()
        queues = {tenant: queue for tenant, queue in queues.items() if queue}


def _waiting_since(ready: Ready) -> tuple[str, str, str]:
    phase = ready.task.phase
    since = phase.since.isoformat() if isinstance(phase, Queued) else ""
    return (since, ready.workflow.workflow_id, ready.task.task_id)


def _route(ready: Ready, registry: Registry, load: Mapping[str, int]) -> Assignment | None:
    """The cheapest eligible worker, then the least loaded, then the first by id; each other with its first reason."""
    found = [registry.workers[worker_id] for worker_id in sorted(registry.workers)]
    reasons = {worker.worker_id: exclusion(ready, worker, registry, load) for worker in found}
    eligible = [worker for worker in found if reasons[worker.worker_id] is None]
    if not eligible:
        return None
    best = min(
        eligible, key=lambda worker: (_price(ready.policy, worker), load.get(worker.worker_id, 0), worker.worker_id)
    )
    candidates = tuple(_candidate(worker, best, reasons[worker.worker_id]) for worker in found)
    return Assignment(ready.task.task_id, best, registry.offset, candidates)


def _candidate(worker: Worker, best: Worker, reason: str | None) -> Candidate:
    beaten = None if worker.worker_id == best.worker_id else "not the cheapest, least loaded"
    return Candidate(worker_id=worker.worker_id, excluded_by=reason or beaten)


def exclusion(ready: Ready, worker: Worker, registry: Registry, load: Mapping[str, int]) -> str | None:
    """The first rule that excludes the worker from the task; None when none does."""
    contract, pool = ready.contract, ready.policy.pools.get(worker.pool)
    rules = (
        ("pool", worker.pool != contract.pool or pool is None),
        ("capability", contract.capability not in worker.capabilities),
        ("permission", not _permitted(contract, worker)),
        ("tools", not set(contract.tools) <= set(worker.tools)),
        ("output_schema", not _writes_schema(contract, worker)),
        ("risk_class", RISK.get(worker.risk_class, 0) < RISK[contract.risk_class]),
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
    kind = wanted.partition(":")[0]
    return wanted in granted or kind in granted or f"{kind}:*" in granted


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


def _free_slots(worker: Worker, registry: Registry, load: Mapping[str, int]) -> int:
    """The fewer of what the worker says is free and what this supervisor has given it."""
    return min(registry.alive.get(worker.worker_id, 0), worker.slots - load.get(worker.worker_id, 0))


def _price(policy: Policy, worker: Worker) -> Decimal:
    entries = policy.prices.entries
    price = entries.get(worker.price_entry) or entries["default"]
    return price.per_1k_tokens_in + price.per_1k_tokens_out + price.per_tool_call + price.per_worker_second
