"""Transitions: every state change of a workflow. State is the fold of these and of nothing else. Pure data.

A storage format: each class has a record of the same name, fields and order in `schemas_avro/`; a test compares them.
A transition carries all that a view must show, so that readers need none of the supervisor's code.
"""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from remit.events.base import Amounts, ArtefactRef, Event, Evidence, InputVersion, Record, Subject, Usage
from remit.events.inputs import Answer, ErrorClass, Question, ResultBody


class TransitionKind(StrEnum):
    """What changed. Notes raise only the sequence, all others the version too."""

    UNKNOWN = "UNKNOWN"
    CONTRACT_ACCEPTED = "contract_accepted"  # a workflow begins
    CONTRACT_AMENDED = "contract_amended"  # a new contract version holds
    POLICY_CHANGED = "policy_changed"  # another policy is pinned
    DISPATCHED = "dispatched"  # queued → offered
    OFFER_DECLINED = "offer_declined"  # offered → queued
    OFFER_EXPIRED = "offer_expired"  # offered → queued
    CLAIMED = "claimed"  # offered → running
    LEASE_EXPIRED = "lease_expired"  # running → queued, backing_off or escalated
    INSPECTION_REQUESTED = "inspection_requested"  # running → awaiting_review
    INSPECTION_RETRIED = "inspection_retried"  # asked again, no attempt counted
    RESULT_ACCEPTED = "result_accepted"  # awaiting_review → completed
    RESULT_REFUSED = "result_refused"  # awaiting_review → by the verdict
    ATTEMPT_FAILED = "attempt_failed"  # the worker says it didn't succeed → by the verdict
    BACKOFF_ENDED = "backoff_ended"  # backing_off → queued
    RESERVATION_RELEASED = "reservation_released"  # what a lost lease held is free again
    TASK_ESCALATED = "task_escalated"  # any open → escalated
    TASK_STOPPED = "task_stopped"  # any open → stopped
    WORKFLOW_ACCEPTED = "workflow_accepted"  # running → accepted
    WORKFLOW_STOPPED = "workflow_stopped"  # any open → stopped
    WORKFLOW_QUARANTINED = "workflow_quarantined"  # any open → quarantined
    CONTRACT_REJECTED = "contract_rejected"  # note: the gate refused; the id is not taken
    DUPLICATE = "duplicate"  # note: seen before
    STALE = "stale"  # note: speaks of a state that is gone
    LATE_USAGE = "late_usage"  # note: usage of an ended attempt
    LATE_DECISION = "late_decision"  # note: after the item's expiry
    ALREADY_DECIDED = "already_decided"  # note: nothing left to decide
    DEAD_LETTERED = "dead_lettered"  # note of a shard: an input became a dead letter
    CORRECTION_REQUESTED = "correction_requested"  # running → correcting
    TASK_RESOLVED = "task_resolved"  # escalated or awaiting_decision → queued, by a person
    AMENDMENT_PROPOSED = "amendment_proposed"  # a person must decide on a new contract version
    AMENDMENT_REFUSED = "amendment_refused"  # a person did, or it no longer fits


NOTES = frozenset(
    {
        TransitionKind.CONTRACT_REJECTED,
        TransitionKind.DUPLICATE,
        TransitionKind.STALE,
        TransitionKind.LATE_USAGE,
        TransitionKind.LATE_DECISION,
        TransitionKind.ALREADY_DECIDED,
        TransitionKind.DEAD_LETTERED,
    }
)


class TaskStatus(StrEnum):
    """Where a task stands."""

    UNKNOWN = "UNKNOWN"
    WAITING = "waiting"  # for its dependencies
    QUEUED = "queued"  # for a worker
    OFFERED = "offered"  # to one worker
    RUNNING = "running"  # claimed
    AWAITING_REVIEW = "awaiting_review"  # the supervisor checks
    CORRECTING = "correcting"  # the worker mends its envelope
    BACKING_OFF = "backing_off"  # until its next attempt
    AWAITING_DECISION = "awaiting_decision"  # a person is asked
    ESCALATED = "escalated"  # the ladder is spent; a named person has it
    COMPLETED = "completed"  # accepted
    FAILED = "failed"  # ended by its owner
    STOPPED = "stopped"  # ended
    QUARANTINED = "quarantined"  # its state is in doubt


