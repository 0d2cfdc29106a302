"""What the gate says reaches the log: a contract that is invalid as it is appended is refused, and nothing follows."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.supervisor.world import POLICY, Clock, World, two_tasks

NOW = datetime(2026, 7, 1, tzinfo=UTC)
NOON = datetime(2026, 7, 19, 12, tzinfo=UTC)


@pytest.fixture
def july(tmp_path: Path) -> Iterator[World]:
    """The first of July, a policy that lets work last a month, and a worker."""
    made = World(tmp_path, POLICY.replace("deadline_seconds: 86400", "deadline_seconds: 2592000"), Clock(NOW))
    made.worker()
    yield made
    made.close()


def with_deadline(text: str, workflow_id: str) -> dict[str, Any]:
    return two_tasks(workflow_id=workflow_id, limits={"deadline": text})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("2026-07-19T12:00:00", "limits.deadline must name its zone, like 2026-07-19T12:00:00Z"),
        ("2026-06-30T12:00:00Z", "limits.deadline lies in the past"),
        ("2027-02-31T12:00:00Z", "limits.deadline is not a time that exists"),
        ("2026-07-19T23:59:60Z", "limits.deadline is not a time that exists"),
        ("9999-01-01T00:00:00Z", "limits.deadline must be at most 2592000 seconds ahead (policy)"),
    ],
)
def test_a_deadline_that_is_none_is_refused_at_its_append_time(july: World, text: str, fault: str) -> None:
    """TIME-2: no zone, the past, what never was, too far: rejected with the path, and nothing is dispatched."""
    july.submit(with_deadline(text, "w1"))
    july.settle()
    (rejected,) = july.history()
    assert rejected.kind.value == "contract_rejected"
    assert rejected.rejection is not None
    assert rejected.rejection.faults == (fault,)
    assert july.sent() == []


def test_one_instant_in_two_zones_expires_at_the_same_moment(july: World) -> None:
    """TIME-2: +05:00 and Z end at noon UTC, neither a minute before nor one after the other."""
    july.submit(with_deadline("2026-07-19T17:00:00+05:00", "w1"))
    july.submit(with_deadline("2026-07-19T12:00:00Z", "w2"), "w2")
    july.settle()
    assert july.workflow("w1").deadline_at == july.workflow("w2").deadline_at == NOON
    july.forward((NOON - NOW - timedelta(seconds=1)).total_seconds())
    july.settle()
    assert july.workflow("w1").open
    assert july.workflow("w2").open
    july.forward(1)
    july.settle()
    ends = [july.history(each)[-1] for each in ("w1", "w2")]
    assert [each.kind.value for each in ends] == ["workflow_stopped"] * 2
    assert ends[0].decided_at == ends[1].decided_at == NOON


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"limits": {"max_token": 5}}, "limits.max_token is not a known key (did you mean max_tokens?)"),
        ({"permisions": {}}, "permisions is not a known key"),
        ({"definition_of_don": []}, "definition_of_don is not a known key (did you mean definition_of_done?)"),
        ({"allowed_tool": []}, "allowed_tool is not a known key"),
    ],
)
def test_a_misspelled_contract_dispatches_nothing(july: World, changed: dict[str, Any], fault: str) -> None:
    """VALID-5: whoever wrote it to the log past the command line is refused by the supervisor, by the unknown path."""
    july.submit(two_tasks(**changed))
    july.settle()
    (rejected,) = july.history()
    assert rejected.rejection is not None
    assert fault in rejected.rejection.faults
    assert july.sent() == []
