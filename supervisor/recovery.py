"""The recovery ladder as one pure table: (what failed, counts, policy) -> what follows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from remit.events.inputs import ErrorClass
from remit.events.transitions import Recovery
from remit.policy.model import Timeouts


@dataclass(frozen=True, slots=True)
class Failure:
    """How an attempt failed. `reproducible` = a runner saw a failing case at the exact subject.

    `severe` = a scanner that the runner ran names a finding of high severity.
    """

    error_class: ErrorClass
    outcome: str
    reproducible: bool = False
    retry_after_seconds: int = 0
    severe: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """What was used up: attempts of this round, reworks of the task that would have to mend it."""

    attempts: int
    max_attempts: int | None
    rework_task: str | None = None
    reworks: int = 0
    max_reworks: int | None = None
    disagreements: int = 0  # of verifiers with what was accepted, in this round


@dataclass(frozen=True, slots=True)
class Verdict:
    """What follows: a recovery, its reason when a person gets it, the end of a back-off."""

    recovery: Recovery
    reason: str | None = None
    not_before: datetime | None = None
    rework_task: str | None = None


MOST_RETRY_AFTER_S = 86_400  # as the envelope's schema says; a worker can't postpone its task for ever
MALFORMED = "malformed"
REASSIGNED = frozenset({"blocked:capability", "blocked:permission"})
LOST = frozenset({"silence", "no_progress", "incarnation", "correction"})
DISAGREED = "disagreed"  # a verifier did not see what the accepted evidence shows
AVOIDED = LOST | {MALFORMED}
"""Endings after which another worker is tried, if there is one."""


def verdict(failure: Failure, counts: Counts, timeouts: Timeouts, *, now: datetime, cause: UUID) -> Verdict:
    """What follows this failure. The jitter derives from `cause`, so that a replay gives the same due time."""
    if failure.outcome == DISAGREED:
        return _second_opinion(counts)
    if failure.severe:
        return Verdict(Recovery.ESCALATE, "high_impact_security")
    if failure.reproducible and counts.rework_task is not None:
        return _rework(counts)
    if (reason := _for_a_person(failure, counts)) is not None:
        return Verdict(Recovery.ESCALATE, reason)
    if failure.outcome in REASSIGNED or failure.outcome in AVOIDED:
        return Verdict(Recovery.REASSIGN)
    wait = back_off(counts.attempts, timeouts, cause, failure.retry_after_seconds)
    return Verdict(Recovery.RETRY, not_before=now + wait)


def _for_a_person(failure: Failure, counts: Counts) -> str | None:
    """Why the owner gets it, if the ladder ends here."""
    if failure.outcome == "deadline":
        return "elapsed"
    if failure.error_class is ErrorClass.NEEDS_REVIEW:
        return failure.outcome
    if failure.error_class is ErrorClass.PERMANENT_FAILED and failure.outcome not in REASSIGNED:
        return "permanent_failure"
    return "attempts_exhausted" if _spent(counts.attempts, counts.max_attempts) else None


def _second_opinion(counts: Counts) -> Verdict:
    """One more verifier, then the owner; nothing is sent upstream on one verifier's word."""
    if counts.disagreements or _spent(counts.attempts, counts.max_attempts):
        return Verdict(Recovery.ESCALATE, "verification_disagrees")
    return Verdict(Recovery.REASSIGN)


def _rework(counts: Counts) -> Verdict:
    if counts.max_reworks is not None and counts.reworks >= counts.max_reworks:
        return Verdict(Recovery.ESCALATE, "reworks_exhausted", rework_task=counts.rework_task)
    return Verdict(Recovery.REWORK, rework_task=counts.rework_task)


def _spent(count: int, limit: int | None) -> bool:
    return limit is not None and count >= limit


def back_off(attempts: int, timeouts: Timeouts, cause: UUID, retry_after_seconds: int = 0) -> timedelta:
    """Exponential, capped wait; spread over [base, 2 * base) after whatever the worker asked for.

    The cap bounds the base and not the sum, so it never makes two waits equal.
    """
    base = min(timeouts.backoff_min_seconds * 2 ** min(attempts - 1, 30), timeouts.backoff_max_seconds / 2)
    spread = base * (cause.int % 1_000_003 / 1_000_003)
    asked = min(retry_after_seconds, MOST_RETRY_AFTER_S)
    return timedelta(seconds=max(base, float(asked)) + spread)
