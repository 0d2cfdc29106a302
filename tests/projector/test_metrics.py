"""What the views say: exact money, UTC days, and nothing made up where there is nothing."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from projector.sql import columns_of, statements
from projector.store import Store
from projector.tables import IDENTITY, KEYED
from remit.events.transitions import Recovery, StopReason, TaskStatus
from remit.log.memory import MemoryLog
from remit.reading import open_copy
from tests.projector.driving import ask, ask_one, project
from tests.projector.histories import History, message, policy, ticking


def database(tmp_path: Path, *histories: History) -> Path:
    """A database of these histories."""
    log = MemoryLog(clock=ticking())
    log.writer().append([message(policy()), *(message(event) for each in histories for event in each.events)])
    project(log, tmp_path / "db.duckdb")
    return tmp_path / "db.duckdb"


def booked(path: Path, costs: list[Decimal]) -> None:
    """Add bookings of one settled workflow directly."""
    with Store(path) as store:
        store._connection.execute("UPDATE costs SET cost_gbp = 0")
        for amount, times in {cost: costs.count(cost) for cost in costs}.items():
            store._connection.execute(
                """INSERT INTO costs BY NAME SELECT 'default' AS tenant_id, 'w1' AS workflow_id, 1 AS sequence,
                'settlement' AS kind, ?::DECIMAL(18, 6) AS cost_gbp FROM range(?)""",
                [amount, times],
            )


def overall(path: Path) -> dict[str, object]:
    """The metrics over everything."""
    return dict(ask_one(path, "FROM metrics WHERE tenant_id IS NULL"))


def test_money_is_exact(tmp_path: Path) -> None:
    """0.10, 0.20, 0.30 and 5,000 times 0.01 over three tasks: exact sum, half-even to six digits (DUCK-7)."""
    path = database(tmp_path, History().run("a", "b", "c"))
    booked(path, [Decimal("0.10"), Decimal("0.20"), Decimal("0.30"), *[Decimal("0.01")] * 5000])
    row = overall(path)
    assert row["cost_gbp"] == Decimal("50.600000")
    assert row["cost_per_accepted_task_gbp"] == Decimal("16.866667")
    assert row["cost_per_verified_completion_gbp"] == Decimal("50.600000")


@pytest.mark.parametrize(
    ("amount", "count", "expected"),
    [
        ("0.000001", 2, "0.000000"),
        ("0.000003", 2, "0.000002"),
        ("0.000005", 2, "0.000002"),
        ("-0.000003", 2, "-0.000002"),
        ("2", 3, "0.666667"),
        ("123456789012.123456", 7, "17636684144.589065"),
    ],
)
def test_division(tmp_path: Path, amount: str, count: int, expected: str) -> None:
    """Halves go to the even digit, never through floating point (DUCK-7)."""
    path = database(tmp_path)
    (row,) = ask(
        path, f"SELECT exact_ratio({amount}::DECIMAL(38, 6), {count}), exact_ratio({amount}::DECIMAL(38, 6), 0)"
    )
    assert row == (Decimal(expected), None)


def test_nothing_accepted(tmp_path: Path) -> None:
    """Spend without acceptance: the cost is shown, what is per acceptance is null, the rate is 0 (DUCK-7)."""
    history = History()
    history.accept_contract("a")
    attempt = history.dispatch("a")
    history.claim("a", attempt)
    history.refuse("a", attempt, Recovery.RETRY, "0.25")
    history.stop(StopReason.ATTEMPTS_EXHAUSTED, "a")
    row = overall(database(tmp_path, history))
    assert (row["cost_gbp"], row["settled"], row["accepted"]) == (Decimal("0.250000"), 1, 0)
    assert row["verified_completion_rate"] == 0
    nothing = ("cost_per_verified_completion_gbp", "cost_per_accepted_task_gbp", "median_seconds", "p95_seconds")
    assert [row[name] for name in nothing] == [None] * 4


def test_nothing_at_all(tmp_path: Path) -> None:
    """Without a settled workflow every rate and cost per something is null, and no view fails (DUCK-7)."""
    history = History()
    history.accept_contract("a")
    row = overall(database(tmp_path, history))
    rates = [name for name in row if name.endswith(("_rate", "_seconds")) or "_per_" in name]
    assert len(rates) == 11
    assert {row[name] for name in rates} == {None}


def test_p95_of_one_row(tmp_path: Path) -> None:
    """Median and p95 of one completion are that completion (DUCK-7)."""
    row = overall(database(tmp_path, History().run("a")))
    assert row["median_seconds"] == row["p95_seconds"] == 4.0


def test_rates(tmp_path: Path) -> None:
    """One workflow at once, one with a retry, a rework and an escalation, one stopped: each rate by hand."""
    second = History("w2")
    second.accept_contract("a")
    first = second.dispatch("a")
    second.claim("a", first)
    second.refuse("a", first, Recovery.RETRY, "0.05")
    retry = second.dispatch("a", number=2)
    second.claim("a", retry, 2)
    second.refuse("a", retry, Recovery.REWORK, "0.05")
    again = second.dispatch("a", round_=2)
    second.claim("a", again, 1, 2)
    second.refuse("a", again, Recovery.ESCALATE, "0.05")
    second.stop(StopReason.CANCELLED, "a", after=60, minutes_spent=Decimal("2.5"))
    row = overall(database(tmp_path, History("w1").run("a", "b"), second))
    expected = {
        "settled": 2,
        "accepted": 1,
        "verified_completion_rate": Decimal("0.500000"),
        "attempts": 5,
        "retries": 1,
        "retry_rate": Decimal("0.200000"),
        "first_pass_rate": Decimal("0.666667"),
        "reworks": 1,
        "extra_rounds": 1,
        "escalation_rate": Decimal("0.500000"),
        "human_minutes": Decimal("2.500000"),
        "people_gbp": Decimal("1.250000"),
        "cost_gbp": Decimal("1.600000"),
        "cost_per_verified_completion_gbp": Decimal("1.600000"),
        "cost_per_accepted_task_gbp": Decimal("0.800000"),
    }
    assert {name: row[name] for name in expected} == expected
    assert ask(
        tmp_path / "db.duckdb", "SELECT waiting_for_people_seconds FROM people_waits WHERE workflow_id = 'w2'"
    ) == [(60.0,)]


def test_late_usage_is_booked_once(tmp_path: Path) -> None:
    """A late report adds its difference in pounds and replaces the attempt's usage; costs reconcile with the events."""
    history = History().run("a", cost="0.10")
    attempt = next(event.attempt_id for event in history.events if event.attempt_id)
    history.late_usage("a", attempt, "-0.04")
    path = database(tmp_path, history)
    assert overall(path)["cost_gbp"] == Decimal("0.060000")
    assert ask(path, "SELECT cost_gbp, tokens_in, tokens_out FROM attempt_costs") == [(Decimal("0.060000"), 77, 7)]


