"""What decide is given: an input and the facts around it. Pure data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from remit import ids
from remit.events import inputs as events
from remit.events.base import Cause, Usage
from remit.events.service import Worker
from remit.events.transitions import Candidate, Writer
from remit.policy.model import Policy

from .state import State, Workflow

InputEvent = events.Contract | events.Lease | events.Result | events.Inspection | events.Decision | events.Receipt


@dataclass(frozen=True, slots=True)
class Received:
    """An event as it lies in the log."""

    event: InputEvent
    topic: str
    partition: int
    offset: int
    appended_at: datetime


class TimerName(StrEnum):
    """The waits that a workflow may be in."""

    OFFER = "offer"  # nobody claimed
    SILENCE = "silence"  # no renewal for a lease
    NO_PROGRESS = "no_progress"  # renewals, but nothing moves
    TASK_DEADLINE = "deadline"  # the task's hard end
    INCARNATION = "incarnation"  # the worker process was replaced
    BACKOFF = "backoff"  # the next attempt may start
    QUEUE_WAIT = "queue_wait"  # no worker came
    NO_ELIGIBLE_WORKER = "no_eligible_worker"  # the newest policy lets none be
    INSPECTION = "inspection"  # no answer came
    CORRECTION = "correction"  # no mended envelope came
    HELD = "held"  # what a lost lease held is free again
    WORKFLOW_DEADLINE = "workflow_deadline"  # the workflow's hard end


@dataclass(frozen=True, slots=True)
class Timer:
    """A wait that is over: `due_at` is when; `task_id` and `attempt_id` say whose it is."""

    name: TimerName
    due_at: datetime
    task_id: str | None = None
    attempt_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """The scheduler's choice of a worker for a queued task, with the reasons against the others."""

    task_id: str
    worker: Worker
    registry_offset: int
    candidates: tuple[Candidate, ...]


Input = Received | Timer | Assignment


@dataclass(frozen=True, slots=True)
class Facts:
    """What decide may know beside state and input; all of it ends up in the transition or is pinned by it.

    `policy` is the workflow's pinned one, or the newest for a workflow that begins. `reported` is the usage that
    renewals have told of open attempts, `saved` the artefact references of what their handlers saved last.
    """

    now: datetime
    writer: Writer
    policy: Policy
    policy_sha256: str
    reported: Mapping[UUID, Usage] = field(default_factory=dict)
    saved: Mapping[UUID, str] = field(default_factory=dict)


def cause_of(state: State, item: Input) -> Cause:
    """What a transition that follows from this input names as its cause."""
    match item:
        case Received():
            return Cause(event_id=item.event.event_id, topic=item.topic, partition=item.partition, offset=item.offset)
        case Timer():
            key = f"{state.tenant_id}/{state.workflow_id}"
            name = f"{item.name.value}/{item.task_id}" if item.task_id else item.name.value
            return Cause(event_id=ids.timer_id(key, state.sequence, name))
        case Assignment():
            return Cause(event_id=state.last_id if isinstance(state, Workflow) else item.worker.event_id)
