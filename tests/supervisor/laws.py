"""The laws of the design that one transition, or one standing state, is held to."""

from decimal import Decimal

from remit.events.base import Amounts, Usage
from remit.events.transitions import NOTES, Transition, TransitionKind, WorkflowStatus
from supervisor import limits
from supervisor.inputs import Timer
from supervisor.stalls import stalls
from supervisor.state import (
    Quarantined,
    State,
    Stopped,
    Workflow,
)

OPEN = {
    "waiting", "queued", "offered", "running", "awaiting_review", "correcting", "backing_off", "awaiting_decision",
    "escalated",
}  # fmt: skip
DRAWN: dict[str, set[str]] = {
    "waiting": {"queued"},
    "queued": {"offered"},
    "offered": {"running", "queued"},
    # Where there is nothing to inspect, a result is judged at once.
    "running": {"awaiting_review", "queued", "backing_off", "completed", "correcting", "awaiting_decision"},
    "awaiting_review": {"completed", "backing_off", "queued", "correcting", "awaiting_decision"},
    "correcting": {"awaiting_review", "queued", "backing_off", "completed", "awaiting_decision"},
    "backing_off": {"queued"},
    "awaiting_decision": {"queued"},
    "escalated": {"queued", "completed"},
    "completed": {"queued"},
    "stopped": set(),
    "quarantined": set(),
}
BY_REWORK = OPEN | {"completed"}  # what is downstream of a defect goes back to waiting
STILL = {"waiting", "queued", "backing_off", "completed"}  # nobody works on it, nobody has it
ANY_OPEN = {"escalated", "stopped", "quarantined"}


def step(before: State, transition: Transition, after: State) -> None:
    """What holds for every single transition."""
    assert transition.sequence == before.sequence + 1 == after.sequence
    assert transition.version == before.version + (transition.kind not in NOTES) == after.version
    if not isinstance(after, Workflow):
        assert transition.kind in NOTES
        return
    assert transition.workflow_status == after.status
    if isinstance(before, Workflow):
        _arrows(before, transition, after)
        _terminal(before, transition, after)
        _changes(before, transition, after)


def _arrows(before: Workflow, transition: Transition, after: Workflow) -> None:
    """Law 2: status moves only along drawn arrows."""
    for task_id, task in after.tasks.items():
        other = task.status.value
        if task_id not in before.tasks:
            assert transition.kind is TransitionKind.CONTRACT_AMENDED
            assert other in {"waiting", "queued"}, f"{task_id} was born {other}"
            continue
        one = before.tasks[task_id].status.value
        drawn = DRAWN[one] | (ANY_OPEN if one in OPEN else set())
        if one == "completed" and transition.reason == "requirement_not_held":
            drawn = drawn | {"escalated"}  # the gate found that what was accepted does not hold
        if (transition.ending and transition.ending.recovery == "rework") or transition.reason == "superseded":
            drawn = drawn | ({"waiting"} if one in BY_REWORK - {"escalated"} else set())
        if transition.kind is TransitionKind.CONTRACT_AMENDED and one in STILL:
            drawn = drawn | {"waiting", "queued"}  # what it rests on is another now
        assert one == other or other in drawn, f"{transition.kind}: {task_id} went from {one} to {other}"


def _terminal(before: Workflow, transition: Transition, after: Workflow) -> None:
    """Law 5: terminal stays terminal."""
    for task_id, task in before.tasks.items():
        if task_id not in after.tasks:
            assert transition.kind is TransitionKind.CONTRACT_AMENDED
            assert not task.attempts, f"{task_id} is gone, with what was booked for it"
            continue
        if isinstance(task.phase, Stopped | Quarantined):
            assert after.tasks[task_id].phase == task.phase
    if not before.open:
        assert (after.status, after.stop_reason) == (before.status, before.stop_reason)
        assert transition.kind in NOTES | {TransitionKind.RESERVATION_RELEASED}
        assert {t: task.phase for t, task in after.tasks.items()} == {t: k.phase for t, k in before.tasks.items()}
    if not after.open:
        assert after.stop_reason is not None
        assert (after.status is WorkflowStatus.ACCEPTED) == (after.stop_reason == "accepted")


