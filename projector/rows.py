"""Event -> rows. Pure: what a record of the log says, as rows of the tables. The fold imports it.

`transition` is one function per detail that a transition may carry; a detail's rows stand in the module of its name.
Enums of the log are text already, and go into a row as they are.
"""

from collections.abc import Iterator
from typing import Any

from remit.contract.normal import Workflow
from remit.events.inputs import Decision
from remit.events.service import DeadLetter, Policy
from remit.events.transitions import NOTES, TaskChange, TaskStatus, Transition, TransitionKind, WorkflowStatus
from remit.log.protocols import Recorded

from . import rows_attempt, rows_contract, rows_evidence
from .rows_evidence import maybe_text, subject_text, text
from .tables import Row, Values, said

WITH_A_PERSON = frozenset({TaskStatus.ESCALATED, TaskStatus.AWAITING_DECISION})


def transition(record: Recorded, event: Transition, event_id: str, contract: Workflow | None) -> Iterator[Row]:
    """All rows that an accepted transition makes or changes; `contract` is the one it brings, where it can be read."""
    names = {"tenant_id": event.tenant_id, "workflow_id": event.workflow_id}
    attempt, cause = maybe_text(event.attempt_id), maybe_text(event.cause.event_id if event.cause else None)
    if contract is not None and event.contract is not None:
        yield from rows_contract.rows(names, event.contract, contract)
    yield _transition(record, event, event_id, attempt, cause)
    if event.kind is TransitionKind.DEAD_LETTERED:
        return
    yield _workflow(names, event)
    if event.gate is not None:
        yield from rows_contract.judged(names, event, event.gate)
    for change in event.changes:
        yield from _task(names, event, change)
    if attempt is not None:
        yield from rows_attempt.rows(names, event, attempt)
    if (booking := rows_attempt.booking(names, event, attempt, cause)) is not None:
        yield booking
    if event.accepted is not None or event.ending is not None:
        yield from rows_evidence.rows(names, event)


def contract_of(event: Transition) -> Workflow | None:
    """The contract that a transition brings, typed; ContractUnreadableError."""
    return None if event.contract is None else rows_contract.readable(event.contract)


def decision(record: Recorded, event: Decision) -> Row:
    """A person's decision as it was sent."""
    return Row(
        "decisions",
        {
            "tenant_id": event.tenant_id,
            "workflow_id": event.workflow_id,
            "event_id": text(event.event_id),
            "kind": event.kind,
            "person": event.person,
            "task_id": event.task_id,
            "item_id": event.item_id,
            "content_sha256": event.content_sha256,
            "state_version": event.state_version,
            "reason": event.reason,
            "resolution": event.resolution,
            "minutes_spent": event.minutes_spent,
            "appended_at": record.appended_at,
            "partition": record.partition,
            "offset": record.offset,
        },
    )


def dead_letter(record: Recorded, event: DeadLetter) -> Row:
    """A record that a service could not use."""
    return Row(
        "dead_letters",
        {
            "source_topic": event.source_topic,
            "source_partition": event.source_partition,
            "source_offset": event.source_offset,
            "kind": event.kind,
            "tenant_id": event.tenant_id,
            "workflow_id": event.workflow_id,
            "record_sha256": event.record_sha256,
            "size": event.size,
            "reason": event.reason,
            "event_id": text(event.event_id),
            "appended_at": record.appended_at,
        },
    )


def policy(record: Recorded, event: Policy) -> Row:
    """What an applied policy says of prices that no transition records."""
    rate, environment = rows_contract.human_minute(event.document)
    return Row(
        "policies",
        {
            "policy_sha256": event.policy_sha256,
            "human_minute_gbp": rate,
            "environment": environment,
            "author": event.author,
            "applied_at": record.appended_at,
        },
    )


