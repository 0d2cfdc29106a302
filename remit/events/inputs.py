"""Events that clients, workers, inspector, people and committer write: what a supervisor decides on. Pure data.

A storage format: each class has a record of the same name, fields and order in `schemas_avro/`; a test compares them.
"""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from remit.events.base import ArtefactRef, Event, Evidence, InputVersion, Record, Usage


class ContractKind(StrEnum):
    """What a client does with a contract."""

    UNKNOWN = "UNKNOWN"
    SUBMITTED = "submitted"  # a new workflow
    AMENDED = "amended"  # a new version of one


class Contract(Event, frozen=True, kw_only=True):
    """A submitted workflow, or an amendment of one; key tenant/workflow."""

    kind: ContractKind  # submitted or amended
    document: str  # the JSON text as submitted, references resolved
    content_digest: str  # SHA-256 over the document's RFC 8785 form
    submitter: str  # who submits; unverified:user@host until identities are authenticated
    base_version: int | None = None  # the contract version that an amendment changes
    reason: str | None = None  # of an amendment, for people


class LeaseKind(StrEnum):
    """What a worker does with an offer or a lease."""

    UNKNOWN = "UNKNOWN"
    CLAIM = "claim"  # takes the offer: lease and attempt start
    DECLINE = "decline"  # gives the offer back; no attempt is counted
    RENEWED = "renewed"  # still at work; never a transition


class Lease(Event, frozen=True, kw_only=True):
    """A worker's claim, decline or renewal; key tenant/workflow."""

    kind: LeaseKind  # claim, decline or renewed
    worker_id: str  # who
    incarnation: UUID  # the worker process; a new one ends the old one's attempts
    task_id: str  # the task offered
    attempt_id: UUID  # the attempt offered
    fencing_token: int  # the offer's token
    reason: str | None = None  # of a decline, such as busy
    progress: int | None = None  # rises as the handler gets on
    note: str | None = None  # what it is doing, for people
    usage: Usage | None = None  # used so far
    checkpoint: str | None = None  # artefact reference of what the handler saved last, untrusted


class ResultKind(StrEnum):
    """How an envelope travels."""

    UNKNOWN = "UNKNOWN"
    SUBMITTED = "submitted"  # it met the envelope's schema
    MALFORMED = "malformed"  # it didn't: text and faults


class ResultStatus(StrEnum):
    """What the worker says of its work."""

    UNKNOWN = "UNKNOWN"
    COMPLETED = "completed"
    BLOCKED = "blocked"
    FAILED = "failed"
    NEEDS_REVIEW = "needs_review"


class ErrorClass(StrEnum):
    """What follows from a result."""

    UNKNOWN = "UNKNOWN"
    COMPLETED = "COMPLETED"
    NEEDS_REVIEW = "NEEDS_REVIEW"
    RETRYABLE_FAILED = "RETRYABLE_FAILED"
    PERMANENT_FAILED = "PERMANENT_FAILED"


class BlockedReason(StrEnum):
    """Why a worker can't go on."""

    UNKNOWN = "UNKNOWN"
    CAPABILITY = "capability"
    PERMISSION = "permission"
    INPUT = "input"
    AMBIGUITY = "ambiguity"


class ResultBody(Record, frozen=True, kw_only=True):
    """The fixed result envelope, redacted."""

    status: ResultStatus  # the worker's word
    error_class: ErrorClass  # what follows
    blocked_reason: BlockedReason | None = None  # with status blocked
    retry_after_seconds: int | None = None  # never retried sooner
    message: str | None = None  # the worker's words for people; they change no rule
    output: str | None = None  # JSON text, one key per declared output
    artefact_ref: ArtefactRef | None = None  # a stored object of the same shape, instead of output
    evidence: tuple[Evidence, ...] = ()  # empty only when not completed
    usage: Usage | None = None  # null: the whole reservation is booked, as estimated
    input_versions: tuple[InputVersion, ...] = ()  # the inputs used
    environment: dict[str, str] = {}  # versions of language and framework, by the runner
    log: ArtefactRef | None = None  # stdout and stderr of the handler
    started_at: datetime | None = None  # UTC, by the runner's clock
    ended_at: datetime | None = None  # UTC, by the runner's clock
    subtasks: str | None = None  # JSON text, a list of further tasks that the worker proposes


