"""What a supervisor reads beside its shards: policies, registrations, liveness; by a second, ungrouped consumer."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from uuid import UUID

from remit.codec import decode
from remit.errors import CodecError, PolicyInvalidError, PolicyUnknownError
from remit.events import service as events
from remit.instants import aware
from remit.log.catch_up import replay
from remit.log.protocols import Log, Partition, Recorded
from remit.policy import load
from remit.policy.model import Policy, Pool
from remit.policy.permissions import covers, is_grant
from remit.topics import Topic

from .routing import RISK, Alive, Registry

log = logging.getLogger("remit.supervisor")
LIVENESS_TAIL = 1_000
POLL = 500


class Directory:
    """Policies by hash, and the workers as they register and show themselves alive."""

    def __init__(self, source: Log, clock: Callable[[], datetime]) -> None:
        """Read what is there; `clock` gives aware UTC."""
        aware(clock(), "clock")
        self._clock = clock
        self._reader = source.reader()
        self._workers: dict[str, events.Worker] = {}
        self._incarnations: dict[str, UUID] = {}
        self._narrowed: dict[str, events.Worker] | None = None  # until a registration or a policy comes
        self._alive: dict[str, tuple[datetime, events.Liveness]] = {}
        self._offset = 0
        self.policies: dict[str, Policy] = {}
        self.newest: str | None = None
        self.unreadable = 0
        self._catch_up()

    def _catch_up(self) -> None:
        every = [Partition(topic, 0) for topic in (Topic.POLICIES, Topic.WORKERS, Topic.LIVENESS)]
        ends, starts = self._reader.ends(every), self._reader.starts(every)
        positions = dict(starts)
        alive = Partition(Topic.LIVENESS, 0)
        positions[alive] = max(starts[alive], ends[alive] - LIVENESS_TAIL)
        for batch in replay(self._reader, positions, ends, timeout=30.0):
            self._take(batch)

    def poll(self) -> set[str]:
        """Take what is new, without waiting; the workers whose process is another one now."""
        batch = self._reader.poll(POLL, 0.0)
        if not batch:
            return set()
        before = dict(self._incarnations)
        self._take(batch)
        return {each for each, incarnation in self._incarnations.items() if before.get(each) != incarnation}

    def require(self, pinned: dict[str, str]) -> None:
        """Raise PolicyUnknownError unless every policy is known that open workflows pin; `pinned`: hash -> a workflow.

        Without it their inputs could not be decided, and passing them would lose them.
        """
        if not pinned.keys() <= self.policies.keys():
            self._catch_up()
        for sha, workflow in pinned.items():
            if sha not in self.policies:
                raise PolicyUnknownError(
                    f"workflow {workflow} pins policy {sha[:12]}, which this build can't read from the log: "
                    "run the build that it was applied with until its workflows have ended"
                )

    def close(self) -> None:
        """Leave."""
        self._reader.close()

    def _take(self, batch: list[Recorded]) -> None:
        for recorded in batch:
            try:
                event = decode(recorded.topic, recorded.value)
            except CodecError as error:
                self.unreadable += 1
                log.warning("%s[%d]@%d skipped: %s", recorded.topic, recorded.partition, recorded.offset, error)
                continue
            self._note(recorded, event)

    def _note(self, recorded: Recorded, event: object) -> None:
        match event:
            case events.Policy():
                self._apply(event)
            case events.Worker():
                self._register(recorded, event)
            case events.Liveness():
                self._alive[event.worker_id] = (recorded.appended_at, event)

    def _apply(self, event: events.Policy) -> None:
        if load.sha256(event.document) != event.policy_sha256:
            log.warning("a policy was skipped: policy_sha256 is not that of its document")
            return
        try:
            policy = load.parse(event.document)
        except PolicyInvalidError as error:
            log.warning("policy %s was skipped: %s", event.policy_sha256[:12], error.faults[0])
            return
        self.policies[event.policy_sha256] = policy
        self.newest = event.policy_sha256
        self._narrowed = None

    def _register(self, recorded: Recorded, event: events.Worker) -> None:
        self._offset = recorded.offset + 1
        self._narrowed = None
        if event.kind is events.WorkerKind.REGISTERED:
            self._workers[event.worker_id] = event
            self._incarnations[event.worker_id] = event.incarnation
        elif self._incarnations.get(event.worker_id) == event.incarnation:
            del self._workers[event.worker_id], self._incarnations[event.worker_id]

    def governing(self) -> Policy | None:
        """The newest policy: it says which workers there may be, whatever policy a workflow pins."""
        return self.policies.get(self.newest or "")

    def incarnations(self) -> Mapping[str, UUID]:
        """The newest process of each registered worker: a view of it as it stands."""
        return MappingProxyType(self._incarnations)

    def registered(self) -> Mapping[str, events.Worker]:
        """Every worker as it registered, alive or not, allowed by the policy or not: a view of it as it stands."""
        return MappingProxyType(self._workers)

    def worker_key(self, worker_id: str) -> str | None:
        """The public key that a worker registered, Base64; None for one that registered none."""
        worker = self._workers.get(worker_id)
        return worker.public_key if worker is not None else None

    def registry(self) -> Registry:
        """The workers as the newest policy lets them be, and the free slots of those alive now."""
        policy = self.governing()
        if policy is None:
            return Registry({}, {}, self._offset)
        if self._narrowed is None:
            self._narrowed = {
                worker_id: narrowed(worker, policy.pools[worker.pool])
                for worker_id, worker in self._workers.items()
                if worker.pool in policy.pools
            }
        limit = self._clock() - timedelta(seconds=policy.timeouts.liveness_seconds)
        alive = {
            worker_id: Alive(shown.free_slots, at)
            for worker_id, (at, shown) in self._alive.items()
            if self._lives(at, limit, shown)
        }
        return Registry(self._narrowed, alive, self._offset)

    def _lives(self, at: datetime, limit: datetime, shown: events.Liveness) -> bool:
        current = self._incarnations.get(shown.worker_id)
        return at >= limit and shown.kind is events.LivenessKind.ALIVE and shown.incarnation == current


def narrowed(worker: events.Worker, pool: Pool) -> events.Worker:
    """The registration within its pool: it may only narrow, and what it leaves out is the pool's."""
    return events.Worker(
        event_id=worker.event_id,
        tenant_id=worker.tenant_id,
        workflow_id=worker.workflow_id,
        occurred_at=worker.occurred_at,
        producer=worker.producer,
        kind=worker.kind,
        worker_id=worker.worker_id,
        incarnation=worker.incarnation,
        pool=worker.pool,
        capabilities=_within(worker.capabilities, pool.capabilities),
        tools=_within(worker.tools, pool.tools),
        permissions=_permitted(worker.permissions, pool),
        output_schemas=worker.output_schemas,
        risk_class=min(worker.risk_class, pool.risk_class, key=lambda each: RISK.get(each, 0)),
        price_entry=worker.price_entry,
        slots=worker.slots,
        public_key=worker.public_key,
    )


def _permitted(named: dict[str, tuple[str, ...]], pool: Pool) -> dict[str, tuple[str, ...]]:
    """Of each resource that the pool has, what the registration names of the pool's grants, else all of them."""
    return {
        resource: tuple(each for each in named.get(resource, granted) if is_grant(each) and covers(granted, each))
        for resource, granted in pool.permissions.items()
    }


def _within(named: tuple[str, ...], allowed: list[str]) -> tuple[str, ...]:
    return tuple(each for each in named if each in allowed) if named else tuple(allowed)