def _transition(record: Recorded, event: Transition, event_id: str, attempt: str | None, cause_id: str | None) -> Row:
    cause, stop, writer = event.cause, event.stop, event.writer
    return Row(
        "transitions",
        {
            "stream": stream_of(record),
            "tenant_id": event.tenant_id,
            "workflow_id": event.workflow_id,
            "sequence": event.sequence,
            "version": event.version,
            "kind": event.kind,
            "note": event.kind in NOTES,
            "workflow_status": event.workflow_status,
            "task_id": event.task_id,
            "attempt_id": attempt,
            "worker_id": event.worker_id,
            "fencing_token": event.fencing_token,
            "attempt": event.attempt,
            "round": event.round,
            "reason": event.reason,
            "stop_reason": stop.stop_reason if stop else None,
            "person": stop.person if stop else None,
            "minutes_spent": event.minutes_spent,
            "decided_at": event.decided_at,
            "appended_at": record.appended_at,
            "event_id": event_id,
            "cause_event_id": cause_id,
            "cause_topic": cause.topic if cause else None,
            "cause_partition": cause.partition if cause else None,
            "cause_offset": cause.offset if cause else None,
            "policy_sha256": event.policy_sha256,
            "decider_version": event.decider_version,
            "writer_instance": writer.instance,
            "writer_generation": writer.generation,
            "partition": record.partition,
            "offset": record.offset,
        },
    )


def stream_of(record: Recorded) -> str:
    """The record's key as text: tenant/workflow, or _shard/n."""
    return (record.key or b"").decode(errors="replace")


def _workflow(names: Values, event: Transition) -> Row:
    part = {
        **names,
        "status": event.workflow_status,
        "sequence": event.sequence,
        "version": event.version,
        "changed_at": event.decided_at,
    }
    if event.policy_sha256 is not None:
        part["policy_sha256"] = event.policy_sha256
    if event.gate is not None or event.stop is not None or event.rejection is not None:
        part |= said({**_gate(event), **_end(event), **_rejection(event)})
    return Row("workflows", part)


def _gate(event: Transition) -> dict[str, Any]:
    if (gate := event.gate) is None:
        return {}
    return {
        "development_acceptance": gate.development_acceptance,
        "deployment_authorisation": gate.deployment_authorisation,
        "authoriser": gate.authoriser,
        "final_subjects": [subject_text(each) for each in gate.final_subjects],
        "accepted_at": event.decided_at,
        "settled_at": event.decided_at,
    }


def _end(event: Transition) -> dict[str, Any]:
    """Why a workflow ended. A quarantined one has a reason but is not settled: its state is in doubt, not over."""
    if event.stop is None or event.kind in {TransitionKind.TASK_ESCALATED, TransitionKind.TASK_STOPPED}:
        return {}
    stopped = event.workflow_status is WorkflowStatus.STOPPED
    return {
        "stop_reason": event.stop.stop_reason,
        "stop_detail": event.stop.detail,
        "stopped_by": event.stop.person,
        "settled_at": event.decided_at if stopped else _gate(event).get("settled_at"),
    }


def _rejection(event: Transition) -> dict[str, Any]:
    if (rejection := event.rejection) is None:
        return {}
    return {"rejected_digest": rejection.content_digest, "rejected_faults": rejection.faults}


def _task(names: Values, event: Transition, change: TaskChange) -> Iterator[Row]:
    moved = {
        **names,
        "sequence": event.sequence,
        "task_id": change.task_id,
        "status": change.status,
        "round": change.round,
        "reason": change.reason,
    }
    waits_for = _person(event) if change.status in WITH_A_PERSON else None
    yield Row("tasks", {**moved, "since": event.decided_at, "waits_for": waits_for})
    yield Row("task_changes", {**moved, "decided_at": event.decided_at})


def _person(event: Transition) -> str | None:
    """Who has the task now."""
    if event.ending is not None and event.ending.owner is not None:
        return event.ending.owner
    return event.stop.owner if event.stop else None
