"""Budgets: reserved with the offer, settled with the result, held after a loss, charged when late, never passed."""

from decimal import Decimal
from typing import Any

import pytest

from remit.events.base import Usage
from remit.events.transitions import StopReason
from supervisor import limits
from supervisor.state import Workflow
from tests.supervisor import bodies
from tests.supervisor.lab import POLICY, Lab


def side_by_side(tasks: int, **said: Any) -> dict[str, Any]:
    """So many tasks that may run together, each with these limits; the first bears the workflow's one check."""
    names = [f"t{number}" for number in range(tasks)]
    task = {"task_type": "test", "outputs": {"report": "value"}, "permissions": {"repository": "none"}}
    check = {"id": "works", "kind": "command", "task": "t0", "command": "lint", "holds_at": "none"}
    return {
        "schema_version": "workflow-v1",
        "workflow_id": "w1",
        "owner": "user:priya",
        "objective": "Try it",
        "definition_of_done": ["it works"],
        "commands": {"lint": {"argv": ["lint"]}},
        "checks": {"it works": [check]},
        "limits": said.pop("whole", {}),
        "tasks": {name: task | {"objective": name} | said for name in names},
    }


def bench(wanted: dict[str, Any], workers: int = 12, text: str = POLICY) -> Lab:
    lab = Lab(text)
    for number in range(workers):
        lab.register(f"t{number:02}", "testers")
    found = lab.submit(wanted)
    assert found[0].kind.value == "contract_accepted", found[0].rejection
    return lab


def running(lab: Lab) -> int:
    return len(limits.open_attempts(lab.workflow))


def test_each_offer_reserves_its_limit_so_that_three_run_of_ten() -> None:
    """BUDGET-1: 12,000 tokens, ten tasks of 4,000: three at once; one more when 4,000 are free, not 3,000."""
    lab = bench(side_by_side(10, whole={"max_tokens": 12_000}, limits={"max_tokens": 4_000}))
    lab.assign()
    assert running(lab) == 3
    for offer in lab.offers[:3]:
        lab.lease(offer, "claim")
    used = Usage(tokens_in=1000)
    lab.finish(lab.offers[0], bodies.good(lab.offers[0], lab, usage=used))
    assert limits.available(lab.workflow).tokens == 3000
    assert lab.assign() == 0
    lab.finish(lab.offers[1], bodies.good(lab.offers[1], lab, usage=used))
    assert limits.available(lab.workflow).tokens == 6000
    assert lab.assign() == 1


def test_a_task_that_its_own_workflow_holds_back_does_not_wait_for_a_worker() -> None:
    """Queue wait is for a worker: with budget or the workers limit in between, it begins when these are free."""
    lab = bench(side_by_side(3, whole={"max_workers": 1}))
    for number in range(3):
        offer = lab.start(f"t{number}")
        for _ in range(30):
            lab.renew(offer, Usage(), progress=len(lab.history) + lab.now.minute * 60 + lab.now.second)
            lab.forward(29)
        lab.finish(offer, bodies.good(offer, lab))
    assert lab.workflow.status.value == "accepted"


def test_attempts_of_every_ending_add_up() -> None:
    """BUDGET-2: 1,000 of a lost lease, 2,000 of a failure and 3,000 accepted are 6,000, whatever is sent twice."""
    lab = bench(side_by_side(1, limits={"max_attempts": 3}))
    first = lab.start("t0")
    lab.renew(first, Usage(tokens_in=1000))
    lab.forward(31)
    assert limits.reserved_by(lab.workflow.tasks.values()).tokens == 11_000 + 48_000
    lab.forward(31)
    assert limits.reserved_by(lab.workflow.tasks.values()).tokens == 0
    second = lab.start("t0")
    lab.finish(second, bodies.failed(second, lab, usage=Usage(tokens_in=2000)))
    lab.result(second, bodies.failed(second, lab, usage=Usage(tokens_in=2000)))
    lab.forward(5)
    third = lab.start("t0")
    lab.finish(third, bodies.good(third, lab, usage=Usage(tokens_in=3000)))
    assert lab.workflow.status.value == "accepted"
    assert lab.spent()[:2] == (Decimal("6.000000"), 6000)


