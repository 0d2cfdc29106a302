"""Dependencies, retries, leases, deadlines and cancelling: how a workflow goes on, and how it ends."""

from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any
from uuid import uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.events.base import Usage
from remit.events.inputs import ErrorClass
from remit.events.service import DispatchKind
from remit.events.transitions import Recovery, StopReason
from remit.policy.model import Timeouts
from supervisor import graph
from supervisor.recovery import Counts, Failure, back_off, verdict
from tests.supervisor import bodies
from tests.supervisor.lab import NAMES, POLICY, START, Lab, document
from tests.supervisor.test_budget import bench, side_by_side


def tree() -> dict[str, Any]:
    """B and d after a, c after b."""
    wanted = side_by_side(4)
    for task_id, before in {"t1": ["t0"], "t2": ["t1"], "t3": ["t0"]}.items():
        wanted["tasks"][task_id] = wanted["tasks"][task_id] | {"depends_on": before}
    return wanted


def test_dependants_wait_for_an_owner_and_end_with_their_prerequisite() -> None:
    """FLOW-1, first run: A fails for good and is its owner's; B, C, D wait for it; when A is stopped they end."""
    lab = bench(tree())
    offer = lab.start("t0")
    (ended,) = lab.finish(offer, bodies.failed(offer, lab, "PERMANENT_FAILED"))
    assert (ended.workflow_status.value, lab.workflow.status.value) == ("escalated", "escalated")
    assert [lab.status(each) for each in ("t1", "t2", "t3")] == ["waiting"] * 3
    assert graph.missing_prerequisites(lab.workflow.contract, lab.workflow.tasks, "t3") == ("t0",)
    lab.cancel("t0")
    assert set(lab.statuses().values()) == {"stopped"}
    reasons = [each.stop.stop_reason.value for each in lab.history if each.kind.value == "task_stopped" and each.stop]
    assert reasons == ["cancelled", *["prerequisite_failed"] * 3]
    assert lab.workflow.stop_reason is StopReason.CANCELLED


def test_only_what_depends_on_it_ends_with_a_cancelled_task() -> None:
    """FLOW-1, second run: B is cancelled, C ends with it, D goes on; the run is then not completed but stopped."""
    lab = bench(tree())
    lab.finish(lab.start("t0"), bodies.good(lab.offer("t0"), lab))
    lab.cancel("t1")
    assert lab.statuses() == {"t0": "completed", "t1": "stopped", "t2": "stopped", "t3": "queued"}
    lab.finish(lab.start("t3"), bodies.good(lab.offer("t3"), lab))
    assert (lab.workflow.status.value, lab.workflow.stop_reason) == ("stopped", StopReason.CANCELLED)


def test_a_task_without_a_live_worker_waits_without_reservation_and_escalates() -> None:
    """FLOW-1, third run: no worker: nothing is reserved; at queue_wait_seconds the owner has it."""
    lab = bench(side_by_side(1), workers=0)
    lab.forward(599)
    assert lab.status("t0") == "queued"
    (fired,) = lab.forward(2)
    assert (fired.name.value, lab.history[-1].reason) == ("queue_wait", "no_worker_available")
    assert lab.workflow.status.value == "escalated"


def test_a_runner_killed_after_each_claim_is_tried_as_often_as_allowed() -> None:
    """RETRY-1, first run: exactly two attempts, each charged once, then the owner as attempts_exhausted."""
    lab = bench(side_by_side(1, limits={"max_attempts": 2}))
    for _ in range(2):
        lab.renew(lab.start("t0"), Usage(tokens_in=700))
        lab.forward(31)
        lab.forward(31)
    assert lab.spent()[1] == 1400
    ending = next(each.ending for each in reversed(lab.history) if each.ending)
    assert (ending.recovery_reason, ending.owner) == ("attempts_exhausted", "user:priya")
    lab.restart()
    lab.forward(3000)
    assert lab.assign() == 0
    assert (lab.kinds.count("claimed"), lab.kinds.count("lease_expired")) == (2, 2)


