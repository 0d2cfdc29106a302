"""The laws of the design that one transition, or one standing state, is held to. Pure; the tests import it too."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from uuid import UUID

from remit.events.base import Amounts, Usage
from remit.events.transitions import NOTES, Transition, TransitionKind, WorkflowStatus

from .errors import LawBrokenError
from .parts import inputs, limits, stalls, state

OPEN = frozenset(
    {
        *("waiting", "queued", "offered", "running", "awaiting_review", "correcting", "backing_off"),
        *("awaiting_decision", "escalated"),
    }
)
_JUDGED = frozenset({"completed", "backing_off", "queued", "correcting", "awaiting_decision", "failed"})
DRAWN: Mapping[str, frozenset[str]] = {
    "waiting": frozenset({"queued"}),
    "queued": frozenset({"offered"}),
    "offered": frozenset({"running", "queued"}),
    "running": _JUDGED | {"awaiting_review"},  # where there is nothing to inspect, a result is judged at once
    "awaiting_review": _JUDGED,
    "correcting": _JUDGED - {"correcting"} | {"awaiting_review"},
    "backing_off": frozenset({"queued"}),
    "awaiting_decision": frozenset({"queued", "completed", "failed"}),
    "escalated": frozenset({"queued", "completed", "failed"}),
    "completed": frozenset({"queued"}),
    "failed": frozenset(),
    "stopped": frozenset(),
    "quarantined": frozenset(),
}
STILL = frozenset({"waiting", "queued", "backing_off", "completed"})  # nobody works on it, nobody has it
BY_REWORK = OPEN - {"escalated"} | {"completed"}  # what is downstream of a defect goes back to waiting
ANY_OPEN = frozenset({"escalated", "stopped", "quarantined"})


def hold(condition: object, law: str, found: str) -> None:
    """LawBrokenError unless the condition holds."""
    if not condition:
        raise LawBrokenError(law, found)


def step(before: state.State, transition: Transition, after: state.State) -> None:
    """What holds for every single transition: laws 2 and 5."""
    sequences = (transition.sequence, after.sequence)
    hold(sequences == (before.sequence + 1,) * 2, "2 (evolvable)", f"sequence {sequences} after {before.sequence}")
    version = before.version + (transition.kind not in NOTES)
    found = (transition.version, after.version)
    hold(found == (version,) * 2, "2 (evolvable)", f"version {found}, it should be {version}")
    if not isinstance(after, state.Workflow):
        hold(transition.kind in NOTES, "2 (evolvable)", f"{transition.kind} before there is a workflow")
        return
    hold(transition.workflow_status == after.status, "2 (evolvable)", f"{transition.kind} tells another status")
    if isinstance(before, state.Workflow):
        _arrows(before, transition, after)
        _terminal(before, transition, after)
        _changes(before, transition, after)
        _counts(before, transition, after)


def _arrows(before: state.Workflow, transition: Transition, after: state.Workflow) -> None:
    """Law 2: status moves only along drawn arrows."""
    amended = transition.kind is TransitionKind.CONTRACT_AMENDED
    for task_id, task in after.tasks.items():
        other = task.status.value
        if (known := before.tasks.get(task_id)) is None:
            hold(
                amended and other in {"waiting", "queued"},
                "2 (arrows)",
                f"{transition.kind}: {task_id} is born {other}",
            )
            continue
        one = known.status.value
        drawn = DRAWN[one] | (ANY_OPEN if one in OPEN else frozenset())
        if one == "completed" and transition.reason == "requirement_not_held":
            drawn |= {"escalated"}  # the gate found that what was accepted does not hold
        if (transition.ending and transition.ending.recovery == "rework") or transition.reason == "superseded":
            drawn |= {"waiting"} if one in BY_REWORK else frozenset()
        if transition.kind is TransitionKind.TASK_RESOLVED and one in BY_REWORK | {"escalated"}:
            drawn |= {"waiting"}  # what it needs was sent back meanwhile, or it needs what is made anew
        if amended and one in STILL:
            drawn |= {"waiting", "queued"}  # what it rests on is another now
        hold(one == other or other in drawn, "2 (arrows)", f"{transition.kind}: {task_id} went from {one} to {other}")


def _terminal(before: state.Workflow, transition: Transition, after: state.Workflow) -> None:
    """Law 5: terminal stays terminal."""
    law = "5 (terminal)"
    for task_id, task in before.tasks.items():
        if task_id not in after.tasks:
            removed = transition.kind is TransitionKind.CONTRACT_AMENDED and not task.attempts
            hold(removed, law, f"{task_id} is gone, with what was booked for it")
        elif isinstance(task.phase, state.Stopped | state.Quarantined):
            hold(after.tasks[task_id].phase == task.phase, law, f"{task_id} had ended and moved by {transition.kind}")
    if not before.open:
        ended = (before.status, before.stop_reason)
        hold((after.status, after.stop_reason) == ended, law, f"the workflow had ended and moved by {transition.kind}")
        allowed = transition.kind in NOTES | {TransitionKind.RESERVATION_RELEASED}
        hold(allowed, law, f"{transition.kind} after the workflow's end")
        phases = [{key: task.phase for key, task in each.tasks.items()} for each in (before, after)]
        hold(phases[0] == phases[1], law, f"a task moved after the workflow's end by {transition.kind}")
    if not after.open:
        hold(after.stop_reason is not None, law, "an ended workflow has no stop reason")
        accepted = (after.status is WorkflowStatus.ACCEPTED, after.stop_reason == "accepted")
        hold(accepted[0] == accepted[1], law, f"{after.status} with the stop reason {after.stop_reason}")


def _changes(before: state.Workflow, transition: Transition, after: state.Workflow) -> None:
    """A view that only reads `changes` sees every status that moved."""
    told = {each.task_id: (each.status, each.round) for each in transition.changes}
    known = {task_id: (task.status, task.round) for task_id, task in before.tasks.items()}
    moved = {
        task_id: (task.status, task.round)
        for task_id, task in after.tasks.items()
        if (task.status, task.round) != known.get(task_id)
    }
    hold(told == moved, "2 (changes)", f"{transition.kind} tells of {told}, and what moved is {moved}")


def _counts(before: state.Workflow, transition: Transition, after: state.Workflow) -> None:
    """Law 7: only a defect of the work and a person's word give attempts back, no amendment by rule does."""
    sent_back = transition.ending is not None and transition.ending.recovery == "rework"
    for task_id, task in after.tasks.items():
        earlier = before.tasks.get(task_id)
        kept = earlier is None or task.attempts_started >= earlier.attempts_started
        allowed = kept or sent_back or transition.resolution is not None
        hold(allowed, "7 (bounded)", f"{transition.kind}: {task_id} has its attempts back")


