"""Deadlines are instants: a zone is named, the time exists, it lies ahead and within the policy."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from remit.contract.normal import Workflow


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("2026-07-19T12:00:00", "must name its zone, like 2026-07-19T12:00:00Z"),
        ("2026-06-30T12:00:00Z", "lies in the past"),
        ("2026-07-01T00:00:00Z", "lies in the past"),
        ("2027-02-31T12:00:00Z", "is not a time that exists"),
        ("2026-07-19T23:59:60Z", "is not a time that exists"),
        ("2026-07-19T12:00:00+25:00", "is not a time that exists"),
        ("9999-12-31T23:59:59-10:00", "is not a time that exists"),
        ("9999-01-01T00:00:00Z", "must be at most 2592000 seconds ahead (policy)"),
        ("tomorrow", "must be a date and time with a zone, like 2026-07-19T12:00:00Z"),
        ("2026-07-19", "must be a date and time with a zone, like 2026-07-19T12:00:00Z"),
    ],
)
def test_a_deadline_that_is_none(
    text: str, rule: str, envelope: dict[str, Any], faults: Callable[..., tuple[str, ...]]
) -> None:
    """TIME-2: no zone, the past, impossible times and a far future each have their line, with the path."""
    envelope["deadline"] = text
    assert faults(envelope) == (f"deadline {rule}",)


@pytest.mark.parametrize("text", ["2026-07-19T17:00:00+05:00", "2026-07-19T12:00:00Z", "2026-07-19T12:00:00.0Z"])
def test_one_instant_has_one_form(text: str, envelope: dict[str, Any], normal_form: Callable[..., Workflow]) -> None:
    """TIME-2: +05:00 and Z expire at the same moment, kept in UTC."""
    envelope["deadline"] = text
    limits = normal_form(envelope).limits
    assert (limits.deadline, limits.deadline_seconds) == ("2026-07-19T12:00:00Z", 1_598_400)


def test_a_tasks_own_deadline_is_judged_too(small: dict[str, Any], faults: Callable[..., tuple[str, ...]]) -> None:
    """A task's deadline follows the same rules at its own path."""
    small["tasks"]["a"]["limits"] = {"deadline": "2026-06-30T12:00:00Z"}
    assert faults(small) == ("tasks.a.limits.deadline lies in the past",)


def test_a_naive_now_is_refused(small: dict[str, Any], normal_form: Callable[..., Workflow]) -> None:
    """TIME-1: the gate never guesses the zone of the time it is handed."""
    with pytest.raises(ValueError, match="now must be an aware datetime"):
        normal_form(small, now=datetime(2026, 7, 1, tzinfo=UTC).replace(tzinfo=None))
