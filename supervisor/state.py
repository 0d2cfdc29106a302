"""The folded state of one workflow: what the transitions of its key add up to, and nothing else. Pure data.

Its JSON form is what checkpoints hold, under `STATE_SCHEMA`; raise that when a field changes its meaning.
"""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from remit.contract.normal import Workflow as Contract
from remit.events.base import Amounts, Evidence, InputVersion, Subject, Usage
from remit.events.inputs import Question, ResultBody
from remit.events.transitions import (
    AcceptedOutput,
    ContractAccepted,
    PriceEntry,
    StopReason,
    TaskStatus,
    WorkflowStatus,
)

from .once import once

STATE_SCHEMA = 2
DECIDER_VERSION = 2


class Waiting(msgspec.Struct, frozen=True, tag=True, gc=False):
    """For its dependencies."""


class Queued(msgspec.Struct, frozen=True, tag=True, gc=False):
    """For a worker, since then."""

    since: datetime


class Offered(msgspec.Struct, frozen=True, tag=True, gc=False):
    """To one worker, until then; waiting for one since `since`."""

    attempt_id: UUID
    until: datetime
    since: datetime


class Running(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Claimed by the record at `claim_offset` of the leases; what renewals tell is soft state beside the fold."""

    attempt_id: UUID
    claimed_at: datetime
    claim_offset: int = 0


class AwaitingReview(msgspec.Struct, frozen=True, tag=True, gc=False):
    """A result lies with the inspector, who was asked `tries` times, last by the transition `request_id`."""

    attempt_id: UUID
    request_id: UUID
    result: ResultBody
    submission: int
    questions: tuple[Question, ...]
    ask_until: datetime
    tries: int
    asked: tuple[UUID, ...] = ()  # every request of these same questions, this one included


class Correcting(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Its worker was asked, once in the task's life, to mend the envelope of submission `submission`."""

    attempt_id: UUID
    until: datetime
    submission: int
    usage: Usage | None = None  # as told with that submission


class BackingOff(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Until its next attempt."""

    until: datetime


class AwaitingDecision(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Its worker asks a person; elapsed time does not count meanwhile. The item is known by `sequence`."""

    reason: str
    owner: str
    sequence: int
    since: datetime


class Escalated(msgspec.Struct, frozen=True, tag=True, gc=False):
    """A named person has it, for a reason. The item is known by the `sequence` of what put it there."""

    reason: str
    owner: str
    sequence: int = 0


class Completed(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Accepted."""


class Stopped(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Ended without acceptance."""

    reason: StopReason


class Quarantined(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Its state is in doubt."""

    reason: str


Phase = (
    Waiting
    | Queued
    | Offered
    | Running
    | AwaitingReview
    | Correcting
    | BackingOff
    | AwaitingDecision
    | Escalated
    | Completed
    | Stopped
    | Quarantined
)

STATUS_OF: dict[type, TaskStatus] = {
    Waiting: TaskStatus.WAITING,
    Queued: TaskStatus.QUEUED,
    Offered: TaskStatus.OFFERED,
    Running: TaskStatus.RUNNING,
    AwaitingReview: TaskStatus.AWAITING_REVIEW,
    Correcting: TaskStatus.CORRECTING,
    BackingOff: TaskStatus.BACKING_OFF,
    AwaitingDecision: TaskStatus.AWAITING_DECISION,
    Escalated: TaskStatus.ESCALATED,
    Completed: TaskStatus.COMPLETED,
    Stopped: TaskStatus.STOPPED,
    Quarantined: TaskStatus.QUARANTINED,
}

OPEN_STATUSES = frozenset({WorkflowStatus.RUNNING, WorkflowStatus.ESCALATED})


class Spent(msgspec.Struct, frozen=True, gc=False):
    """Booked so far: pounds, tokens, tool calls."""

    cost_gbp: Decimal = Decimal(0)
    tokens: int = 0
    tool_calls: int = 0
    turns: int = 0


class Attempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One dispatch of a task, offered, claimed or ended; `number` 0 until it is claimed."""

    attempt_id: UUID
    token: int
    worker_id: str
    incarnation: UUID
    pool: str
    round: int
    contract_sha256: str
    inputs: tuple[InputVersion, ...]
    price: PriceEntry
    reserved: Amounts
    offered_at: datetime
    number: int = 0
    submissions: tuple[int, ...] = ()
    corrected: bool = False  # it was asked to mend its first submission
    outcome: str | None = None  # set once it ended
    booked: Usage | None = None  # what settlement booked
    booked_gbp: Decimal = Decimal(0)  # and what that cost
    held: Amounts | None = None  # of a lost lease, until `held_until`
    held_until: datetime | None = None

    @property
    def open(self) -> bool:
        """Whether it may still be accepted."""
        return self.outcome is None


class Task(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One task: its phase, and what was accepted or counted so far; what is worked out of it is kept beside that."""

    task_id: str
    phase: Phase
    round: int = 1
    attempts_started: int = 0  # in this round
    reworks: int = 0  # rounds that a defect of its own caused
    attempts: tuple[Attempt, ...] = ()
    outputs: tuple[AcceptedOutput, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    subject: Subject | None = None
    author: str | None = None  # the worker whose result was accepted
    spent: Spent = Spent()
    deadline_at: datetime | None = None  # from the first claim, over all attempts and rounds
    rework: tuple[Evidence, ...] = ()  # the failing evidence of the round before
    corrected: bool = False  # its one correction was asked for
    resume_from: str | None = None  # what a lost attempt saved last, untrusted
    granted_attempts: int = 0  # beyond the limit, by people
    granted_reworks: int = 0  # likewise

    @property
    def status(self) -> TaskStatus:
        """The phase's name."""
        return STATUS_OF[type(self.phase)]

    def attempt(self, attempt_id: UUID) -> Attempt | None:
        """The attempt of that id, if this task had it."""
        return next((each for each in self.attempts if each.attempt_id == attempt_id), None)

    def current(self) -> Attempt | None:
        """The attempt that is offered, running or under review."""
        match self.phase:
            case Offered() | Running() | AwaitingReview() | Correcting():
                return self.attempt(self.phase.attempt_id)
            case _:
                return None


class Proposed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A contract version that waits for a person's decision, as it was proposed on top of `base_version`."""

    item_id: str
    event_id: UUID  # of the amendment
    base_version: int
    accepted: ContractAccepted
    widens: tuple[str, ...]
    proposer: str
    owner: str
    since: datetime


class Unborn(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """A key with no accepted contract yet: only notes so far."""

    tenant_id: str
    workflow_id: str
    sequence: int = 0
    version: int = 0
    generation: int = 0


class Workflow(msgspec.Struct, frozen=True, kw_only=True, tag=True, dict=True):
    """A workflow whose contract was accepted; what is worked out of it is kept beside its fields."""

    sequence: int
    version: int
    generation: int
    last_id: UUID  # id of the newest transition
    status: WorkflowStatus
    contract: Contract
    contract_version: int
    content_digest: str
    submitter: str
    policy_sha256: str
    submitted_at: datetime
    deadline_at: datetime | None
    tasks: dict[str, Task]
    stop_reason: StopReason | None = None
    development_acceptance: str = "pending"
    deployment_authorisation: str = "not_required"
    proposed: tuple[Proposed, ...] = ()  # amendments that wait for a person, oldest first
    refused: tuple[UUID, ...] = ()  # the last amendments that were proposed and refused
    clock_stopped_at: datetime | None = None  # since when a worker's question to a person pauses the elapsed time

    @property
    def tenant_id(self) -> str:
        """Of the contract."""
        return self.contract.tenant_id

    @property
    def workflow_id(self) -> str:
        """Of the contract."""
        return self.contract.workflow_id

    @property
    def open(self) -> bool:
        """Whether anything may still change it."""
        return self.status in OPEN_STATUSES


@once
def phases(workflow: Workflow) -> frozenset[type]:
    """The kinds of phase that its tasks are in."""
    return frozenset([type(task.phase) for task in workflow.tasks.values()])


State = Unborn | Workflow


def initial(tenant_id: str, workflow_id: str) -> Unborn:
    """The state of a key with no transition."""
    return Unborn(tenant_id=tenant_id, workflow_id=workflow_id)