class WorkflowStatus(StrEnum):
    """Where a workflow stands."""

    UNKNOWN = "UNKNOWN"
    RUNNING = "running"
    ESCALATED = "escalated"  # a task waits for its owner
    ACCEPTED = "accepted"  # development acceptance
    AUTHORISED = "authorised"  # deployment authorised
    COMMITTING = "committing"  # effects under way
    APPLIED = "applied"  # all effects applied
    STOPPED = "stopped"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"  # no contract of this id was accepted yet


class StopReason(StrEnum):
    """Why a workflow or a task ended, or why its owner has it; judged in this order."""

    UNKNOWN = "UNKNOWN"
    ACCEPTED = "accepted"
    CANCELLED = "cancelled"
    UNTRUSTED_STATE = "untrusted_state"
    COST_EXHAUSTED = "cost_exhausted"
    TOKENS_EXHAUSTED = "tokens_exhausted"
    TOOL_CALLS_EXHAUSTED = "tool_calls_exhausted"
    ELAPSED = "elapsed"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    REWORKS_EXHAUSTED = "reworks_exhausted"
    DEPTH = "depth"
    TASKS = "tasks"
    WORKERS = "workers"
    TURNS = "turns"
    NO_ELIGIBLE_WORKER = "no_eligible_worker"
    NO_WORKER_AVAILABLE = "no_worker_available"
    PREREQUISITE_FAILED = "prerequisite_failed"
    REFUSED = "refused"
    DECIDER_FAULT = "decider_fault"


class Recovery(StrEnum):
    """What follows a failed attempt."""

    UNKNOWN = "UNKNOWN"
    RETRY = "retry"  # after a back-off
    REASSIGN = "reassign"  # at once, to another worker if there is one
    REWORK = "rework"  # upstream, with only the failing evidence
    ESCALATE = "escalate"  # to the named owner
    NONE = "none"  # the task ended with it


class Writer(Record, frozen=True, kw_only=True):
    """Who wrote a transition."""

    instance: str  # the supervisor's stable name
    generation: int  # rises with each takeover of the shard


class TaskChange(Record, frozen=True, kw_only=True):
    """A task's status after this transition, where it changed."""

    task_id: str  # the task
    status: TaskStatus  # its new status
    round: int  # its round
    reason: str | None = None  # why, where there is a reason


class ContractAccepted(Record, frozen=True, kw_only=True):
    """The contract that holds from here on."""

    contract_version: int  # 1, 2, ...
    content_digest: str  # of the document as submitted or drafted
    contract_sha256: str  # of the normal form
    document: str  # JSON text of the whole normal form
    submitter: str  # who submitted it
    proposed_by: str | None = None  # worker that drafted an amendment
    approved_by: str | None = None  # rule or person that approved an amendment
    submitted_at: datetime  # UTC, append time of the submitted contract
    deadline_at: datetime | None = None  # UTC, end of the workflow's elapsed time
    widened: tuple[str, ...] = ()  # what an approved amendment widened or dropped, one each
    reason: str | None = None  # of an amendment, for people


class Rejection(Record, frozen=True, kw_only=True):
    """Why a contract was refused."""

    content_digest: str  # of the refused document
    faults: tuple[str, ...]  # path and rule, one each


class Candidate(Record, frozen=True, kw_only=True):
    """A registered worker, and the first rule that excluded it."""

    worker_id: str  # who
    excluded_by: str | None = None  # null for the chosen one


class PriceEntry(Record, frozen=True, kw_only=True):
    """The policy's price entry that settlement uses, in pounds."""

    name: str  # of the entry
    per_1k_tokens_in: Decimal  # pounds
    per_1k_tokens_out: Decimal  # pounds
    per_tool_call: Decimal  # pounds
    per_worker_second: Decimal  # pounds


