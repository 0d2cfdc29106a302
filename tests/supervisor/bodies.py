"""Results as workers send them to the bench: good ones, and each way in which one can be wrong."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid5

from msgspec.structs import replace

from remit import ids
from remit.contract.references import artefact_reference
from remit.events.base import (
    ArtefactRef,
    Evidence,
    EvidenceForm,
    EvidenceType,
    ObservedBy,
    Subject,
    SubjectKind,
    Usage,
)
from remit.events.inputs import BlockedReason, ErrorClass, ResultBody, ResultStatus
from remit.events.service import Dispatch
from remit.subjects import subject_of
from tests.supervisor.lab import NAMES, Lab

USAGE = Usage(tokens_in=1000, tokens_out=500, tool_calls=2, worker_seconds=Decimal("1.5"))


def stored(text: str) -> ArtefactRef:
    """A reference to bytes that only the inspector would fetch."""
    digest = ids.sha256(text.encode())
    return ArtefactRef(reference=artefact_reference(digest), sha256=digest, size=len(text))


def contract_of(offer: Dispatch) -> dict[str, Any]:
    assert offer.offer is not None
    found: dict[str, Any] = json.loads(offer.offer.contract)
    return found


def revision_of(offer: Dispatch) -> str:
    """The commit that this attempt would make: another one for each attempt."""
    return offer.attempt_id.hex + "00000000"


def subject(offer: Dispatch) -> Subject:
    """What the attempt's work is about."""
    assert offer.offer is not None
    if "revision" in contract_of(offer)["task"]["outputs"].values():
        return Subject(kind=SubjectKind.GIT, repository="svc", revision=revision_of(offer))
    return subject_of(offer.offer.inputs)


def output(offer: Dispatch) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, kind in contract_of(offer)["task"]["outputs"].items():
        ref = stored(f"{name} of {offer.attempt_id}")
        as_file = {"artefact_ref": ref.reference, "sha256": ref.sha256, "size": ref.size}
        values[name] = {"revision": revision_of(offer), "value": "fine"}.get(kind, as_file)
    return values


def evidence(offer: Dispatch, lab: Lab, check: dict[str, Any], **changed: Any) -> Evidence:
    """Runner-observed evidence for one check that went well."""
    commanded = check["kind"] in {"test_run", "scan", "command"}
    fields: dict[str, Any] = {
        "kind": EvidenceType(check["kind"]),
        "observed_by": ObservedBy.RUNNER,
        "worker_id": offer.worker_id,
        "task_id": offer.task_id,
        "attempt_id": offer.attempt_id,
        "checks": (check["id"],),
        "subject": subject(offer),
        "environment_digest": ids.sha256(b"environment"),
        "started_at": lab.now,
        "ended_at": lab.now,
    }
    if commanded:
        fields |= {
            "command": check["command"],
            "form": EvidenceForm.FULL,
            "argv": ("run", check["command"]),
            "exit_status": 0,
            "output": stored("output"),
            "report": stored("report"),
            "passed_cases": ("tests.test_it::test_works",),
        }
    return Evidence(**(fields | changed))


def proof(offer: Dispatch, lab: Lab) -> tuple[Evidence, ...]:
    """All evidence that the task owes, retests of what failed before included."""
    assert offer.offer is not None
    checks = [check for requirement in contract_of(offer)["requirements"] for check in requirement["checks"]]
    full = [evidence(offer, lab, check) for check in checks]
    failed = {each.command: each.failed_cases for each in offer.offer.rework}
    again = [
        replace(each, form=EvidenceForm.RETEST, passed_cases=failed[each.command])
        for each in full
        if each.command and failed.get(each.command)
    ]
    return (*again, *full)


def good(offer: Dispatch, lab: Lab, **changed: Any) -> ResultBody:
    """A result that meets its contract."""
    assert offer.offer is not None
    fields: dict[str, Any] = {
        "status": ResultStatus.COMPLETED,
        "error_class": ErrorClass.COMPLETED,
        "output": json.dumps(output(offer)),
        "evidence": proof(offer, lab),
        "usage": USAGE,
        "input_versions": offer.offer.inputs,
        "started_at": lab.now - timedelta(seconds=1),
        "ended_at": lab.now + timedelta(seconds=1),
    }
    return ResultBody(**(fields | changed))


def with_evidence(offer: Dispatch, lab: Lab, **changed: Any) -> ResultBody:
    """A result that says completed, each of its records changed."""
    return good(offer, lab, evidence=tuple(replace(each, **changed) for each in proof(offer, lab)))


def defect(offer: Dispatch, lab: Lab, case: str = "tests.test_it::test_expired") -> ResultBody:
    """A run that failed for all to see: a failing case, at the exact subject."""
    return with_evidence(offer, lab, exit_status=1, failed_cases=(case,), passed_cases=())


def failed(offer: Dispatch, _: Lab, error_class: str = "RETRYABLE_FAILED", **changed: Any) -> ResultBody:
    assert offer.offer is not None
    fields: dict[str, Any] = {
        "status": ResultStatus.FAILED,
        "error_class": ErrorClass(error_class),
        "usage": USAGE,
        "input_versions": offer.offer.inputs,
    }
    return ResultBody(**(fields | changed))


def blocked(offer: Dispatch, lab: Lab, reason: str) -> ResultBody:
    error_class = "PERMANENT_FAILED" if reason in {"capability", "permission"} else "NEEDS_REVIEW"
    return failed(offer, lab, error_class, status=ResultStatus.BLOCKED, blocked_reason=BlockedReason(reason))


def needs_review(offer: Dispatch, lab: Lab) -> ResultBody:
    return failed(offer, lab, "NEEDS_REVIEW", status=ResultStatus.NEEDS_REVIEW)


STRANGER = uuid5(NAMES, "stranger")
