"""outbox(state, transition) -> dispatches: what one transition tells a worker. Pure."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from remit import ids
from remit.contract.document import as_document
from remit.contract.normal import OutputKind
from remit.events.base import Cause
from remit.events.service import Dispatch, DispatchKind, Grant, Offer
from remit.events.transitions import Dispatched, Transition, TransitionKind
from remit.policy.model import Policy

from .state import Attempt, State, Task, Workflow

GRANT_WITHOUT_DEADLINE = timedelta(days=1)  # an attempt that nothing ends still gets a grant that does

TOLD: dict[TransitionKind, DispatchKind] = {
    TransitionKind.OFFER_EXPIRED: DispatchKind.LEASE_LOST,
    TransitionKind.LEASE_EXPIRED: DispatchKind.LEASE_LOST,
    TransitionKind.TASK_STOPPED: DispatchKind.CANCEL,
    TransitionKind.WORKFLOW_QUARANTINED: DispatchKind.CANCEL,
    TransitionKind.CORRECTION_REQUESTED: DispatchKind.CORRECTION,
}


def outbox(state: State, transition: Transition, policy: Policy) -> tuple[Dispatch, ...]:
    """The dispatches of one transition; `state` is the one after it."""
    if not isinstance(state, Workflow) or transition.attempt_id is None or transition.worker_id is None:
        return ()
    task = state.tasks.get(transition.task_id or "")
    attempt = task.attempt(transition.attempt_id) if task else None
    if transition.kind is TransitionKind.DISPATCHED and transition.dispatch is not None and attempt is not None:
        offer = _offer(state, transition, transition.dispatch, attempt, policy)
        return (_dispatch(state, transition, DispatchKind.OFFER, attempt.pool, offer),)
    kind = _told(transition, task)
    pool = state.contract.tasks[task.task_id].pool if task else None
    return (_dispatch(state, transition, kind, pool),) if kind and pool else ()


def _told(transition: Transition, task: Task | None) -> DispatchKind | None:
    if transition.kind is TransitionKind.STALE and transition.reason == "late_claim":
        # A claim under a living attempt's id may be a stranger's: its holder must not be told to stop.
        current = task.current() if task else None
        lives = current is not None and current.attempt_id == transition.attempt_id
        return None if lives else DispatchKind.LEASE_LOST
    if transition.kind is TransitionKind.ATTEMPT_FAILED and transition.reason == "superseded":
        return DispatchKind.CANCEL
    return TOLD.get(transition.kind)


def _dispatch(
    state: Workflow, transition: Transition, kind: DispatchKind, pool: str, offer: Offer | None = None
) -> Dispatch:
    worker_id = transition.worker_id or ""
    return Dispatch(
        event_id=ids.dispatch_id(transition.event_id, worker_id),
        tenant_id=state.tenant_id,
        workflow_id=state.workflow_id,
        occurred_at=transition.decided_at,
        producer=transition.producer,
        cause=Cause(event_id=transition.event_id),
        kind=kind,
        worker_id=worker_id,
        pool=pool,
        task_id=transition.task_id or "",
        attempt_id=transition.attempt_id or transition.event_id,
        fencing_token=transition.fencing_token or 0,
        state_version=transition.version,
        reason=transition.reason,
        offer=offer,
        faults=transition.correction.faults if transition.correction else (),
    )


def _offer(state: Workflow, transition: Transition, dispatched: Dispatched, attempt: Attempt, policy: Policy) -> Offer:
    task, wanted, times = state.tasks[transition.task_id or ""], state.contract, policy.timeouts
    contract = wanted.tasks[task.task_id]
    return Offer(
        contract=offered_contract(state, task.task_id, policy),
        contract_version=state.contract_version,
        contract_sha256=attempt.contract_sha256,
        attempt=dispatched.attempt,
        round=task.round,
        idempotency_key=ids.idempotency_key(state.tenant_id, state.workflow_id, task.task_id, task.round),
        inputs=attempt.inputs,
        offer_until=dispatched.offer_until,
        lease_seconds=times.lease_seconds,
        renewal_seconds=times.renewal_seconds,
        no_progress_seconds=times.no_progress_seconds,
        deadline_at=min(_ends(state, task), default=None),
        deadline_seconds=contract.limits.deadline_seconds,
        remaining=attempt.reserved,
        grant=_grant(state, task, dispatched, attempt),
        rework=task.rework,
        resume_from=task.resume_from,
    )


def _ends(state: Workflow, task: Task) -> list[datetime]:
    """When an attempt ends at the latest; the workflow's own end is not known while its clock stands."""
    whole = state.deadline_at if state.clock_stopped_at is None else None
    return [each for each in (task.deadline_at, whole) if each is not None]


def _grant(state: Workflow, task: Task, dispatched: Dispatched, attempt: Attempt) -> Grant:
    """What the attempt may touch, until its hard end; whoever writes it signs it."""
    contract = state.contract.tasks[task.task_id]
    ends = _ends(state, task)
    seconds = contract.limits.deadline_seconds
    ends += [dispatched.offer_until + timedelta(seconds=seconds)] if seconds is not None else []
    return Grant(
        permissions=contract.permissions.grants,
        paths=contract.permissions.paths,
        tools=contract.tools,
        expires_at=min(ends, default=dispatched.offer_until + GRANT_WITHOUT_DEADLINE),
        worker_id=attempt.worker_id,
        attempt_id=attempt.attempt_id,
        max_tool_calls=attempt.reserved.tool_calls,
    )


def offered_contract(state: Workflow, task_id: str, policy: Policy) -> str:
    """JSON text of what the worker must know of the contract: its task, its checks and their command lines.

    A task that drafts a contract is also given the whole one, in the form of a workflow file.
    """
    contract = state.contract
    checks = contract.checks_of(task_id)
    commands = {check.command for _, check in checks if check.command}
    parts: dict[str, Any] = {
        "objective": contract.objective,
        "constraints": contract.constraints,
        "task": contract.tasks[task_id],
        "requirements": [
            msgspec.structs.replace(requirement, checks=tuple(c for c in requirement.checks if c.task == task_id))
            for requirement in contract.requirements
            if any(check.task == task_id for check in requirement.checks)
        ],
        "commands": {name: contract.commands[name] for name in sorted(commands)},
    }
    if OutputKind.CONTRACT in contract.tasks[task_id].outputs.values():
        parts["workflow"] = as_document(contract, policy.output_schemas)
    return msgspec.json.encode(parts).decode()
