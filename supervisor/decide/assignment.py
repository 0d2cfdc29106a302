"""An assignment: the offer of a queued task to the worker that the scheduler chose. Pure."""

from datetime import timedelta

from remit import ids
from remit.contract.normal import task_hash
from remit.events.transitions import Dispatched, PriceEntry, TransitionKind
from remit.policy.model import Policy

from .. import dataflow, graph, limits
from ..inputs import Assignment
from ..state import Queued, Task
from .unit import Unit


def on_assignment(unit: Unit, item: Assignment) -> None:
    """Reserve and offer; nothing if the task is no longer queued or its budget no longer fits."""
    task = unit.task(item.task_id)
    if not isinstance(task.phase, Queued) or limits.blockers(unit.workflow, task.task_id):
        return
    if not graph.prerequisites_met(unit.workflow.contract, unit.workflow.tasks, task.task_id):
        return
    workflow, worker = unit.workflow, item.worker
    token = workflow.sequence + 1
    unit.add(
        TransitionKind.DISPATCHED,
        task_id=task.task_id,
        round=task.round,
        worker_id=worker.worker_id,
        fencing_token=token,
        attempt_id=ids.attempt_id(workflow.tenant_id, workflow.workflow_id, task.task_id, token),
        attempt=task.attempts_started + 1,
        dispatch=_offer(unit, task, item, task.phase),
    )


def _offer(unit: Unit, task: Task, item: Assignment, phase: Queued) -> Dispatched:
    timeouts = unit.facts.policy.timeouts
    return Dispatched(
        pool=item.worker.pool,
        incarnation=item.worker.incarnation,
        attempt=task.attempts_started + 1,
        reserved=limits.wanted(unit.workflow, task.task_id),
        price=price_entry(unit.facts.policy, item.worker.price_entry),
        registry_offset=item.registry_offset,
        candidates=item.candidates,
        inputs=dataflow.input_versions(unit.workflow, task.task_id),
        offer_until=unit.facts.now + timedelta(seconds=timeouts.offer_seconds),
        contract_sha256=task_hash(unit.workflow.contract, task.task_id),
        queued_at=phase.since,
    )


def price_entry(policy: Policy, name: str) -> PriceEntry:
    """The price entry of that name, else the default one, as settlement will use it."""
    known = name if name in policy.prices.entries else "default"
    return PriceEntry(name=known, **policy.prices.entries[known].model_dump())