def test_what_is_held_is_spent_by_nobody_else() -> None:
    """While a lost lease's rest is held the task waits for it; nothing stops the workflow meanwhile."""
    lab = bench(side_by_side(1))
    offer = lab.start("t0")
    lab.renew(offer, Usage(tokens_in=10))
    lab.forward(31)
    assert lab.assign() == 0
    assert lab.workflow.open
    assert [each.name.value for each in lab.forward(31)] == ["held"]
    assert lab.assign() == 1


def test_where_nobody_saw_a_report_the_whole_reservation_is_booked() -> None:
    """A supervisor for which the leases are lost books all of it as estimated; the workflow then has none left."""
    lab = bench(side_by_side(1))
    offer = lab.start("t0")
    lab.restart(lease_log=False)
    lab.forward(31)
    assert offer.offer is not None
    assert lab.spent()[1] == offer.offer.remaining.tokens
    assert lab.workflow.stop_reason is StopReason.COST_EXHAUSTED


LIMITS = {
    "max_cost_gbp": ("1.00", Usage(cost_gbp=Decimal("1.01")), StopReason.COST_EXHAUSTED),
    "max_tokens": (1000, Usage(tokens_in=1001), StopReason.TOKENS_EXHAUSTED),
    "max_tool_calls": (10, Usage(tool_calls=11), StopReason.TOOL_CALLS_EXHAUSTED),
    "max_turns": (5, Usage(turns=6), StopReason.TURNS),
}


@pytest.mark.parametrize("name", LIMITS)
def test_after_an_overrun_nothing_is_dispatched_ever(name: str) -> None:
    """BUDGET-7: a limit passed by an overrun: running attempts end, are charged and start nothing, restart or not."""
    limit, used, reason = LIMITS[name]
    lab = bench(side_by_side(3, whole={name: limit, "max_workers": 1}, limits={name: limit, "max_attempts": 2}))
    offer = lab.start("t0")
    (ended,) = (lab.finish(offer, bodies.good(offer, lab, usage=used))[0],)
    assert ended.kind.value == "result_refused"
    assert ended.settlement is not None
    assert ended.settlement.overrun
    if name == "max_turns":  # of each task for itself: the others have theirs
        lab.cancel("t1")
        lab.cancel("t2")
    for round_ in range(10):
        lab.forward(61)
        assert lab.assign() == 0
        if round_ == 5:
            lab.restart()
    assert lab.workflow.stop_reason is reason or reason is StopReason.TURNS
    assert lab.kinds.count("dispatched") == 1


SHARED = {
    "max_cost_gbp": ("9.00", "3.00", Usage(cost_gbp=Decimal("9.01"))),
    "max_tokens": (9000, 3000, Usage(tokens_in=9001)),
    "max_tool_calls": (90, 30, Usage(tool_calls=91)),
}


@pytest.mark.parametrize("name", SHARED)
def test_two_running_and_three_ready_when_the_limit_is_passed(name: str) -> None:
    """BUDGET-7: the other running attempt ends at its own end, is charged, and starts none of the three."""
    whole, each, used = SHARED[name]
    lab = bench(side_by_side(5, whole={name: whole, "max_workers": 2}, limits={name: each}))
    lab.assign()
    first, second = lab.offers
    for offer in (first, second):
        lab.lease(offer, "claim")
    lab.finish(first, bodies.good(first, lab, usage=used))
    for round_ in range(10):
        assert lab.assign() == 0
        if round_ == 3:
            lab.finish(second, bodies.good(second, lab, usage=Usage(tool_calls=1)))
        if round_ == 5:
            lab.restart()
        lab.forward(1)
    assert lab.kinds.count("dispatched") == 2
    assert lab.workflow.tasks["t1"].spent.tool_calls == 1
    assert not lab.workflow.open


def test_attempts_are_a_limit_like_any_other() -> None:
    """BUDGET-7: a task whose attempts are used up is dispatched no more, whatever comes and however often."""
    lab = bench(side_by_side(1, limits={"max_attempts": 1}))
    offer = lab.start("t0")
    lab.finish(offer, bodies.failed(offer, lab))
    for _ in range(10):
        lab.forward(61)
        assert lab.assign() == 0
        lab.result(offer, bodies.good(offer, lab))
    lab.restart()
    assert (lab.assign(), lab.kinds.count("dispatched"), lab.status("t0")) == (0, 1, "escalated")