def test_a_new_process_of_the_worker_ends_the_attempt_once() -> None:
    """RETRY-1: an attempt that a new incarnation ended counts once; its lease can't end a second time."""
    lab = bench(side_by_side(1, limits={"max_attempts": 2}), workers=1)
    offer = lab.start("t0")
    lab.register("t00", "testers")
    (fired,) = lab.forward(0)
    assert (fired.name.value, lab.status("t0")) == ("incarnation", "queued")
    lab.forward(62)
    assert lab.kinds.count("lease_expired") == 1
    assert lab.told[-1].kind is DispatchKind.LEASE_LOST
    assert lab.start("t0").attempt_id != offer.attempt_id


def test_offers_that_nobody_claims_count_nothing_and_end_at_the_queue_s_wait() -> None:
    """RETRY-1, second run; KOPS-8: no attempt is counted, the offer is routed again, at queue_wait_seconds it ends."""
    lab = bench(side_by_side(1), workers=1)
    while lab.workflow.status.value == "running":
        lab.assign()
        lab.forward(11)
    assert lab.history[-1].reason == "no_worker_available"
    assert lab.workflow.tasks["t0"].attempts_started == 0
    assert lab.workflow.tasks["t0"].attempts == ()
    assert lab.now - START < timedelta(seconds=620)


def test_one_counter_covers_every_route() -> None:
    """RETRY-3: a lost lease, a failure and a malformed result, mended in vain, are three attempts, not four."""
    lab = bench(side_by_side(1, limits={"max_attempts": 3}))
    lab.start("t0")
    lab.forward(31)
    lab.forward(31)
    second = lab.start("t0")
    lab.finish(second, bodies.failed(second, lab))
    lab.forward(10)
    third = lab.start("t0")
    (asked,) = lab.result(third, None)
    assert (asked.kind.value, lab.kinds.count("correction_requested")) == ("correction_requested", 1)
    (ended,) = lab.result(third, None, submission=2)
    assert ended.ending is not None
    assert lab.kinds.count("correction_requested") == 1
    assert (ended.attempt, ended.ending.recovery_reason) == (3, "attempts_exhausted")
    lab.forward(100)
    assert lab.assign() == 0


def test_a_worker_that_lacks_the_capability_is_passed_over_in_that_round() -> None:
    """blocked: capability reassigns at once, to another worker; the first is excluded by its own word."""
    lab = bench(side_by_side(1), workers=2)
    first = lab.start("t0")
    lab.finish(first, bodies.blocked(first, lab, "capability"))
    second = lab.start("t0")
    assert (first.worker_id, second.worker_id) == ("t00", "t01")
    dispatched = next(each.dispatch for each in reversed(lab.history) if each.dispatch)
    assert dispatched.candidates[0].excluded_by == "blocked_before"


@pytest.mark.parametrize("reason", ["input", "ambiguity"])
def test_what_only_a_person_can_tell_goes_to_the_owner(reason: str) -> None:
    """blocked: input or ambiguity is the owner's."""
    lab = bench(side_by_side(1))
    offer = lab.start("t0")
    (ended,) = lab.finish(offer, bodies.blocked(offer, lab, reason))
    assert ended.ending is not None
    assert (ended.ending.recovery, ended.ending.recovery_reason) == (Recovery.ESCALATE, f"blocked:{reason}")


# leases and deadlines


def test_a_heartbeat_keeps_the_lease_and_the_deadline_ends_it_all_the_same() -> None:
    """LEASE-8: renewals every 5 s for ever: at 60 s the attempt ends as deadline; later renewals renew nothing."""
    lab = bench(side_by_side(1, limits={"deadline_seconds": 60}))
    offer = lab.start("t0")
    for second in range(0, 59, 5):
        lab.renew(offer, Usage(), progress=second)
        assert lab.forward(5) == [] or second == 55
    assert lab.history[-1].reason == "deadline"
    assert lab.status("t0") == "escalated"
    assert lab.leases.get(offer.attempt_id) is None