class Dispatched(Record, frozen=True, kw_only=True):
    """An offer and how its worker was chosen."""

    pool: str  # the worker's pool
    incarnation: UUID  # the worker process it was offered to
    attempt: int  # the number it will have once claimed
    reserved: Amounts  # of the workflow's budget
    price: PriceEntry  # what settlement will use
    registry_offset: int  # next offset of workers when routed
    candidates: tuple[Candidate, ...]  # every registered worker
    inputs: tuple[InputVersion, ...]  # as handed out
    offer_until: datetime  # UTC
    contract_sha256: str  # of the task contract
    queued_at: datetime  # UTC, since when it waited


class Claimed(Record, frozen=True, kw_only=True):
    """An attempt begins."""

    attempt: int  # its number in the round
    incarnation: UUID  # the worker process
    lease_until: datetime  # UTC
    deadline_at: datetime | None = None  # UTC, hard end of the task
    offered_at: datetime  # UTC, when it was dispatched


class InspectionRequest(Record, frozen=True, kw_only=True):
    """What the inspector is asked, and the result it is asked about."""

    result: ResultBody  # as submitted
    submission: int  # 1 or 2
    questions: tuple[Question, ...]  # at least one
    ask_until: datetime  # UTC; then asked again
    tries: int  # 1, 2, ...


class Settlement(Record, frozen=True, kw_only=True):
    """What an attempt cost, booked."""

    usage: Usage  # as reported, or estimated
    cost_gbp: Decimal  # pounds, at the price entry of its dispatch
    released: Amounts  # what the reservation no longer holds
    held: Amounts  # what stays held until the grant's expiry plus grace
    held_until: datetime | None = None  # UTC
    overrun: bool = False  # beyond the reservation


class Correction(Record, frozen=True, kw_only=True):
    """The one request to mend an envelope: same worker, attempt and lease."""

    faults: tuple[str, ...]  # path or rule, one each
    submission: int  # the one that was refused
    until: datetime  # UTC; then the attempt is lost
    usage: Usage | None = None  # as told with that submission


class Resolution(Record, frozen=True, kw_only=True):
    """What a person decided on an inbox item."""

    item_id: str  # of the item
    person: str  # identity; unverified:user@host until identities are authenticated
    resolution: str  # retry, stop, approve or refuse
    reason: str | None = None  # for people
    content_sha256: str | None = None  # what was decided on


class Proposal(Record, frozen=True, kw_only=True):
    """A contract version that waits for a person, since it widens or drops something."""

    item_id: str  # of the inbox
    base_version: int  # the contract version that it changes
    widens: tuple[str, ...]  # what needs the decision, one each
    proposer: str  # who submitted it
    owner: str  # who must decide


class RefusedSubtask(Record, frozen=True, kw_only=True):
    """A proposed task that was not taken up."""

    task_id: str  # as proposed
    reason: str  # not_granted, type_not_granted, depth_exceeded, task_limit, duplicate_task ...
    detail: str | None = None  # path and rule, or the id of the task that it repeats


class AcceptedOutput(Record, frozen=True, kw_only=True):
    """One accepted output."""

    name: str  # declared name
    kind: str  # declared kind
    value: str | None = None  # JSON text of an inline value
    artefact: ArtefactRef | None = None  # a stored object
    subject: Subject | None = None  # of a revision


class Accepted(Record, frozen=True, kw_only=True):
    """What was accepted, and on which evidence."""

    outputs: tuple[AcceptedOutput, ...]  # declared outputs only
    evidence: tuple[Evidence, ...]  # records, not payloads
    answers: tuple[Answer, ...]  # of the inspection
    subject: Subject | None = None  # what the task's work is about
    first_pass: bool  # no earlier attempt or round
    subtasks: tuple[str, ...] = ()  # ids of the proposed tasks that were taken up
    refused_subtasks: tuple[RefusedSubtask, ...] = ()  # and of those that were not