def test_open_work(tmp_path: Path) -> None:
    """The queue's depth, what an open attempt binds, and whom an escalated workflow waits for."""
    history = History()
    history.accept_contract("a", "b")
    attempt = history.dispatch("a")
    path = database(tmp_path, history)
    assert ask(path, "SELECT waiting, queued, with_a_worker FROM queue_depth") == [(1, 0, 1)]
    assert ask(path, "SELECT bound_gbp, left_gbp FROM budget_use") == [(Decimal("1.000000"), Decimal("1.000000"))]
    history.claim("a", attempt)
    history.refuse("a", attempt, Recovery.ESCALATE, status=history.status.ESCALATED)
    (tmp_path / "then").mkdir()
    path = database(tmp_path / "then", history)
    assert ask(path, "SELECT status, tasks_done, tasks_total, waits_for FROM workflow_list") == [
        ("escalated", 0, 2, "user:priya")
    ]
    assert ask(path, "SELECT with_a_person FROM queue_depth") == [(1,)]
    assert ask(path, "SELECT bound_gbp FROM budget_use") == [(Decimal("0.000000"),)]


@pytest.mark.usefixtures("karachi")
def test_days_are_utc_days(tmp_path: Path) -> None:
    """Ten settlements around midnight UTC, projected on Karachi time, read in two zones: the same days (TIME-4)."""
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    ends = [midnight + timedelta(seconds=second) for second in (-3, -2, -1, 0, 1, 2, 3, 4, 5, 18000)]
    histories = [History(f"w{n}", at=end - timedelta(seconds=4)).run("a") for n, end in enumerate(ends)]
    path = database(tmp_path, *histories)
    stored = ask(path, "SELECT epoch_us(settled_at) FROM settled_workflows ORDER BY ALL")
    assert [instant for (instant,) in stored] == [round(end.timestamp() * 1e6) for end in ends]
    query = "SELECT day_utc::VARCHAR, settled FROM metrics WHERE day_utc IS NOT NULL ORDER BY ALL"
    with open_copy(path) as copy:
        for zone in ("UTC", "Asia/Karachi"):
            copy._connection.execute(f"SET TimeZone = '{zone}'")
            assert copy.query(query).rows == [("2026-03-01", 3), ("2026-03-02", 7)]


class TestWords:
    """What the database says of itself."""

    def test_everything_has_a_comment(self, tmp_path: Path) -> None:
        """No table, view or column is without its comment."""
        with Store(tmp_path / "db.duckdb"):
            pass
        with open_copy(tmp_path / "db.duckdb") as copy:
            relations = copy.relations()
        assert len(relations) > 30
        assert [each.name for each in relations if not each.comment] == []
        assert [(each.name, c.name) for each in relations for c in each.columns if not c.comment] == []

    def test_tables_and_their_rules_agree(self) -> None:
        """Every table has an identity, and every rule speaks of columns that exist."""
        connection = duckdb.connect()
        for statement in statements():
            connection.execute(statement)
        tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert tables == set(IDENTITY)
        for table, keyed in KEYED.items():
            assert set(keyed.key) | keyed.first | frozenset().union(*keyed.groups.values()) <= set(columns_of(table))
        assert TaskStatus.ESCALATED.value == "escalated"