def _changes(before: Workflow, transition: Transition, after: Workflow) -> None:
    """A view that only reads `changes` sees every status that moved."""
    told = {each.task_id: (each.status, each.round) for each in transition.changes}
    moved = {
        task_id: (task.status, task.round)
        for task_id, task in after.tasks.items()
        if task_id not in before.tasks
        or (task.status, task.round) != (before.tasks[task_id].status, before.tasks[task_id].round)
    }
    assert told == moved


def bends(transition: Transition) -> bool:
    """Whether limits may be passed from here on: by an overrun, a late report, or because they were lowered."""
    booked = transition.settlement
    late = transition.kind is TransitionKind.LATE_USAGE
    return bool(booked and booked.overrun) or late or _lowers(transition)


def _lowers(transition: Transition) -> bool:
    """Whether it may lower limits under what runs: proposed tasks that are taken up change nobody's."""
    by = transition.contract.approved_by if transition.contract else None
    return transition.kind is TransitionKind.CONTRACT_AMENDED and by != "rule:spawn_plan"


def standing(workflow: Workflow, history: list[Transition], *, bent: bool) -> None:
    """Law 7: attempts, reworks, workers, cost and tokens never pass the limits, save a recorded overrun."""
    contract = workflow.contract
    for task_id, task in workflow.tasks.items():
        most = contract.tasks[task_id].limits
        assert most.max_attempts is None or task.attempts_started <= most.max_attempts + task.granted_attempts
        assert most.max_reworks is None or task.reworks <= most.max_reworks + task.granted_reworks
        if not bent:
            _within(limits.wanted(workflow, task_id))
    if not any(map(_lowers, history)):  # else those that an amendment did not touch run on
        assert len(limits.open_attempts(workflow)) <= (contract.limits.max_workers or 10**9)
    if not bent:
        _within(limits.available(workflow))
    _reconciled(workflow, history)


def _within(left: Amounts) -> None:
    kinds = (left.cost_gbp, left.tokens, left.tool_calls, left.turns)
    assert all(each is None or each >= 0 for each in kinds), f"spent or reserved too much: {left}"


def _reconciled(workflow: Workflow, history: list[Transition]) -> None:
    """What is spent is the sum of what the transitions booked, to the penny; ended attempts hold nothing unknown."""
    booked: dict[object, Usage] = {}
    costs: dict[str, Decimal] = {}
    for each in history:
        if each.settlement is not None:
            booked[each.attempt_id] = each.settlement.usage
            costs[each.task_id or ""] = costs.get(each.task_id or "", Decimal(0)) + each.settlement.cost_gbp
        if each.kind is TransitionKind.LATE_USAGE and each.note and each.note.usage is not None:
            booked[each.attempt_id] = each.note.usage
            costs[each.task_id or ""] = costs.get(each.task_id or "", Decimal(0)) + (each.note.cost_gbp or 0)
    for task in workflow.tasks.values():
        mine = [usage for attempt in task.attempts if (usage := booked.get(attempt.attempt_id)) is not None]
        assert task.spent.cost_gbp == costs.get(task.task_id, Decimal(0))
        assert task.spent.tokens == sum(each.tokens_in + each.tokens_out for each in mine)
        assert task.spent.tool_calls == sum(each.tool_calls for each in mine)
        assert task.spent.turns == sum(each.turns for each in mine)
        current = task.current()
        assert all(each.outcome is not None or each is current for each in task.attempts), "an attempt never ended"


def no_lost_work(workflow: Workflow, timers: list[Timer]) -> None:
    """Law 6: every open task has a pending dispatch, a deadline or a person."""
    if not workflow.open:
        assert not limits.open_attempts(workflow)
    assert not (found := list(stalls(workflow, timers))), found
