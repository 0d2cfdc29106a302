"""The envelope that workers write, its published schema, and what follows from a status."""

import json

import jsonschema_rs
import pytest

from remit.errors import EnvelopeInvalidError
from remit.events.inputs import BlockedReason, ErrorClass, ResultStatus
from remit.result import classify, read_envelope
from remit.result.schema import generated, published

GOOD = {"status": "completed", "output": {}, "evidence": []}


def faults(**changes: object) -> tuple[str, ...]:
    """The faults of the good envelope with changes; `...` leaves a key out."""
    document = {name: value for name, value in (GOOD | changes).items() if value is not ...}
    with pytest.raises(EnvelopeInvalidError) as raised:
        read_envelope(json.dumps(document).encode())
    return raised.value.faults


def test_the_published_schema_is_the_models() -> None:
    """`python -m remit.result.schema` writes it anew."""
    assert published() == generated()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"evidence": ...}, "evidence is required"),
        ({"evidence": None}, "evidence must be a list"),
        ({"output": ...}, "exactly one of output and artefact_ref is required"),
        ({"artefact_ref": {"file": "x"}}, "exactly one of output and artefact_ref is required"),
        ({"status": ...}, "status is required"),
        ({"status": "blocked"}, "blocked_reason is required with status blocked, and with no other"),
        ({"blocked_reason": "input"}, "blocked_reason is required with status blocked, and with no other"),
        ({"error_class": "NEEDS_REVIEW"}, "error_class must be COMPLETED here"),
        ({"outptu": {}}, "outptu is not a known key (did you mean output?)"),
        ({"usage": {"tokens_in": -1}}, "usage.tokens_in must be at least 0"),
        ({"usage": {"cost_gbp": 0.1}}, "usage.cost_gbp must be money as text, like '0.25'"),
        ({"evidence": [{"kind": "test_run", "exit_status": "0"}]}, "evidence[0].exit_status must be a whole number"),
    ],
)
def test_a_fault_names_path_and_rule(change: dict[str, object], fault: str) -> None:
    """AVRO-4: missing and null are told apart, and both named where they stand."""
    assert fault in faults(**change)


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({}, True),
        ({"output": ..., "artefact_ref": {"file": "x"}}, True),
        ({"status": "blocked", "blocked_reason": "input"}, True),
        ({"evidence": ...}, False),
        ({"evidence": None}, False),
        ({"output": ...}, False),
        ({"artefact_ref": {"file": "x"}}, False),
        ({"status": "blocked"}, False),
        ({"blocked_reason": "input"}, False),
        ({"extra": 1}, False),
    ],
)
def test_the_schema_and_the_model_agree(change: dict[str, object], good: bool) -> None:
    """Whoever validates with the published schema alone gets the same answer."""
    document = {name: value for name, value in (GOOD | change).items() if value is not ...}
    assert jsonschema_rs.validator_for(published()).is_valid(document) is good
    if good:
        read_envelope(json.dumps(document).encode())
    else:
        assert faults(**change)


def test_no_value_gets_into_a_fault() -> None:
    """REDACT-3: neither into the message nor into the error's chain."""
    canary = "Zq7vK1mW9xT3pL5c"
    document = {"status": canary, "output": canary, "evidence": canary, "usage": {"model": 5, "x": canary}}
    with pytest.raises(EnvelopeInvalidError) as raised:
        read_envelope(json.dumps(document).encode())
    error: BaseException | None = raised.value
    while error is not None:
        assert canary not in f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__


def test_usage_may_be_left_out_or_null() -> None:
    """AVRO-4: both mean that nothing was reported."""
    assert read_envelope(json.dumps(GOOD).encode()).usage is None
    assert read_envelope(json.dumps(GOOD | {"usage": None}).encode()).usage is None


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"status": 1, "status": 2}', b'{"a": NaN}']
)
def test_what_is_no_document_is_refused(data: bytes) -> None:
    """Binary garbage, deep nesting and repeated keys are faults, never crashes."""
    with pytest.raises(EnvelopeInvalidError):
        read_envelope(data)


TABLE = [
    (ResultStatus.COMPLETED, None, None, ErrorClass.COMPLETED),
    (ResultStatus.NEEDS_REVIEW, None, None, ErrorClass.NEEDS_REVIEW),
    (ResultStatus.FAILED, None, None, ErrorClass.RETRYABLE_FAILED),
    (ResultStatus.FAILED, None, ErrorClass.PERMANENT_FAILED, ErrorClass.PERMANENT_FAILED),
    (ResultStatus.FAILED, None, ErrorClass.COMPLETED, None),
    (ResultStatus.COMPLETED, None, ErrorClass.RETRYABLE_FAILED, None),
    (ResultStatus.BLOCKED, BlockedReason.CAPABILITY, None, ErrorClass.PERMANENT_FAILED),
    (ResultStatus.BLOCKED, BlockedReason.PERMISSION, None, ErrorClass.PERMANENT_FAILED),
    (ResultStatus.BLOCKED, BlockedReason.INPUT, None, ErrorClass.NEEDS_REVIEW),
    (ResultStatus.BLOCKED, BlockedReason.AMBIGUITY, None, ErrorClass.NEEDS_REVIEW),
    (ResultStatus.BLOCKED, None, None, None),
    (ResultStatus.UNKNOWN, None, None, None),
]


@pytest.mark.parametrize(("status", "reason", "claimed", "expected"), TABLE)
def test_what_follows_from_a_status(
    status: ResultStatus, reason: BlockedReason | None, claimed: ErrorClass | None, expected: ErrorClass | None
) -> None:
    """The table of the design, and None for what contradicts itself."""
    assert classify(status, reason, claimed) is expected
