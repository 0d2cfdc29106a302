"""Rows of attempts, their routes and their bookings: from the offer to the settlement. Pure."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from remit.events.base import Amounts, Usage
from remit.events.transitions import Dispatched, Transition, TransitionKind

from .rows_evidence import subject_text, text
from .tables import Row, Values, said

NOTHING = Amounts(cost_gbp=Decimal(0), tokens=0, tool_calls=0)
GIVEN_BACK = frozenset({TransitionKind.OFFER_DECLINED, TransitionKind.OFFER_EXPIRED})
ACCEPTED = "accepted"


def rows(names: Values, event: Transition, attempt: str) -> Iterator[Row]:
    """Rows of the attempt that a transition is about, and of its routes."""
    part = {**_dispatch(event), **_claim(event), **_request(event), **_ending(event), **_held(event)}
    if part:
        about = {
            "task_id": event.task_id,
            "worker_id": event.worker_id,
            "round": event.round,
            "fencing_token": event.fencing_token,
        }
        yield Row("attempts", said({"attempt_id": attempt, **names, **about, **part}))
    if event.dispatch is not None:
        yield from _routes(names, event, event.dispatch, attempt)


def _dispatch(event: Transition) -> dict[str, Any]:
    if (offer := event.dispatch) is None:
        return {}
    return {
        "status": "offered",
        "attempt": offer.attempt,
        "incarnation": text(offer.incarnation),
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
        "incarnation": text(claim.incarnation),
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
        return ended | {"outcome": event.kind.removeprefix("offer_")}
    if (accepted := event.accepted) is not None:
        subject = subject_text(accepted.subject)
        return ended | {"outcome": ACCEPTED, "first_pass": accepted.first_pass, "subject": subject}
    if (ending := event.ending) is not None:
        return ended | {
            "outcome": ending.outcome,
            "error_class": ending.error_class,
            "faults": ending.faults,
            "recovery": ending.recovery,
            "recovery_reason": ending.recovery_reason,
            "rework_task": ending.rework_task,
            "not_before": ending.not_before,
        }
    if event.settlement is not None and event.kind is not TransitionKind.RESERVATION_RELEASED:
        return ended | {"outcome": event.stop.stop_reason if event.stop else event.kind}
    return {}


def _held(event: Transition) -> dict[str, Any]:
    """What stays held: said by a settlement, ended by a release or by usage that came late."""
    if event.kind is TransitionKind.RESERVATION_RELEASED or (
        event.kind is TransitionKind.LATE_USAGE and event.note is not None
    ):
        return _amounts("held", NOTHING)
    return _amounts("held", event.settlement.held) if event.settlement else {}


def _amounts(prefix: str, amounts: Amounts) -> dict[str, Any]:
    return {
        f"{prefix}_cost_gbp": amounts.cost_gbp,
        f"{prefix}_tokens": amounts.tokens,
        f"{prefix}_tool_calls": amounts.tool_calls,
    }


def _routes(names: Values, event: Transition, offer: Dispatched, attempt: str) -> Iterator[Row]:
    for ordinal, candidate in enumerate(offer.candidates, 1):
        yield Row(
            "routes",
            {
                **names,
                "sequence": event.sequence,
                "ordinal": ordinal,
                "task_id": event.task_id,
                "attempt_id": attempt,
                "pool": offer.pool,
                "worker_id": candidate.worker_id,
                "chosen": candidate.worker_id == event.worker_id,
                "excluded_by": candidate.excluded_by,
                "registry_offset": offer.registry_offset,
                "decided_at": event.decided_at,
            },
        )


def booking(names: Values, event: Transition, attempt: str | None, cause: str | None) -> Row | None:
    """At most one row per transition, so that their sum is what was spent."""
    if (booked := _booked(event)) is None:
        return None
    return Row(
        "costs",
        {
            **names,
            "sequence": event.sequence,
            "kind": booked.kind,
            "task_id": event.task_id,
            "attempt_id": attempt,
            "worker_id": event.worker_id,
            "round": event.round,
            "cost_gbp": booked.cost_gbp,
            **_usage(booked.usage),
            "overrun": booked.overrun,
            "minutes_spent": event.minutes_spent,
            "policy_sha256": event.policy_sha256,
            "booked_at": event.decided_at,
            "cause_event_id": cause,
        },
    )


class _Booked(NamedTuple):
    """What a transition books."""

    kind: str
    cost_gbp: Decimal
    usage: Usage | None = None
    overrun: bool | None = None


def _booked(event: Transition) -> _Booked | None:
    settlement, note = event.settlement, event.note
    if settlement is not None and event.kind is not TransitionKind.RESERVATION_RELEASED:
        return _Booked("settlement", settlement.cost_gbp, settlement.usage, settlement.overrun)
    if event.kind is TransitionKind.LATE_USAGE and note is not None:
        return _Booked("late_usage", note.cost_gbp or Decimal(0), note.usage)
    if event.minutes_spent is not None:
        return _Booked("minutes", Decimal(0))
    return None


def _usage(usage: Usage | None) -> dict[str, Any]:
    return {
        "tokens_in": usage.tokens_in if usage else None,
        "tokens_out": usage.tokens_out if usage else None,
        "tool_calls": usage.tool_calls if usage else None,
        "worker_seconds": usage.worker_seconds if usage else None,
        "model": usage.model if usage else None,
        "estimated": usage.estimated if usage else None,
    }
