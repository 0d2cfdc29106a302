"""The definitions' worked example: the seven transitions of one task, and exactly the rows that they make."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from remit.ids import attempt_id
from remit.log.memory import MemoryLog
from tests.projector.driving import ask, ask_one, project
from tests.projector.histories import History, message, policy, ticking

A = str(attempt_id("default", "w1", "a", 2))


def at(second: int) -> datetime:
    """That second of the example's first minute."""
    return datetime(2026, 3, 1, 9, 0, second, tzinfo=UTC)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The example, projected."""
    history = History()
    history.accept_contract("a")
    attempt = history.dispatch("a")
    history.claim("a", attempt)
    history.request("a", attempt)
    accepted = history.accept("a", attempt, "0.10")
    history.finish("a", cause=accepted.cause.event_id if accepted.cause else None)
    history.duplicate()
    log = MemoryLog(clock=ticking())
    log.writer().append([message(policy()), *(message(event) for event in history.events)])
    project(log, tmp_path / "example.duckdb")
    return tmp_path / "example.duckdb"


def test_transitions(database: Path) -> None:
    """Seven rows; the note raises the sequence and not the version."""
    query = "SELECT sequence, version, kind, note, workflow_status FROM transitions ORDER BY sequence"
    assert ask(database, query) == [
        (1, 1, "contract_accepted", False, "running"),
        (2, 2, "dispatched", False, "running"),
        (3, 3, "claimed", False, "running"),
        (4, 4, "inspection_requested", False, "running"),
        (5, 5, "result_accepted", False, "running"),
        (6, 6, "workflow_accepted", False, "accepted"),
        (7, 6, "duplicate", True, "accepted"),
    ]


def test_workflow(database: Path) -> None:
    """One row with contract, gate and times."""
    row = ask_one(database, "FROM workflows")
    assert {name: value for name, value in row.items() if value is not None} == {
        "tenant_id": "default",
        "workflow_id": "w1",
        "status": "accepted",
        "sequence": 7,
        "version": 6,
        "changed_at": at(5),
        "policy_sha256": "a" * 64,
        "workflow_type": "demo",
        "owner": "user:priya",
        "objective": "show it",
        "contract_version": 1,
        "contract_sha256": "d" * 64,
        "content_digest": "c" * 64,
        "submitter": "unverified:priya@host",
        "submitted_at": at(0),
        "deadline_at": datetime(2026, 3, 1, 9, 15, tzinfo=UTC),
        "max_cost_gbp": Decimal("2.000000"),
        "max_tokens": 12000,
        "development_acceptance": "approved",
        "deployment_authorisation": "not_required",
        "final_subjects": ["document:" + "f" * 64],
        "accepted_at": at(5),
        "settled_at": at(5),
        "stop_reason": "accepted",
    }


def test_attempt(database: Path) -> None:
    """One row from offer to acceptance."""
    row = ask_one(database, "FROM attempts")
    expected = {
        "attempt_id": A,
        "task_id": "a",
        "attempt": 1,
        "round": 1,
        "fencing_token": 2,
        "worker_id": "w-7",
        "status": "ended",
        "queued_at": at(1),
        "offered_at": at(2),
        "claimed_at": at(3),
        "submitted_at": at(4),
        "ended_at": at(5),
        "outcome": "accepted",
        "first_pass": True,
        "subject": "accounts@" + "0" * 40,
        "reserved_cost_gbp": Decimal("1.000000"),
        "held_cost_gbp": Decimal("0.000000"),
        "per_1k_tokens_in": Decimal("0.010000"),
    }
    assert {name: row[name] for name in expected} == expected


def test_the_other_tables(database: Path) -> None:
    """Task, requirement, evidence, routes and the one booking."""
    assert ask(database, "SELECT task_id, status, round, sequence, waits_for, depends_on FROM tasks") == [
        ("a", "completed", 1, 5, None, [])
    ]
    assert ask(database, "SELECT requirement_id, text, held, checks, tasks, judged_at FROM requirements") == [
        ("req-a", "a is done", True, ["check-a"], ["a"], at(5))
    ]
    assert ask(database, "SELECT sequence, ordinal, kind, accepted, failing, checks, exit_status FROM evidence") == [
        (5, 1, "test_run", True, False, ["check-a"], 0)
    ]
    assert ask(database, "SELECT worker_id, chosen, excluded_by FROM routes ORDER BY ordinal") == [
        ("w-7", True, None),
        ("w-other", False, "busy"),
    ]
    assert ask(database, "SELECT sequence, kind, cost_gbp, tokens_in, tokens_out, worker_seconds FROM costs") == [
        (5, "settlement", Decimal("0.100000"), 100, 50, Decimal("1.500000"))
    ]


def test_views(database: Path) -> None:
    """What the example costs and how long it took, overall and for its day."""
    assert ask(database, "FROM cost_per_verified_completion WHERE tenant_id IS NULL") == [
        (None, None, None, Decimal("0.100000"), Decimal("0.100000"), 1, 1)
    ]
    query = "SELECT day_utc::VARCHAR, median_seconds, p95_seconds FROM completion_time WHERE day_utc IS NOT NULL"
    assert ask(database, query) == [("2026-03-01", 5.0, 5.0)]
    assert ask(database, "SELECT status, tasks_done, tasks_total, spent_gbp, waits_for FROM workflow_list") == [
        ("accepted", 1, 1, Decimal("0.100000"), None)
    ]
    assert ask(database, "SELECT spent_gbp, bound_gbp, left_gbp, cost_share FROM budget_use") == [
        (Decimal("0.100000"), Decimal("0.000000"), Decimal("1.900000"), Decimal("0.050000"))
    ]