def test_usage_reported_late_can_stop_a_workflow_too() -> None:
    """BUDGET-7: late usage beyond the limit is booked, and nothing is dispatched after it."""
    lab = bench(side_by_side(2, whole={"max_tokens": 4000, "max_workers": 1}, limits={"max_tokens": 2000}))
    offer = lab.start("t0")
    lab.forward(31)
    lab.forward(31)
    lab.result(offer, bodies.good(offer, lab, usage=Usage(tokens_in=4001)))
    assert lab.spent()[1] == 4001
    for _ in range(10):
        assert lab.assign() == 0
        lab.forward(61)
    assert lab.workflow.stop_reason is StopReason.TOKENS_EXHAUSTED


def test_the_clock_is_a_limit_like_any_other() -> None:
    """BUDGET-7: at the workflow's deadline what runs is cancelled and booked, its late result starts nothing."""
    lab = bench(side_by_side(3, whole={"deadline_seconds": 100}))
    offer = lab.start("t0")
    lab.renew(offer, Usage(tokens_in=5))
    lab.forward(101)
    assert lab.workflow.stop_reason is StopReason.ELAPSED
    assert lab.assign() == 0
    (note,) = lab.result(offer, bodies.good(offer, lab, usage=Usage(tokens_in=50)))
    assert (note.kind.value, lab.spent()[1]) == ("late_usage", 50)


def test_acceptance_is_judged_before_stops() -> None:
    """BUDGET-8: the last allowed call that also satisfies the gate is accepted."""
    lab = bench(side_by_side(1, whole={"max_tool_calls": 10}))
    offer = lab.start("t0")
    lab.finish(offer, bodies.good(offer, lab, usage=Usage(tool_calls=10)))
    assert lab.workflow.stop_reason is StopReason.ACCEPTED


def test_two_limits_at_once_have_a_fixed_order() -> None:
    """BUDGET-8: one primary reason by the documented order, the others listed; a replay gives the same."""
    whole = {"max_cost_gbp": "1.00", "max_tokens": 1000}
    lab = bench(side_by_side(1, whole=whole, limits={"max_attempts": 2}))
    offer = lab.start("t0")
    lab.finish(offer, bodies.good(offer, lab, usage=Usage(tokens_in=2000)))
    lab.forward(61)
    stop = lab.history[-1].stop
    assert stop is not None
    assert (stop.stop_reason, stop.others) == (StopReason.COST_EXHAUSTED, (StopReason.TOKENS_EXHAUSTED,))
    lab.check_replay()


def test_an_unclaimed_offer_that_is_cancelled_reserves_nothing() -> None:
    """FLOW-4 (b): cancelling an offered task frees its reservation, and the other task runs on it."""
    lab = bench(side_by_side(2, whole={"max_tokens": 4000}, limits={"max_tokens": 4000}))
    lab.assign()
    lab.cancel("t0")
    assert limits.available(lab.workflow).tokens == 4000
    assert lab.assign() == 1
    (note,) = lab.lease(lab.offer("t0"), "claim")
    assert note.reason == "late_claim"


def test_a_cancelled_worker_that_never_looks_holds_its_rest_for_a_while() -> None:
    """FLOW-4 (c): what a running attempt did not report stays held until its grace is over, even after the end."""
    lab = bench(side_by_side(2, whole={"max_tokens": 8000}, limits={"max_tokens": 4000}))
    offer = lab.start("t0")
    lab.renew(offer, Usage(tokens_in=1000))
    lab.cancel("t0")
    assert lab.status("t0") == "stopped"
    attempt = lab.workflow.tasks["t0"].attempts[0]
    assert attempt.held is not None
    assert attempt.held.tokens == 3000
    lab.forward(31)
    assert limits.reserved_by((lab.workflow.tasks["t0"],)).tokens == 0


def test_every_task_s_tokens_are_a_number_to_the_end() -> None:
    """Spent and reserved stay whole and known over a whole workflow."""
    lab = bench(side_by_side(4))
    for number in range(4):
        offer = lab.start(f"t{number}")
        lab.finish(offer, bodies.good(offer, lab))
    state = lab.workflow
    assert isinstance(state, Workflow)
    assert limits.reserved_by(state.tasks.values()) == limits.NOTHING
    assert limits.spent_by(state).tokens == 6000
