"""Why a task is where it is: what keeps it from a worker, and what the scheduler sees of each worker. Pure.

The command line shows it; it decides nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import assert_never

from remit.contract.normal import TaskContract
from remit.events.service import Worker
from remit.policy.model import Policy

from . import limits
from .actions import held_back_by, waits_for
from .load import Load
from .queued import Wants, wants_of
from .routing import Registry, busy, exclusion, price_of
from .state import (
    AwaitingDecision,
    AwaitingReview,
    BackingOff,
    Completed,
    Correcting,
    Escalated,
    Offered,
    Quarantined,
    Queued,
    Running,
    Stopped,
    Waiting,
    Workflow,
)

NOT_ALLOWED = "pool"  # it registered for a pool that the policy in force has not


class Cause(StrEnum):
    """What a task waits for, in one of a few words."""

    MISSING_PREREQUISITE = "missing prerequisite"  # a task that it depends on was not accepted
    BUDGET = "budget"  # its workflow's or its own limits leave too little to reserve
    WORKERS = "workers"  # its workflow has as many attempts at once as it may
    NO_ELIGIBLE_WORKER = "no eligible worker"  # its policy knows no pool with the capability
    NO_WORKER_AVAILABLE = "no worker available"  # none that fits is alive and free
    ITS_TURN = "its turn"  # a worker is free for it
    UNDER_WAY = "under way"  # a worker or the supervisor has it
    BACK_OFF = "back-off"  # until its next attempt
    PERSON = "a person's decision"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Seen:
    """A registered worker as one task sees it now."""

    worker_id: str
    pool: str
    excluded_by: str | None  # the first rule that excludes it; None: it may have the task
    avoided: bool  # it lost an attempt of the round: taken only if nobody else is
    price_entry: str
    price_gbp: Decimal  # the sum of the entry's unit prices, which workers are compared by
    attempts: int  # that it has of any workflow


@dataclass(frozen=True, slots=True)
class Crew:
    """The workers and what they have to do: all registrations, those that the policy lets be, and the load."""

    registered: Mapping[str, Worker]
    registry: Registry
    load: Load
    governing: Policy | None = None  # the newest policy, which says which workers there may be


def workers_seen(workflow: Workflow, task_id: str, policy: Policy, crew: Crew) -> tuple[Seen, ...]:
    """Every registered worker, the one that would be chosen first; those that are excluded last."""
    wants = wants_of(workflow, workflow.tasks[task_id])
    seen = [_seen(wants, policy, crew, worker) for worker in crew.registered.values()]
    return tuple(sorted(seen, key=_rank))


def _rank(seen: Seen) -> tuple[bool, bool, Decimal, int, str]:
    return (seen.excluded_by is not None, seen.avoided, seen.price_gbp, seen.attempts, seen.worker_id)


def _seen(wants: Wants, policy: Policy, crew: Crew, worker: Worker) -> Seen:
    allowed = crew.registry.workers.get(worker.worker_id)
    return Seen(
        worker_id=worker.worker_id,
        pool=worker.pool,
        excluded_by=_excluded(wants, policy, crew, allowed),
        avoided=worker.worker_id in wants.avoided,
        price_entry=worker.price_entry,
        price_gbp=price_of(policy, worker),
        attempts=crew.load.of(worker.worker_id),
    )


def _excluded(wants: Wants, policy: Policy, crew: Crew, allowed: Worker | None) -> str | None:
    if allowed is None:
        return NOT_ALLOWED
    return exclusion(wants, policy, allowed) or busy(crew.registry, crew.load, allowed)


def cause(workflow: Workflow, task_id: str, policy: Policy, crew: Crew) -> tuple[Cause, str]:  # noqa: PLR0911 - one case for each phase
    """Why the task is where it is: one of a few words, and the particulars."""
    phase, words = workflow.tasks[task_id].phase, waits_for(workflow, task_id) or ""
    match phase:
        case Waiting():
            return Cause.MISSING_PREREQUISITE, words.removeprefix(f"{Cause.MISSING_PREREQUISITE}: ")
        case Queued():
            return _queued(workflow, task_id, policy, crew)
        case Offered() | Running() | AwaitingReview() | Correcting():
            return Cause.UNDER_WAY, words
        case BackingOff(until=until):
            return Cause.BACK_OFF, f"until {until.isoformat()}"
        case Escalated() | AwaitingDecision():
            return Cause.PERSON, words
        case Completed():
            return Cause.FINISHED, "accepted"
        case Stopped() | Quarantined():
            return Cause.FINISHED, str(phase.reason)
        case _:
            assert_never(phase)


def _queued(workflow: Workflow, task_id: str, policy: Policy, crew: Crew) -> tuple[Cause, str]:
    if held := held_back_by(workflow, task_id):
        budget = bool(limits.blockers(workflow, task_id))
        return Cause.BUDGET if budget else Cause.WORKERS, held.partition(": ")[2]
    contract = workflow.contract.tasks[task_id]
    if not all(_knows(each, contract) for each in (policy, crew.governing or policy)):
        return Cause.NO_ELIGIBLE_WORKER, f"the policy has no pool {contract.pool} with {contract.capability}"
    most = policy.pools[contract.pool].max_parallel
    if crew.load.pools[contract.pool] >= most:
        return Cause.NO_WORKER_AVAILABLE, f"pool {contract.pool} has its {most} attempts at once"
    seen = workers_seen(workflow, task_id, policy, crew)
    free = [each.worker_id for each in seen if each.excluded_by is None]
    return (Cause.ITS_TURN, f"{free[0]} is free") if free else (Cause.NO_WORKER_AVAILABLE, _none(contract.pool, seen))


def _knows(policy: Policy, contract: TaskContract) -> bool:
    pool = policy.pools.get(contract.pool)
    return pool is not None and contract.capability in pool.capabilities


def _none(pool: str, seen: Iterable[Seen]) -> str:
    of_pool = [f"{each.worker_id} is excluded by {each.excluded_by}" for each in seen if each.pool == pool]
    return "; ".join(of_pool) or f"no worker of pool {pool} is registered"