class Ending(Record, frozen=True, kw_only=True):
    """How an attempt ended without acceptance, and what follows."""

    outcome: str  # refused, failed, blocked, needs_review, malformed, silence, no_progress, deadline, superseded ...
    error_class: ErrorClass  # what class of failure it is
    faults: tuple[str, ...]  # path or rule, one each
    recovery: Recovery  # what follows
    recovery_reason: str | None = None  # why it escalates
    not_before: datetime | None = None  # UTC, end of the back-off
    rework_task: str | None = None  # the task that must mend it
    failing: tuple[Evidence, ...] = ()  # only the failing evidence
    evidence: tuple[Evidence, ...] = ()  # all evidence of the attempt
    answers: tuple[Answer, ...] = ()  # of the inspection
    owner: str | None = None  # who has it now, when escalated
    checkpoint: str | None = None  # artefact reference that a next attempt may resume from, untrusted


class RequirementHeld(Record, frozen=True, kw_only=True):
    """One requirement, and whether valid evidence holds it."""

    requirement_id: str  # of the contract
    text: str  # of the contract
    mandatory: bool  # blocks acceptance
    held: bool  # evidence is valid at its subject
    checks: tuple[str, ...]  # ids of its checks


class WorkflowGate(Record, frozen=True, kw_only=True):
    """The final acceptance gate."""

    development_acceptance: str  # approved
    deployment_authorisation: str  # not_required or pending
    final_subjects: tuple[Subject, ...]  # one per revision line
    requirements: tuple[RequirementHeld, ...]  # reconciled
    authoriser: str | None = None  # who must authorise deployment


class Stop(Record, frozen=True, kw_only=True):
    """Why something ended or waits for a person."""

    stop_reason: StopReason  # the primary one
    others: tuple[StopReason, ...] = ()  # hit by the same event
    owner: str | None = None  # who has it now
    person: str | None = None  # who decided it
    detail: str | None = None  # for people


class Note(Record, frozen=True, kw_only=True):
    """What a note speaks of."""

    event_id: UUID | None = None  # the event noted
    differs: tuple[str, ...] = ()  # what is no longer so: version, token, hash
    usage: Usage | None = None  # reported late
    cost_gbp: Decimal | None = None  # booked late, pounds
    content_digest: str | None = None  # of a repeated submission
    overrun: bool = False  # what was booked late lies beyond the attempt's reservation


class Transition(Event, frozen=True, kw_only=True):
    """One state change of one workflow; key tenant/workflow, or _shard/n for a shard's own notes."""

    kind: TransitionKind  # what changed
    sequence: int  # previous + 1 of its key
    version: int  # the state version that users and proposals name
    writer: Writer  # instance and generation
    policy_sha256: str | None = None  # the pinned policy
    decider_version: int  # of the code that decided
    decided_at: datetime  # UTC, by the log's clock
    workflow_status: WorkflowStatus  # after this transition
    changes: tuple[TaskChange, ...] = ()  # of task statuses
    task_id: str | None = None  # the task it is about
    attempt_id: UUID | None = None  # the attempt it is about
    worker_id: str | None = None  # its worker
    fencing_token: int | None = None  # its token
    attempt: int | None = None  # its number in the round
    round: int | None = None  # its round
    reason: str | None = None  # a reason code
    contract: ContractAccepted | None = None  # contract_accepted, contract_amended
    rejection: Rejection | None = None  # contract_rejected
    dispatch: Dispatched | None = None  # dispatched
    claim: Claimed | None = None  # claimed
    request: InspectionRequest | None = None  # inspection_requested, inspection_retried
    accepted: Accepted | None = None  # result_accepted
    ending: Ending | None = None  # result_refused, attempt_failed, lease_expired
    settlement: Settlement | None = None  # whatever ends an attempt
    gate: WorkflowGate | None = None  # workflow_accepted
    stop: Stop | None = None  # task_escalated, task_stopped, workflow_stopped, workflow_quarantined
    note: Note | None = None  # notes
    minutes_spent: Decimal | None = None  # of a person, in what led here
    correction: Correction | None = None  # correction_requested
    resolution: Resolution | None = None  # what a person's decision led to
    proposal: Proposal | None = None  # amendment_proposed
