"""What a worker writes to `$REMIT_RESULT`: the envelope without what the runner knows. Pure; anyone may import it.

The runner adds ids, token, times, input versions, environment and the evidence that it observed itself. The JSON
Schema `result-envelope-v1` is generated from this model; whatever breaks it is a fault with its path, never a value.
"""

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from remit.documents import parse
from remit.errors import EnvelopeInvalidError
from remit.events.inputs import BlockedReason, ErrorClass, ResultStatus
from remit.faults_pydantic import faults_of
from remit.policy.model import Money
from remit.result.classify import allowed
from remit.result.subtasks import Subtasks

SCHEMA_ID = "result-envelope-v1"
MAX_OUTPUT_BYTES = 64 * 1024
MAX_ENVELOPE_BYTES = 256 * 1024
MAX_EVIDENCE = 100
MAX_FAULTS = 20
ADVICE = 'write it to a file and name that as {"file": "PATH"}, so that it becomes an artefact'

Text = Annotated[str, Field(max_length=4096)]
Name = Annotated[str, Field(min_length=1, max_length=256)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Cases = Annotated[list[Name], Field(max_length=2000)]


class Part(BaseModel):
    """Base of all parts: frozen, strict, no unknown key, no value in errors."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


class FileOutput(Part):
    """A file of the workspace or of `$REMIT_OUT`, which the runner stores."""

    file: Annotated[str, Field(min_length=1, max_length=4096)]
    sha256: Digest | None = None  # of the raw bytes; compared, then dropped


class StoredOutput(Part):
    """An object that is stored already."""

    artefact_ref: Annotated[str, Field(pattern=r"^artefact://sha256/[0-9a-f]{64}$")]
    sha256: Digest
    size: Count


class WorkerUsage(Part):
    """What the worker used, as it knows it; seconds and observed commands are the runner's."""

    model: Name | None = None
    tokens_in: Count = 0
    tokens_out: Count = 0
    tool_calls: Count = 0
    turns: Count = 0  # answers of a model
    cost_gbp: Money = Decimal(0)  # further cost, pounds as text


class EvidenceSubject(Part):
    """What the worker says its evidence speaks of."""

    repository: Name | None = None
    revision: Name | None = None
    digest: Digest | None = None


class WorkerEvidence(Part):
    """What the worker says it saw; it is recorded as the worker's word and meets no observed check."""

    kind: Literal["revision", "test_run", "scan", "command", "review", "document"]
    checks: Annotated[list[Name], Field(max_length=100)] = []
    command: Name | None = None
    argv: Annotated[list[Text], Field(max_length=100)] = []
    subject: EvidenceSubject | None = None
    exit_status: Annotated[int, Field(ge=-255, le=255)] | None = None
    output: FileOutput | StoredOutput | None = None
    passed_cases: Cases = []
    failed_cases: Cases = []
    skipped_cases: Cases = []
    findings: Count | None = None
    note: Text | None = None


class Envelope(Part):
    """One result. `evidence` must be there, and may be empty: the runner adds what it observed."""

    status: Literal["completed", "blocked", "failed", "needs_review"]
    output: dict[str, JsonValue] | None = None
    artefact_ref: FileOutput | StoredOutput | None = None
    evidence: Annotated[list[WorkerEvidence], Field(max_length=MAX_EVIDENCE)]
    usage: WorkerUsage | None = None
    error_class: Literal["COMPLETED", "NEEDS_REVIEW", "RETRYABLE_FAILED", "PERMANENT_FAILED"] | None = None
    blocked_reason: Literal["capability", "permission", "input", "ambiguity"] | None = None
    retry_after: Annotated[int, Field(ge=0, le=86_400)] | None = None  # seconds
    message: Text | None = None
    subtasks: Subtasks = []

    @model_validator(mode="after")
    def _is_one_whole(self) -> Self:
        if (self.output is None) == (self.artefact_ref is None):
            raise ValueError("exactly one of output and artefact_ref is required")
        if (self.status == "blocked") != (self.blocked_reason is not None):
            raise ValueError("blocked_reason is required with status blocked, and with no other")
        reason = BlockedReason(self.blocked_reason) if self.blocked_reason else None
        classes = allowed(ResultStatus(self.status), reason)
        if self.error_class is not None and ErrorClass(self.error_class) not in classes:
            raise ValueError(f"error_class must be {' or '.join(classes)} here")
        if self.subtasks and self.status != "completed":
            raise ValueError("subtasks go with status completed, and with no other")
        return self


def read_envelope(data: bytes) -> Envelope:
    """The envelope in a result file; raises EnvelopeInvalidError as `check_envelope` does."""
    if len(data) > MAX_ENVELOPE_BYTES:
        raise EnvelopeInvalidError([f"size: {len(data)} bytes, at most {MAX_ENVELOPE_BYTES}; {ADVICE}"])
    return check_envelope(parse(data, is_json=True, error=EnvelopeInvalidError))


def check_envelope(document: dict[str, Any]) -> Envelope:
    """The envelope that a document is; raises EnvelopeInvalidError with its first faults, and how many more it has."""
    try:
        return Envelope.model_validate(document)
    except ValidationError as error:
        faults = [str(fault) for fault in faults_of(error, Envelope, most=MAX_FAULTS)]
        if (more := error.error_count() - MAX_FAULTS) > 0:
            faults.append(f"and {more} more faults")
    # Outside the handler: the driver's error holds the rejected values and must not ride along as a context.
    raise EnvelopeInvalidError(faults)


def size_fault(text: str) -> str | None:
    """What is wrong with the size of an output's JSON text, if anything."""
    size = len(text.encode())
    return None if size <= MAX_OUTPUT_BYTES else f"output: {size} bytes, at most {MAX_OUTPUT_BYTES} inline; {ADVICE}"
