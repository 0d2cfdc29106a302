"""`remit budget`: limits with what is left, every booking, and a reconciliation that can fail."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from remit.cli import clocks
from remit.cli.bookings import bookings, reconcile
from remit.cli.budget import print_budget
from remit.cli.budgeting import document
from remit.cli.folded import Folded
from remit.client.history import Entry
from remit.events.base import Usage
from remit.log.protocols import Recorded
from remit.settings import load
from tests.cli.conftest import Terminal
from tests.cli.waits import attempt, failed
from tests.supervisor import bodies
from tests.supervisor.lab import Lab
from tests.supervisor.test_budget import bench, side_by_side
from tests.supervisor.world import two_tasks


def folded_of(lab: Lab) -> Folded:
    folded = Folded("default", "w1")
    nowhere = Recorded("transitions", 0, 0, lab.now, None, None)
    folded.take([Entry(nowhere, each) for each in lab.history])
    return folded


@pytest.fixture
def started(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Task a is offered; elapsed time counts by the world's clock."""
    monkeypatch.setattr(clocks, "now", terminal.world.clock)
    terminal.world.worker()
    terminal.world.submit(two_tasks(limits={"max_tokens": 6000, "max_cost_gbp": "20"}))
    terminal.world.settle()
    return terminal


def test_what_an_offer_reserves_is_not_left(started: Terminal) -> None:
    """BUDGET-1: limit = spent + reserved + held + remaining, for the workflow and each task."""
    told = started.json("budget", "w1")
    assert told["workflow"]["tokens"] == {"limit": 6000, "spent": 0, "reserved": 3000, "held": 0, "remaining": 3000}
    cost = {name: Decimal(value) for name, value in told["tasks"][0]["cost_gbp"].items()}
    assert cost == {"limit": 10, "spent": 0, "reserved": 10, "held": 0, "remaining": 0}
    assert told["tasks"][0]["attempts"] == {"limit": 2, "spent": 0, "reserved": 1, "held": 0, "remaining": 1}
    assert told["bookings"] == []
    assert told["reconciled"]["holds"]


def test_a_booking_names_usage_price_and_cost(started: Terminal) -> None:
    """Each with the transition that booked it; the elapsed time runs from the first claim."""
    attempt(started.world)
    started.world.forward(90)
    told = started.json("budget", "w1")
    (only,) = told["bookings"]
    assert (only["task_id"], only["outcome"], only["cost_gbp"], only["estimated"]) == ("a", "failed", "2.020000", False)
    assert (only["price"]["name"], only["price"]["per_1k_tokens_in"]) == ("default", "1.000000")
    assert only["sequence"] == next(each.sequence for each in started.world.history() if each.settlement)
    assert told["tasks"][0]["seconds"]["spent"] == 90
    assert told["workflow"]["seconds"]["remaining"] == 3600 - 90
    assert started.run("budget", "w1") == 0
    assert "reconciles: sum of 1 bookings £2.020000 = folded total £2.020000" in started.out
    assert "A silent attempt is booked with what it reported last" in started.out


def test_unreported_usage_is_marked_as_estimated(started: Terminal) -> None:
    """The whole reservation is booked, and still adds up."""
    attempt(started.world, failed(started.world.offer(), usage=None))
    told = started.json("budget", "w1")
    assert (told["bookings"][0]["estimated"], told["bookings"][0]["cost_gbp"]) == (True, "10.000000")
    assert told["reconciled"]["holds"]
    assert started.run("budget", "w1") == 0
    assert "failed, estimated" in started.out


def test_attempts_of_every_ending_reconcile(capsys: pytest.CaptureFixture[str]) -> None:
    """BUDGET-2: silence (reported in its last heartbeat), a failure, an acceptance, and a result that came late."""
    lab = bench(side_by_side(1, limits={"max_attempts": 3}))
    first = lab.start("t0")
    lab.renew(first, Usage(tokens_in=1000))
    lab.forward(31)
    held = document(folded_of(lab), lab.now)["workflow"]["tokens"]
    assert held == {"limit": 60_000, "spent": 1000, "reserved": 0, "held": 59_000, "remaining": 0}
    lab.forward(31)
    second = lab.start("t0")
    lab.finish(second, bodies.failed(second, lab, usage=Usage(tokens_in=2000)))
    lab.result(first, bodies.failed(first, lab, usage=Usage(tokens_in=1500)))
    lab.forward(5)
    third = lab.start("t0")
    lab.finish(third, bodies.good(third, lab, usage=Usage(tokens_in=3000)))
    told = document(folded_of(lab), lab.now)
    assert [(each["outcome"], each["late"], each["cost_gbp"]) for each in told["bookings"]] == [
        ("silence", False, Decimal("1.000000")),
        ("failed", False, Decimal("2.000000")),
        ("silence", True, Decimal("0.500000")),
        ("completed", False, Decimal("3.000000")),
    ]
    assert told["reconciled"]["booked"]["cost_gbp"] == Decimal("6.5")
    assert told["reconciled"]["booked"]["tokens"] == 6500
    assert told["workflow"]["tokens"]["remaining"] == 60_000 - 6500
    assert told["reconciled"]["holds"]
    print_budget(told, load().zone)
    assert "silence, late" in capsys.readouterr().out


def test_a_difference_is_told_and_ends_with_1(started: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A penny more in the state than in the events, or a booking that is not its usage at its price."""
    attempt(started.world)
    folded = started.world.workflow()
    task = folded.tasks["a"]
    more = replace(task, spent=replace(task.spent, cost_gbp=task.spent.cost_gbp + Decimal("0.01")))
    made = list(bookings(started.world.history()))
    assert reconcile(folded, made).holds
    assert not reconcile(replace(folded, tasks=folded.tasks | {"a": more}), made).holds

    def cheaper(transitions: Any) -> Any:
        for each in bookings(transitions):
            yield type(each)(**{name: getattr(each, name) for name in each.__slots__} | {"cost_gbp": Decimal(1)})

    monkeypatch.setattr("remit.cli.budgeting.bookings", cheaper)
    assert started.json("budget", "w1", code=1)["reconciled"]["mispriced"] == [str(made[0].attempt_id)]
    assert started.run("budget", "w1") == 1
    assert "does not reconcile: sum of 1 bookings is 1 cost_gbp, the folded total is 2.020000" in started.out
    assert "was not booked with its usage at its price" in started.out


def test_time_spent_waiting_for_a_person_does_not_count() -> None:
    """A question stops the clock of the workflow."""
    lab = bench(side_by_side(1))
    offer = lab.start("t0")
    lab.forward(10)
    lab.finish(offer, bodies.needs_review(offer, lab))
    before = document(folded_of(lab), lab.now)["workflow"]["seconds"]
    lab.forward(5000)
    assert document(folded_of(lab), lab.now)["workflow"]["seconds"] == before


def test_an_unknown_workflow_is_refused(started: Terminal) -> None:
    """Exit 1, one document."""
    assert started.json("budget", "w9", code=1)["outcome"] == "refused"