def bends(transition: Transition) -> bool:
    """Whether limits may be passed from here on: by an overrun, a late report, or because they were lowered."""
    booked = transition.settlement
    late = transition.kind is TransitionKind.LATE_USAGE
    return bool(booked and booked.overrun) or late or lowers(transition)


def lowers(transition: Transition) -> bool:
    """Whether it may lower limits under what runs: proposed tasks that are taken up change nobody's."""
    by = transition.contract.approved_by if transition.contract else None
    return transition.kind is TransitionKind.CONTRACT_AMENDED and by != "rule:spawn_plan"


def standing(workflow: state.Workflow, history: Sequence[Transition], *, bent: bool) -> None:
    """Law 7: attempts, reworks, workers, cost and tokens never pass the limits, save a recorded overrun."""
    law, contract = "7 (bounded)", workflow.contract
    for task_id, task in workflow.tasks.items():
        most = contract.tasks[task_id].limits
        allowed = None if most.max_attempts is None else most.max_attempts + task.granted_attempts
        hold(allowed is None or task.attempts_started <= allowed, law, f"{task_id} began more than {allowed} attempts")
        allowed = None if most.max_reworks is None else most.max_reworks + task.granted_reworks
        hold(allowed is None or task.reworks <= allowed, law, f"{task_id} was reworked more than {allowed} times")
        if not bent:
            _within(limits.wanted(workflow, task_id))
    if not any(map(lowers, history)):  # else those that an amendment did not touch run on
        at_work = len(limits.open_attempts(workflow))
        hold(at_work <= (contract.limits.max_workers or at_work), law, f"{at_work} attempts at once")
    if not bent:
        _within(limits.available(workflow))
    reconciled(workflow, history)


def _within(left: Amounts) -> None:
    kinds = (left.cost_gbp, left.tokens, left.tool_calls, left.turns)
    hold(all(each is None or each >= 0 for each in kinds), "7 (bounded)", f"spent or reserved too much: {left}")


def reconciled(workflow: state.Workflow, history: Sequence[Transition]) -> None:
    """What is spent is the sum of what the transitions booked, to the penny; ended attempts hold nothing unknown."""
    booked: dict[UUID | None, Usage] = {}
    costs: dict[str, Decimal] = {}
    for each in history:
        note = each.note if each.kind is TransitionKind.LATE_USAGE else None
        told = note.usage if note is not None else None
        usage = each.settlement.usage if each.settlement else told
        late = note.cost_gbp if note is not None else None
        cost = each.settlement.cost_gbp if each.settlement else late or Decimal(0)
        if usage is not None:
            booked[each.attempt_id] = usage
            costs[each.task_id or ""] = costs.get(each.task_id or "", Decimal(0)) + cost
    for task in workflow.tasks.values():
        _as_booked(task, costs.get(task.task_id, Decimal(0)), booked)


def _as_booked(task: state.Task, cost: Decimal, booked: Mapping[UUID | None, Usage]) -> None:
    mine = [usage for attempt in task.attempts if (usage := booked.get(attempt.attempt_id)) is not None]
    right = (
        cost,
        sum(each.tokens_in + each.tokens_out for each in mine),
        sum(each.tool_calls for each in mine),
        sum(each.turns for each in mine),
    )
    spent = task.spent
    found = (spent.cost_gbp, spent.tokens, spent.tool_calls, spent.turns)
    hold(found == right, "7 (booked)", f"{task.task_id} has spent {found}, and its transitions booked {right}")
    ended = all(each.outcome is not None or each is task.current() for each in task.attempts)
    hold(ended, "7 (booked)", f"an attempt of {task.task_id} never ended")


def no_lost_work(workflow: state.Workflow, timers: list[inputs.Timer]) -> None:
    """Law 6: every open task has a pending dispatch, a deadline or a person."""
    law = "6 (no lost work)"
    if not workflow.open:
        hold(not limits.open_attempts(workflow), law, "an attempt is open after the workflow's end")
    found = list(stalls.stalls(workflow, timers))
    hold(not found, law, "; ".join(f"{each.task_id or 'the workflow'}: {each.why}" for each in found))
