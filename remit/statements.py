"""Accepted evidence as in-toto Statements (v1), so that any tool of supply-chain attestation can read it. Pure.

What a test run shows has the vetted predicate type `test-result`, with Remit's own record under the key `remit`; all
else has the predicate type `urn:remit:evidence:v1`, whose predicate is that record. They are statements, not yet
signed envelopes: whoever exports them may wrap them in DSSE. Anyone may import it.
"""

from typing import Any

from remit.contract.normal import Workflow
from remit.events.base import ArtefactRef, Evidence, EvidenceForm, EvidenceType, Subject
from remit.ids import digest

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
EVIDENCE = "urn:remit:evidence:v1"
Document = dict[str, Any]


def statement(evidence: Evidence, contract: Workflow, subject: Subject) -> Document:
    """One record of an accepted result as a Statement of JSON values; times are ISO 8601 in UTC.

    `subject` is what the task's work was about: a record without a subject of its own speaks of that.
    """
    record = _record(evidence, contract)
    is_test = evidence.kind is EvidenceType.TEST_RUN
    return {
        "_type": STATEMENT,
        "subject": [_subject(evidence.subject or subject)],
        "predicateType": TEST_RESULT if is_test else EVIDENCE,
        "predicate": _test_result(evidence, contract) | {"remit": record} if is_test else record,
    }


def _subject(subject: Subject) -> Document:
    if subject.revision is not None:
        return {"name": subject.repository or "_", "digest": {"gitCommit": subject.revision}}
    return {"name": subject.kind.value, "digest": {"sha256": subject.digest or ""}}


def _test_result(evidence: Evidence, contract: Workflow) -> Document:
    passed = evidence.exit_status == 0 and not evidence.failed_cases
    return {
        "result": "PASSED" if passed else "FAILED",
        "configuration": _configuration(evidence, contract),
        "passedTests": list(evidence.passed_cases),
        "failedTests": list(evidence.failed_cases),
    }


def _configuration(evidence: Evidence, contract: Workflow) -> list[Document]:
    """The contract's command line, the same for each run of it, and the environment that it ran in."""
    found = []
    command = contract.commands.get(evidence.command or "")
    if command is not None:
        argv = command.retest if evidence.form is EvidenceForm.RETEST and command.retest else command.argv
        found.append({"name": evidence.command, "digest": {"sha256": digest(list(argv))}})
    if evidence.environment_digest is not None:
        found.append({"name": "environment", "digest": {"sha256": evidence.environment_digest}})
    return found


def _record(evidence: Evidence, contract: Workflow) -> Document:
    task = contract.tasks.get(evidence.task_id)
    said = {
        "kind": evidence.kind.value,
        "observedBy": evidence.observed_by.value,
        "tenant": contract.tenant_id,
        "workflow": contract.workflow_id,
        "task": evidence.task_id,
        "verifies": task.verifies if task else None,
        "attempt": str(evidence.attempt_id),
        "worker": evidence.worker_id,
        "requirements": _requirements(evidence, contract),
        "command": evidence.command,
        "form": evidence.form.value if evidence.form else None,
        "argv": list(evidence.argv) or None,
        "exitStatus": evidence.exit_status,
        "environmentDigest": evidence.environment_digest,
        "output": _stored(evidence.output),
        "report": _stored(evidence.report),
        "skippedTests": list(evidence.skipped_cases) or None,
        "findings": evidence.findings,
        "startedAt": evidence.started_at.isoformat() if evidence.started_at else None,
        "endedAt": evidence.ended_at.isoformat() if evidence.ended_at else None,
    }
    return {name: value for name, value in said.items() if value is not None}


def _requirements(evidence: Evidence, contract: Workflow) -> list[Document]:
    """The requirements that it serves, with those of their checks that it speaks to."""
    found: dict[str, Document] = {}
    for requirement, check in contract.checks_of(evidence.task_id):
        if check.id in evidence.checks and check.kind.value == evidence.kind.value:
            served = {"id": requirement.id, "text": requirement.text, "checks": []}
            found.setdefault(requirement.id, served)["checks"].append(check.id)
    return list(found.values())


def _stored(artefact: ArtefactRef | None) -> Document | None:
    return None if artefact is None else {"uri": artefact.reference, "digest": {"sha256": artefact.sha256}}
