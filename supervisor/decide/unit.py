"""A unit of decision: collects the transitions that one input leads to, folding as it goes. Pure.

The one place that seals a transition: id, sequence, version, writer, cause, and which statuses changed.
"""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from remit import ids
from remit.events.base import Cause
from remit.events.transitions import NOTES, TaskChange, Transition, TransitionKind, WorkflowStatus

from ..evolve import evolve
from ..inputs import Facts
from ..state import DECIDER_VERSION, State, Stopped, Task, Workflow
from ..state import Escalated as EscalatedPhase


@dataclass(frozen=True, slots=True)
class Sealed:
    """A transition as it will be written, and the state after it: that of evolve, which reads no sealed field."""

    transition: Transition
    state: State


class Unit:
    """The state as it stands, and the transitions so far."""

    def __init__(self, state: State, cause: Cause, facts: Facts) -> None:
        """Start from `state`; every transition will name `cause`."""
        self.state = state
        self.cause = cause
        self.facts = facts
        self.sealed: list[Sealed] = []

    @property
    def workflow(self) -> Workflow:
        """The state, known to be a workflow."""
        if not isinstance(self.state, Workflow):
            raise TypeError("no contract was accepted under this key")
        return self.state

    def task(self, task_id: str) -> Task:
        """The task as it stands."""
        return self.workflow.tasks[task_id]

    def add(self, kind: TransitionKind, *, task: Task | None = None, **details: Any) -> Transition:  # noqa: ANN401
        """Seal one transition about `task` or the workflow, and fold it in. Errors: whatever evolve raises."""
        drafted = self._draft(kind, (_about(task) if task else {}) | details)
        after = evolve(self.state, drafted)
        sealed = replace(drafted, workflow_status=_status(after), changes=_changes(self.state, after))
        self.state = after
        self.sealed.append(Sealed(sealed, after))
        return sealed

    def _draft(self, kind: TransitionKind, details: dict[str, Any]) -> Transition:
        state, facts = self.state, self.facts
        sequence = state.sequence + 1
        return Transition(
            event_id=ids.transition_id(self.cause.event_id, sequence),
            tenant_id=state.tenant_id,
            workflow_id=state.workflow_id,
            occurred_at=facts.now,
            producer=f"supervisor/{facts.writer.instance}",
            cause=self.cause,
            kind=kind,
            sequence=sequence,
            version=state.version + (kind not in NOTES),
            writer=facts.writer,
            policy_sha256=state.policy_sha256 if isinstance(state, Workflow) else facts.policy_sha256,
            decider_version=DECIDER_VERSION,
            decided_at=facts.now,
            workflow_status=WorkflowStatus.UNKNOWN,
            **details,
        )


def _about(task: Task) -> dict[str, Any]:
    attempt = task.current()
    about: dict[str, Any] = {"task_id": task.task_id, "round": task.round}
    if attempt is not None:
        about |= {
            "attempt_id": attempt.attempt_id,
            "worker_id": attempt.worker_id,
            "fencing_token": attempt.token,
            "attempt": attempt.number or None,
        }
    return about


def _status(state: State) -> WorkflowStatus:
    return state.status if isinstance(state, Workflow) else WorkflowStatus.REJECTED


def _changes(before: State, after: State) -> tuple[TaskChange, ...]:
    if not isinstance(after, Workflow):
        return ()
    old = before.tasks if isinstance(before, Workflow) else {}
    touched = [task for task_id, task in after.tasks.items() if old.get(task_id) is not task]
    return tuple(_change(task) for task in touched if _moved(old.get(task.task_id), task))


def _moved(old: Task | None, new: Task) -> bool:
    return old is None or (old.status, old.round) != (new.status, new.round)


def _change(task: Task) -> TaskChange:
    match task.phase:
        case EscalatedPhase(reason=reason) | Stopped(reason=reason):
            why: str | None = str(reason)
        case _:
            why = None
    return TaskChange(task_id=task.task_id, status=task.status, round=task.round, reason=why)
