"""What all events share: the envelope's fields and the small records that several topics carry. Pure data.

A storage format: each class has a record of the same name, fields and order in `schemas_avro/`; a test compares them.
Fields are only ever added, with a default.
"""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Base of every Avro record."""


class Cause(Record, frozen=True, kw_only=True):
    """What an event follows from: an event, and where it lies in the log when it was read from there."""

    event_id: UUID  # the causing event, or the derived id of a timer
    topic: str | None = None  # its topic, without prefix; null for a timer
    partition: int | None = None  # its partition
    offset: int | None = None  # its offset


class Event(Record, frozen=True, kw_only=True):
    """The envelope: the first fields of every topic's record."""

    event_id: UUID  # UUIDv7 from clients and workers, derived UUIDv5 otherwise
    tenant_id: str  # empty where the record belongs to no tenant
    workflow_id: str  # empty where the record belongs to no workflow
    occurred_at: datetime  # UTC, by the producer's clock; the append time is the record's own timestamp
    producer: str  # role and instance that wrote the record
    cause: Cause | None = None  # what it follows from


class ArtefactRef(Record, frozen=True, kw_only=True):
    """A stored object: reference, SHA-256 of its bytes, size in bytes."""

    reference: str  # artefact://sha256/HEX
    sha256: str  # 64 lower-case hex digits
    size: int  # bytes


class InputVersion(Record, frozen=True, kw_only=True):
    """One input as it was handed out: name, reference and digest."""

    name: str  # the task contract's name of the input
    kind: str  # git, artefact, value or external
    reference: str  # the resolved reference; for git repo://NAME@commit:HEX
    sha256: str | None = None  # of the bytes, where there are bytes
    location: str | None = None  # where the policy says that repository is
    value: str | None = None  # JSON text of an inline value


class Usage(Record, frozen=True, kw_only=True):
    """What an attempt used."""

    tokens_in: int = 0  # tokens read by a model
    tokens_out: int = 0  # tokens written by a model
    tool_calls: int = 0  # tool calls, each observed command included
    worker_seconds: Decimal = Decimal(0)  # wall-clock seconds of the worker, by the runner
    cost_gbp: Decimal = Decimal(0)  # further cost that the worker reports, pounds
    model: str | None = None  # the model used, if any
    estimated: bool = False  # true where usage was not reported and the reservation was booked
    turns: int = 0  # answers of a model


class Amounts(Record, frozen=True, kw_only=True):
    """Reserved, spent or remaining budget; null means unlimited."""

    cost_gbp: Decimal | None = None  # pounds
    tokens: int | None = None  # tokens in and out
    tool_calls: int | None = None  # calls
    turns: int | None = None  # answers of a model


class SubjectKind(StrEnum):
    """What evidence speaks of."""

    UNKNOWN = "UNKNOWN"
    GIT = "git"  # a full commit of a repository
    DOCUMENT = "document"  # a digest
    INPUTS = "inputs"  # digest over references and versions of the inputs


class Subject(Record, frozen=True, kw_only=True):
    """The exact thing that evidence speaks of."""

    kind: SubjectKind  # git, document or inputs
    repository: str | None = None  # the policy's name of the repository
    revision: str | None = None  # full commit, lower-case hex
    digest: str | None = None  # SHA-256


class ObservedBy(StrEnum):
    """Who saw what an evidence record says."""

    UNKNOWN = "UNKNOWN"
    RUNNER = "runner"  # the runner ran the command itself, after the handler ended
    WORKER = "worker"  # the worker says so


class EvidenceForm(StrEnum):
    """Which command line of a command was run."""

    UNKNOWN = "UNKNOWN"
    FULL = "full"  # the whole command
    RETEST = "retest"  # the targeted form, on the cases that failed before


class EvidenceType(StrEnum):
    """What kind of evidence it is."""

    UNKNOWN = "UNKNOWN"
    REVISION = "revision"
    TEST_RUN = "test_run"
    SCAN = "scan"
    COMMAND = "command"
    REVIEW = "review"
    DOCUMENT = "document"


class Evidence(Record, frozen=True, kw_only=True):
    """One piece of evidence, bound to worker, task, attempt, checks, subject and times."""

    kind: EvidenceType  # what it shows
    observed_by: ObservedBy  # runner or worker
    worker_id: str  # who ran the attempt
    task_id: str  # the task it belongs to
    attempt_id: UUID  # the attempt it was taken in
    checks: tuple[str, ...] = ()  # ids of the contract's checks that it speaks to
    command: str | None = None  # name of the contract's command
    form: EvidenceForm | None = None  # whole command or targeted retest
    argv: tuple[str, ...] = ()  # the command line as run
    subject: Subject | None = None  # what it speaks of
    exit_status: int | None = None  # of the command
    output: ArtefactRef | None = None  # captured output, or the declared output itself
    report: ArtefactRef | None = None  # the machine-written report
    passed_cases: tuple[str, ...] = ()  # test ids that passed
    failed_cases: tuple[str, ...] = ()  # test ids that failed or errored
    skipped_cases: tuple[str, ...] = ()  # test ids that were skipped
    findings: int | None = None  # what a scanner found
    environment_digest: str | None = None  # interpreter, platform, distributions, variable names
    environment: dict[str, str] = {}  # versions that constraints may speak of
    started_at: datetime | None = None  # UTC, by the runner's clock
    ended_at: datetime | None = None  # UTC, by the runner's clock
    note: str | None = None  # the worker's words; they change no rule