def test_a_worker_that_gets_nowhere_loses_its_lease() -> None:
    """LEASE-8: renewals whose progress does not change for the no-progress time end the lease as no_progress."""
    lab = bench(side_by_side(1, limits={"deadline_seconds": 3000}))
    offer = lab.start("t0")
    fired: list[Any] = []
    while not fired:
        lab.renew(offer, Usage(), progress=1)
        fired = lab.forward(5)
    assert [each.name.value for each in fired] == ["no_progress"]
    assert 300 <= (lab.now - START).total_seconds() <= 306


def test_an_expired_lease_ends_once() -> None:
    """LEASE-6: three sweeps find one expiry; the attempt is counted at its start, one re-dispatch follows."""
    lab = bench(side_by_side(1))
    lab.start("t0")
    assert [len(lab.forward(31)), len(lab.forward(0)), len(lab.forward(0))] == [1, 0, 0]
    lab.forward(31)
    assert (lab.assign(), lab.assign()) == (1, 0)
    assert lab.workflow.tasks["t0"].attempts_started == 1


def test_a_heartbeat_after_the_end_is_no_lease() -> None:
    """LEASE-10: a renewal after acceptance, then silence: same state, no expiry, nothing dispatched."""
    lab = bench(side_by_side(1))
    offer = lab.start("t0")
    lab.finish(offer, bodies.good(offer, lab))
    before = lab.workflow
    lab.renew(offer, Usage(tokens_in=9))
    assert lab.forward(150) == []
    assert (lab.workflow, lab.leases.get(offer.attempt_id)) == (before, None)


# cancelling


def test_a_cancelled_run_starts_nothing_more() -> None:
    """FLOW-4 (d): queued, offered and running tasks end at once as cancelled; nothing is dispatched after it."""
    lab = bench(side_by_side(5, whole={"max_workers": 3}))
    lab.assign()
    lab.lease(lab.offers[0], "claim")
    lab.cancel(minutes_spent=Decimal(3))
    assert set(lab.statuses().values()) == {"stopped"}
    assert (lab.workflow.stop_reason, lab.history[-1].minutes_spent) == (StopReason.CANCELLED, Decimal(3))
    assert [each.kind for each in lab.told] == [DispatchKind.CANCEL] * 3
    lab.forward(4000)
    assert lab.assign() == 0
    (note,) = lab.result(lab.offers[0], bodies.good(lab.offers[0], lab))
    assert note.kind.value == "late_usage"


def test_what_ended_is_not_cancelled_again() -> None:
    """A cancel after the end, or of no task, is a note."""
    lab = bench(side_by_side(1))
    assert lab.cancel("other")[0].kind.value == "stale"
    lab.cancel()
    assert [each.kind.value for each in lab.cancel()] == ["already_decided"]


# the recovery table


def test_waits_are_spread_and_never_shorter_than_asked() -> None:
    """RETRY-6: none before the minimum, none of those that asked before 20 s, no two forced equal, spread evenly."""
    times = Timeouts()
    causes = [uuid5(NAMES, str(number)) for number in range(300)]
    waits = sorted(back_off(2, times, cause).total_seconds() for cause in causes)
    base = 2 * times.backoff_min_seconds
    assert base <= waits[0]
    assert waits[-1] < 2 * base
    assert all(one < other for one, other in pairwise(waits))
    tenths = [sum(base * (1 + n / 10) <= wait < base * (1.1 + n / 10) for wait in waits) for n in range(10)]
    assert max(tenths) <= 60
    assert all(back_off(1, times, cause, 20).total_seconds() >= 20 for cause in causes)
    assert len({back_off(40, times, cause) for cause in causes}) == len(causes)


