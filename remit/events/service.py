"""Events about the service itself: dispatches, workers, liveness, policies, dead letters, checkpoints. Pure data.

A storage format: each class has a record of the same name, fields and order in `schemas_avro/`; a test compares them.
"""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from remit.events.base import Amounts, Event, Evidence, InputVersion, Record
from remit.events.transitions import Writer


class DispatchKind(StrEnum):
    """What a supervisor tells one worker."""

    UNKNOWN = "UNKNOWN"
    OFFER = "offer"  # here is work
    LEASE_LOST = "lease_lost"  # stop: the attempt is no longer yours
    CORRECTION = "correction"  # mend the envelope, same attempt
    CANCEL = "cancel"  # stop: nobody wants it any more


class Grant(Record, frozen=True, kw_only=True):
    """Permissions with an expiry, signed for one worker's key: useless to others."""

    permissions: dict[str, str] = {}  # resource to none, read-only, execute or read-write:BRANCH
    paths: tuple[str, ...] = ()  # globs a commit may touch
    tools: tuple[str, ...] = ()  # tools it may use
    expires_at: datetime  # UTC
    signature: str | None = None  # Ed25519 by the supervisor over all else in RFC 8785 form, base64; null: unsigned
    key_id: str | None = None  # SHA-256 of the supervisor's public key
    worker_id: str | None = None  # to whom it is granted
    worker_key: str | None = None  # that worker's public key, base64; null: it registered none
    attempt_id: UUID | None = None  # for which attempt
    max_tool_calls: int | None = None  # calls of tools and observed commands together


class Offer(Record, frozen=True, kw_only=True):
    """All that a worker needs to know of one attempt."""

    contract: str  # JSON text: task, requirements with checks, commands, constraints
    contract_version: int  # of the workflow
    contract_sha256: str  # hash of the task contract
    attempt: int  # the number it will have once claimed
    round: int  # rises with each new input subject
    idempotency_key: str  # shared by all attempts of the round
    inputs: tuple[InputVersion, ...] = ()  # by reference and hash
    offer_until: datetime  # UTC; claim before
    lease_seconds: int  # length of the lease
    renewal_seconds: int  # how often to renew
    no_progress_seconds: int  # how long without progress
    deadline_at: datetime | None = None  # UTC; hard end if already running, null before the first claim
    deadline_seconds: int | None = None  # from the claim, where deadline_at is null
    remaining: Amounts  # reserved for this attempt
    grant: Grant  # what it may touch
    rework: tuple[Evidence, ...] = ()  # only the failing evidence
    resume_from: str | None = None  # last checkpoint of a lost attempt, untrusted


class Dispatch(Event, frozen=True, kw_only=True):
    """A message to one worker; key worker_id, topic dispatches.<pool>."""

    kind: DispatchKind  # offer, lease_lost, correction or cancel
    worker_id: str  # to whom
    pool: str  # its pool
    task_id: str  # the task
    attempt_id: UUID  # the attempt
    fencing_token: int  # sequence of the dispatched transition
    state_version: int  # of the workflow, when written
    reason: str | None = None  # of lease_lost, correction and cancel
    offer: Offer | None = None  # kind offer
    faults: tuple[str, ...] = ()  # kind correction


class WorkerKind(StrEnum):
    """What a registration says."""

    UNKNOWN = "UNKNOWN"
    REGISTERED = "registered"
    RETIRED = "retired"


class Worker(Event, frozen=True, kw_only=True):
    """A worker's registration; key worker_id. It may only narrow what policy grants that identity."""

    kind: WorkerKind  # registered or retired
    worker_id: str  # who
    incarnation: UUID  # the worker process
    pool: str  # the pool it serves
    capabilities: tuple[str, ...] = ()  # what it can do
    tools: tuple[str, ...] = ()  # tools it has
    permissions: dict[str, tuple[str, ...]] = {}  # resource to what it may be granted
    output_schemas: tuple[str, ...] = ()  # schemas it can write; empty = any
    risk_class: str = "low"  # highest risk it may take
    price_entry: str = "default"  # entry of the policy's prices
    slots: int = 1  # attempts at once
    public_key: str | None = None  # Ed25519, base64: what its grants are bound to


class LivenessKind(StrEnum):
    """What a worker says of itself."""

    UNKNOWN = "UNKNOWN"
    ALIVE = "alive"
    LEAVING = "leaving"


class Liveness(Event, frozen=True, kw_only=True):
    """A worker is alive, with so many free slots; key worker_id."""

    kind: LivenessKind  # alive or leaving
    worker_id: str  # who
    incarnation: UUID  # the worker process
    pool: str  # the pool it serves
    free_slots: int  # slots with no attempt


class PolicyKind(StrEnum):
    """What an operator does with a policy."""

    UNKNOWN = "UNKNOWN"
    APPLIED = "applied"


class Policy(Event, frozen=True, kw_only=True):
    """A policy as applied; the newest one holds for new workflows."""

    kind: PolicyKind  # applied
    document: str  # the file's exact text
    policy_sha256: str  # of that text
    author: str  # who applied it; unverified:user@host


class DeadLetterKind(StrEnum):
    """Why a record can't be used."""

    UNKNOWN = "UNKNOWN"
    UNDECODABLE = "undecodable"  # not a record of our schemas
    NOT_ALLOWED = "not_allowed"  # a writer or kind that may not be there
    UNKNOWN_WORKFLOW = "unknown_workflow"  # speaks of a workflow that doesn't exist
    MISPLACED = "misplaced"  # in a partition its key doesn't hash to


class DeadLetter(Event, frozen=True, kw_only=True):
    """A record that could not be used; its bytes stay at the source. Key topic/partition/offset."""

    kind: DeadLetterKind  # why
    source_topic: str  # without prefix
    source_partition: int  # partition
    source_offset: int  # offset
    record_sha256: str  # of the record's value; of nothing for a null value
    size: int  # bytes of the value
    reason: str  # where and why, never a value


class CheckpointKind(StrEnum):
    """What a checkpoint holds."""

    UNKNOWN = "UNKNOWN"
    WORKFLOW = "workflow"  # an open workflow's folded state
    CLOSED = "closed"  # the small record of a closed workflow
    SHARD = "shard"  # the marker of a shard


class ShardPosition(Record, frozen=True, kw_only=True):
    """How far a shard's input was decided."""

    topic: str  # without prefix
    next_offset: int  # first offset not yet decided


class Checkpoint(Event, frozen=True, kw_only=True):
    """Folded state, compacted; key tenant/workflow, or _shard/n for the marker."""

    kind: CheckpointKind  # workflow, closed or shard
    shard: int  # partition number
    sequence: int  # last sequence folded in; 0 for the marker
    state_schema: int  # version of the state's JSON form
    state: bytes | None = None  # a seal, then the folded state as JSON; that of a workflow deflated
    transitions_offset: int | None = None  # first transition of the shard that is not folded in; none voids a marker
    positions: tuple[ShardPosition, ...] = ()  # of the marker
    content_digest: str | None = None  # of a closed workflow's contract
    outcome: str | None = None  # of a closed workflow: its stop reason
    writer: Writer | None = None  # instance and generation that wrote it
