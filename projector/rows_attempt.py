"""Rows of attempts, their routes and their bookings: from the offer to the settlement. Pure."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from remit.events.base import Amounts, Usage
from remit.events.transitions import Dispatched, Settlement, Transition, TransitionKind

from .rows_evidence import subject_text
from .tables import Row

NOTHING = Amounts(cost_gbp=Decimal(0), tokens=0, tool_calls=0)
GIVEN_BACK = frozenset({TransitionKind.OFFER_DECLINED, TransitionKind.OFFER_EXPIRED})
ACCEPTED = "accepted"


def rows(event: Transition) -> Iterator[Row]:
    """Rows of the attempt that a transition is about, of its routes, and of what it books."""
    if event.attempt_id is not None:
        yield from _attempt(event)
    if event.dispatch is not None:
        yield from _routes(event, event.dispatch)
    yield from _booking(event)


def _attempt(event: Transition) -> Iterator[Row]:
    said = {**_dispatch(event), **_claim(event), **_request(event), **_ending(event), **_held(event)}
    if said:
        names = {"attempt_id": str(event.attempt_id), "tenant_id": event.tenant_id, "workflow_id": event.workflow_id}
        about = {"task_id": event.task_id, "worker_id": event.worker_id, "round": event.round}
        yield Row("attempts", names | about | {"fencing_token": event.fencing_token} | said)


def _dispatch(event: Transition) -> dict[str, Any]:
    if (offer := event.dispatch) is None:
        return {}
    return {
        "status": "offered",
        "attempt": offer.attempt,
        "incarnation": str(offer.incarnation),
        "pool": offer.pool,
        "contract_sha256": offer.contract_sha256,
        "queued_at": offer.queued_at,
        "offered_at": event.decided_at,
        "offer_until": offer.offer_until,
        **_amounts("reserved", offer.reserved),
        "price_entry": offer.price.name,
        "per_1k_tokens_in": offer.price.per_1k_tokens_in,
        "per_1k_tokens_out": offer.price.per_1k_tokens_out,
        "per_tool_call": offer.price.per_tool_call,
        "per_worker_second": offer.price.per_worker_second,
    }


def _claim(event: Transition) -> dict[str, Any]:
    if (claim := event.claim) is None:
        return {}
    return {
        "status": "running",
        "attempt": claim.attempt,
        "incarnation": str(claim.incarnation),
        "claimed_at": event.decided_at,
        "deadline_at": claim.deadline_at,
    }


def _request(event: Transition) -> dict[str, Any]:
    if event.request is None or event.kind is not TransitionKind.INSPECTION_REQUESTED:
        return {}
    result = event.request.result
    return {
        "status": "awaiting_review",
        "submitted_at": event.decided_at,
        "handler_started_at": result.started_at,
        "handler_ended_at": result.ended_at,
    }


def _ending(event: Transition) -> dict[str, Any]:
    ended = {"status": "ended", "ended_at": event.decided_at}
    if event.kind in GIVEN_BACK:
        return ended | {"outcome": event.kind.value.removeprefix("offer_")}
    if (accepted := event.accepted) is not None:
        subject = subject_text(accepted.subject)
        return ended | {"outcome": ACCEPTED, "first_pass": accepted.first_pass, "subject": subject}
    if (ending := event.ending) is not None:
        return ended | {
            "outcome": ending.outcome,
            "error_class": ending.error_class.value,
            "faults": list(ending.faults),
            "recovery": ending.recovery.value,
            "recovery_reason": ending.recovery_reason,
            "rework_task": ending.rework_task,
            "not_before": ending.not_before,
        }
    if event.settlement is not None and event.kind is not TransitionKind.RESERVATION_RELEASED:
        return ended | {"outcome": event.stop.stop_reason.value if event.stop else event.kind.value}
    return {}


def _held(event: Transition) -> dict[str, Any]:
    """What stays held: said by a settlement, ended by a release or by usage that came late."""
    if event.kind is TransitionKind.RESERVATION_RELEASED or _late_usage(event) is not None:
        return _amounts("held", NOTHING)
    return _amounts("held", event.settlement.held) if event.settlement else {}


def _amounts(prefix: str, amounts: Amounts) -> dict[str, Any]:
    return {
        f"{prefix}_cost_gbp": amounts.cost_gbp,
        f"{prefix}_tokens": amounts.tokens,
        f"{prefix}_tool_calls": amounts.tool_calls,
    }


def _routes(event: Transition, offer: Dispatched) -> Iterator[Row]:
    for ordinal, candidate in enumerate(offer.candidates, 1):
        yield Row(
            "routes",
            {
                "tenant_id": event.tenant_id,
                "workflow_id": event.workflow_id,
                "sequence": event.sequence,
                "ordinal": ordinal,
                "task_id": event.task_id,
                "attempt_id": str(event.attempt_id) if event.attempt_id else None,
                "pool": offer.pool,
                "worker_id": candidate.worker_id,
                "chosen": candidate.worker_id == event.worker_id,
                "excluded_by": candidate.excluded_by,
                "registry_offset": offer.registry_offset,
                "decided_at": event.decided_at,
            },
        )


def _booking(event: Transition) -> Iterator[Row]:
    """At most one row per transition, so that their sum is what was spent."""
    if (said := _booked(event)) is None:
        return
    yield Row(
        "costs",
        {
            "tenant_id": event.tenant_id,
            "workflow_id": event.workflow_id,
            "sequence": event.sequence,
            "task_id": event.task_id,
            "attempt_id": str(event.attempt_id) if event.attempt_id else None,
            "worker_id": event.worker_id,
            "round": event.round,
            "minutes_spent": event.minutes_spent,
            "policy_sha256": event.policy_sha256,
            "booked_at": event.decided_at,
            "cause_event_id": str(event.cause.event_id) if event.cause else None,
            **said,
        },
    )


def _booked(event: Transition) -> dict[str, Any] | None:
    if event.settlement is not None and event.kind is not TransitionKind.RESERVATION_RELEASED:
        return {"kind": "settlement", **_settled(event.settlement)}
    if (late := _late_usage(event)) is not None:
        return {"kind": "late_usage", **late}
    if event.minutes_spent is not None:
        return {"kind": "minutes", "cost_gbp": Decimal(0)}
    return None


def _settled(settlement: Settlement) -> dict[str, Any]:
    return {"cost_gbp": settlement.cost_gbp, "overrun": settlement.overrun, **_usage(settlement.usage)}


def _late_usage(event: Transition) -> dict[str, Any] | None:
    note = event.note
    if event.kind is not TransitionKind.LATE_USAGE or note is None:
        return None
    usage = _usage(note.usage) if note.usage is not None else {}
    return {"cost_gbp": note.cost_gbp or Decimal(0), "overrun": None, **usage}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "tool_calls": usage.tool_calls,
        "worker_seconds": usage.worker_seconds,
        "model": usage.model,
        "estimated": usage.estimated,
    }