def test_thirty_that_fail_at_once_come_back_spread() -> None:
    """RETRY-6: the due times as the transitions record them: ten not before 20 s, twenty spread, a replay the same."""
    whole = {"max_workers": 30, "max_tasks": 30, "max_cost_gbp": "900", "max_tokens": 900_000}
    text = POLICY.replace("testers: {", "testers: {max_parallel: 30, ")
    lab = bench(side_by_side(30, whole=whole), workers=30, text=text)
    lab.assign()
    failed_at = lab.now
    for number, offer in enumerate(lab.offers):
        lab.lease(offer, "claim")
        body = bodies.failed(offer, lab)
        lab.finish(offer, replace(body, retry_after_seconds=20) if number < 10 else body)
    due = [each.ending.not_before for each in lab.history if each.ending and each.ending.not_before]
    waits = [(each - failed_at).total_seconds() for each in due]
    assert len(waits) == 30
    assert min(waits[:10]) >= 20
    assert min(waits[10:]) >= 1
    tenths = [sum(1 + n / 10 <= wait < 1.1 + n / 10 for wait in waits[10:]) for n in range(10)]
    assert (sum(tenths), max(tenths) <= 7) == (20, True)
    assert len(set(waits)) == 30
    lab.check_replay()


failures = st.builds(
    Failure,
    st.sampled_from(ErrorClass),
    st.sampled_from(["failed", "refused", "malformed", "silence", "deadline", "blocked:capability"]),
    st.booleans(),
    st.integers(0, 2**62),
)
counted = st.builds(
    Counts, st.integers(0, 9), st.just(3), st.none() | st.just("code"), st.integers(0, 9), max_reworks=st.just(2)
)


@given(failures, counted)
def test_the_recovery_table_is_total_and_bounded(failure: Failure, counts: Counts) -> None:
    """Every failure has a verdict; a spent count never yields another attempt, and an escalation names its reason."""
    found = verdict(failure, counts, Timeouts(), now=START, cause=NAMES)
    assert found == verdict(failure, counts, Timeouts(), now=START, cause=NAMES)
    if found.recovery in {Recovery.RETRY, Recovery.REASSIGN}:
        assert counts.attempts < 3
    if found.recovery is Recovery.REWORK:
        assert counts.reworks < 2
        assert found.rework_task == "code"
    assert (found.recovery is Recovery.ESCALATE) == (found.reason is not None)


def test_law_8_verdicts_do_not_depend_on_the_order_across_tasks() -> None:
    """Law 8, in small: two tasks' results in either order lead to the same verdicts and the same costs."""
    ends = []
    for order in ([0, 1], [1, 0]):
        lab = bench(side_by_side(2))
        offers = [lab.start("t0"), lab.start("t1")]
        for number in order:
            lab.finish(offers[number], bodies.good(offers[number], lab))
        ends.append((lab.workflow.status, lab.statuses(), lab.spent()))
    assert ends[0] == ends[1]


def test_a_lab_without_workflow_is_at_rest() -> None:
    """Nothing fires before a contract was accepted."""
    assert Lab().forward(10_000) == []


def test_branches_are_brought_together_by_a_task_that_integrates() -> None:
    """Two revisions side by side, then one that descends from both: it is the final one, and the tests are on it."""
    lab = Lab()
    for worker_id, pool in {"c1": "coders", "c2": "coders", "t1": "testers"}.items():
        lab.register(worker_id, pool)
    wanted = document()
    code = wanted["tasks"]["code"]
    right = code | {"permissions": {"repository": "read-write:right"}}
    both = {"left": "task://code/revision", "right": "task://right/revision"}
    join = right | {"depends_on": ["code", "right"], "inputs": both}
    test = wanted["tasks"]["test"] | {"depends_on": ["join"], "inputs": {"revision": "task://join/revision"}}
    wanted["tasks"] = {"code": code, "right": right, "join": join, "test": test | {"rework": "join"}}
    wanted["definition_of_done"] = ["committed", "tests pass"]
    wanted["checks"] = {text: wanted["checks"][text] for text in wanted["definition_of_done"]}
    wanted["checks"]["committed"][0]["task"] = "join"
    lab.submit(wanted)
    assert lab.assign() == 2  # at once, each on its own branch
    for task_id in ("code", "right", "join", "test"):
        lab.finish(lab.start(task_id), bodies.good(lab.offer(task_id), lab))
    gate = lab.history[-1].gate
    assert gate is not None
    assert [each.revision for each in gate.final_subjects] == [bodies.revision_of(lab.offer("join"))]