class Malformed(Record, frozen=True, kw_only=True):
    """An envelope that doesn't fit."""

    text: str  # at most 64 KiB of it, redacted
    faults: tuple[str, ...]  # path and rule, one each
    usage: Usage | None = None  # what the runner knows was used


class Result(Event, frozen=True, kw_only=True):
    """A worker's result; key tenant/workflow."""

    kind: ResultKind  # submitted or malformed
    worker_id: str  # who
    incarnation: UUID  # the worker process
    task_id: str  # the task
    attempt_id: UUID  # the attempt
    fencing_token: int  # the offer's token
    submission: int  # 1, or 2 after a correction
    state_version: int  # the version the offer named
    contract_sha256: str  # hash of the task contract worked on
    result: ResultBody | None = None  # kind submitted
    malformed: Malformed | None = None  # kind malformed


class QuestionKind(StrEnum):
    """What an inspector is asked."""

    UNKNOWN = "UNKNOWN"
    ARTEFACT = "artefact"  # do the stored bytes have that hash and size
    SECRETS = "secrets"  # do the stored bytes hold a secret
    COMMIT = "commit"  # does the commit exist
    DESCENDS = "descends"  # does it descend from the base
    PATHS = "paths"  # does it touch only allowed paths
    OUTPUT = "output"  # the stored object that stands for the output


class Question(Record, frozen=True, kw_only=True):
    """One question to the inspector."""

    id: str  # unique in its request
    kind: QuestionKind  # what is asked
    reference: str  # artefact or repository it speaks of
    location: str | None = None  # where the policy says that repository is
    expected: tuple[str, ...] = ()  # hash, revision, base or path globs
    size: int | None = None  # bytes expected


class Verdict(StrEnum):
    """An inspector's finding."""

    UNKNOWN = "UNKNOWN"
    MATCH = "match"
    MISMATCH = "mismatch"
    MISSING = "missing"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"


class Answer(Record, frozen=True, kw_only=True):
    """The answer to one question."""

    question_id: str  # the question's id
    kind: QuestionKind  # what was asked
    verdict: Verdict  # match, mismatch, missing, unreachable or timed_out
    expected: tuple[str, ...] = ()  # as asked
    found: tuple[str, ...] = ()  # what was found, never a secret
    content: str | None = None  # JSON text of a stored output


class InspectionKind(StrEnum):
    """What an inspector writes."""

    UNKNOWN = "UNKNOWN"
    INSPECTED = "inspected"


class Inspection(Event, frozen=True, kw_only=True):
    """What I/O found out about a result: facts, not a verdict; key tenant/workflow."""

    kind: InspectionKind  # inspected
    request_id: UUID  # id of the inspection_requested transition
    task_id: str  # the task
    attempt_id: UUID  # the attempt
    answers: tuple[Answer, ...] = ()  # one per question


class DecisionKind(StrEnum):
    """What a person decides."""

    UNKNOWN = "UNKNOWN"
    APPROVE = "approve"
    REFUSE = "refuse"
    RESOLVE = "resolve"
    EXTEND_BUDGET = "extend_budget"
    CANCEL = "cancel"


class Decision(Event, frozen=True, kw_only=True):
    """A person's decision; key tenant/workflow."""

    kind: DecisionKind  # approve, refuse, resolve, extend_budget or cancel
    person: str  # identity; unverified:user@host until identities are authenticated
    task_id: str | None = None  # the task decided on, null for the workflow
    item_id: str | None = None  # the inbox item
    content_sha256: str | None = None  # the exact content decided on
    state_version: int | None = None  # the version read
    reason: str | None = None  # for people
    minutes_spent: Decimal | None = None  # the person's time
    resolution: str | None = None  # of a resolve: retry, stop or complete


class ReceiptKind(StrEnum):
    """How far an effect got."""

    UNKNOWN = "UNKNOWN"
    STARTED = "started"
    APPLIED = "applied"
    REFUSED = "refused"
    UNCERTAIN = "uncertain"


class Receipt(Event, frozen=True, kw_only=True):
    """What became of an effect; key tenant/workflow."""

    kind: ReceiptKind  # started, applied, refused or uncertain
    effect_id: str  # the contract's id of the effect
    effect_key: str  # idempotency key at the target
    target: str  # what is changed
    content_sha256: str  # digest of what was approved
    authorised_sequence: int  # sequence of the authorised transition
    effect_attempt: int  # 1, 2, ...
    reason: str | None = None  # of refused and uncertain
