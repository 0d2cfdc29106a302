"""schedule(queued tasks, registry) -> assignments: tenants in turn; the same input gives the same choice. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from remit.events.service import Worker
from remit.events.transitions import Candidate
from remit.policy.model import Policy
from remit.policy.permissions import covers

from .inputs import Assignment
from .load import Load
from .queued import QueuedTasks, Ready, Wants
from .state import Workflow
from .states import Key

RISK = {"low": 0, "medium": 1, "high": 2}
BEATEN = "not the cheapest, least loaded"


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
class Judged:
    """A worker as one line of tasks sees it: the first rule that excludes it whatever it has to do, and its price."""

    worker: Worker
    excluded_by: str | None
    price: Decimal


def schedule(
    queued: QueuedTasks, policies: Mapping[str, Policy], registry: Registry, load: Load
) -> list[tuple[Workflow, Assignment]]:
    """Assign queued tasks to free workers; one task per workflow and call, so that each sees its own reservation."""
    round_ = _Round(queued, policies, registry, load)
    chosen: list[tuple[Workflow, Assignment]] = []
    turn: Iterable[str] = (tenant for _, tenant in queued.order)
    while True:
        served = []
        for tenant in turn:
            if round_.is_over:
                return chosen
            if (assigned := round_.next_of(tenant)) is not None:
                chosen.append(assigned)
                served.append(tenant)
        if not served:
            return chosen
        turn = served


class _Round:
    """One call of the scheduler: what it has given out so far, and which lines can get nothing more."""

    def __init__(self, queued: QueuedTasks, policies: Mapping[str, Policy], registry: Registry, load: Load) -> None:
        self._queued, self._policies, self._registry, self._load = queued, policies, registry, load
        self._workers = [registry.workers[worker_id] for worker_id in sorted(registry.workers)]
        self._given: Counter[str] = Counter()  # by worker
        self._pools: Counter[str] = Counter()
        self._judged: dict[Wants, list[Judged]] = {}
        self._over: set[Wants] = set()
        self._served: set[Key] = set()
        self._passed: Counter[tuple[str, Wants]] = Counter()

    @property
    def is_over(self) -> bool:
        """Whether no line can get anything more."""
        return len(self._over) == len(self._queued.wanted)

    def next_of(self, tenant: str) -> tuple[Workflow, Assignment] | None:
        """The tenant's longest waiting task for which there is a worker, with that worker."""
        while (ready := min(self._firsts(tenant), default=None)) is not None:
            assignment = self._assign(ready)
            if assignment is None:
                self._over.add(ready.wants)
                continue
            key = (tenant, ready.workflow_id)
            self._served.add(key)
            return self._queued.workflows[key], assignment
        return None

    def _firsts(self, tenant: str) -> Iterator[Ready]:
        """The first of each line that may still get something, of a workflow that got nothing yet."""
        for wants, line in self._queued.lines[tenant].items():
            at = self._passed[tenant, wants]
            if wants in self._over:
                continue
            while at < len(line) and (tenant, line[at].workflow_id) in self._served:
                at += 1
            self._passed[tenant, wants] = at
            if at < len(line):
                yield line[at]

    def _assign(self, ready: Ready) -> Assignment | None:
        """Who failed no attempt of the round, then the cheapest, the least loaded; each other with its reason."""
        wants, policy = ready.wants, self._policies.get(ready.wants.policy_sha256)
        if policy is None or self._load.pools[wants.pool] + self._pools[wants.pool] >= _most(policy, wants.pool):
            return None
        if wants not in self._judged:
            self._judged[wants] = [_judge(wants, policy, worker) for worker in self._workers]
        found = [(each, each.excluded_by or self._busy(each.worker)) for each in self._judged[wants]]
        eligible = [each for each, reason in found if reason is None]
        if not eligible:
            return None
        best = min(eligible, key=lambda each: self._rank(wants, each)).worker
        self._given[best.worker_id] += 1
        self._pools[best.pool] += 1
        candidates = tuple(_candidate(each.worker, best, reason) for each, reason in found)
        return Assignment(ready.task_id, best, self._registry.offset, candidates)

    def _rank(self, wants: Wants, judged: Judged) -> tuple[bool, Decimal, int, str]:
        worker = judged.worker
        return (worker.worker_id in wants.avoided, judged.price, self._of(worker), worker.worker_id)

    def _busy(self, worker: Worker) -> str | None:
        return busy(self._registry, self._load, worker, self._given[worker.worker_id])

    def _of(self, worker: Worker) -> int:
        return self._load.of(worker.worker_id) + self._given[worker.worker_id]


def busy(registry: Registry, load: Load, worker: Worker, given: int = 0) -> str | None:
    """Why the worker can take nothing now: it is silent, or full by its own word or by what it was given."""
    said = registry.alive.get(worker.worker_id)
    if said is None:
        return "not_alive"
    since = load.unknown_at(worker.worker_id, said.at) + given
    free = min(said.free_slots - since, worker.slots - load.of(worker.worker_id) - given)
    return "no_free_slot" if free < 1 else None


def _most(policy: Policy, pool: str) -> int:
    return policy.pools[pool].max_parallel


def _candidate(worker: Worker, best: Worker, reason: str | None) -> Candidate:
    beaten = None if worker.worker_id == best.worker_id else BEATEN
    return Candidate(worker_id=worker.worker_id, excluded_by=reason or beaten)


def _judge(wants: Wants, policy: Policy, worker: Worker) -> Judged:
    return Judged(worker, exclusion(wants, policy, worker), price_of(policy, worker))


def exclusion(wants: Wants, policy: Policy, worker: Worker) -> str | None:
    """The first rule that excludes the worker from such tasks; None when none does. Whether it is free comes last."""
    rules = (
        ("pool", worker.pool != wants.pool or worker.pool not in policy.pools),
        ("capability", wants.capability not in worker.capabilities),
        ("permission", not _permitted(wants, worker)),
        ("tools", not set(wants.tools) <= set(worker.tools)),
        ("output_schema", not _writes_schema(wants, worker)),
        ("risk_class", RISK.get(worker.risk_class, 0) < RISK[wants.risk_class]),
        ("author", worker.worker_id in wants.authors),
        ("blocked_before", worker.worker_id in wants.blocked),
    )
    return next((name for name, excludes in rules if excludes), None)


def _permitted(wants: Wants, worker: Worker) -> bool:
    """A registration may only narrow: what it does not mention is as the policy grants it."""
    return all(
        resource not in worker.permissions or permission == "none" or _grants(worker.permissions[resource], permission)
        for resource, permission in wants.grants
    )


def _grants(granted: tuple[str, ...], wanted: str) -> bool:
    return wanted.partition(":")[0] in granted or covers(granted, wanted)


def _writes_schema(wants: Wants, worker: Worker) -> bool:
    wanted = wants.output_schema
    return wanted is None or not worker.output_schemas or wanted in worker.output_schemas


def price_of(policy: Policy, worker: Worker) -> Decimal:
    """What workers are compared by: the sum of all unit prices of the worker's entry, in pounds."""
    entries = policy.prices.entries
    price = entries.get(worker.price_entry) or entries["default"]
    return price.per_1k_tokens_in + price.per_1k_tokens_out + price.per_tool_call + price.per_worker_second
