"""Absolute deadlines: RFC 3339 with a zone, real, ahead, and not beyond the policy. Pure; the gate imports it."""

import math
import re
from datetime import UTC, datetime, timedelta

from remit.instants import aware

_FORM = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,6})?(?P<zone>[Zz]|[+-]\d{2}:\d{2})?", re.ASCII)


def parse_deadline(text: str) -> datetime | str:
    """The instant in UTC, or the rule that the text breaks."""
    form = _FORM.fullmatch(text)
    if form is None:
        return "must be a date and time with a zone, like 2026-07-19T12:00:00Z"
    if form["zone"] is None:
        return "must name its zone, like 2026-07-19T12:00:00Z"
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return "is not a time that exists"


def deadline_rule(text: str, now: datetime, longest: int | None) -> str | None:
    """The rule that a deadline breaks at `now`, or None; `longest` is the policy's, in seconds."""
    aware(now, "now")
    instant = parse_deadline(text)
    if isinstance(instant, str):
        return instant
    if instant <= now:
        return "lies in the past"
    if longest is not None and instant - now > timedelta(seconds=longest):
        return f"must be at most {longest} seconds ahead (policy)"
    return None


def seconds_until(text: str, now: datetime) -> int:
    """Whole seconds from `now` to a deadline that broke no rule, rounded up."""
    return max(1, math.ceil((_instant(text) - aware(now, "now")).total_seconds()))


def in_utc(text: str) -> str:
    """A deadline that broke no rule, in UTC with a Z."""
    return _instant(text).isoformat().replace("+00:00", "Z")


def _instant(text: str) -> datetime:
    instant = parse_deadline(text)
    if isinstance(instant, datetime):
        return instant
    raise ValueError(f"deadline {instant}")
