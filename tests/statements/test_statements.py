"""Evidence as in-toto Statements: the published structure, and nothing of the record lost."""

from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import replace

from remit.contract.normal import Workflow as Contract
from remit.events.base import Evidence, EvidenceForm, EvidenceType, Subject, SubjectKind
from remit.ids import digest
from remit.statements import EVIDENCE, TEST_RESULT, statement
from tests.supervisor import bodies
from tests.supervisor.lab import Lab

SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
DIGESTS = {
    "type": "object",
    "minProperties": 1,
    "properties": {"sha256": SHA256, "gitCommit": {"type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$"}},
}
DESCRIPTOR = {
    "type": "object",
    "anyOf": [{"required": [name]} for name in ("uri", "digest", "content")],
    "properties": {"name": {"type": "string"}, "uri": {"type": "string"}, "digest": DIGESTS},
}
STATEMENT = {
    "type": "object",
    "required": ["_type", "subject", "predicateType"],
    "additionalProperties": False,
    "properties": {
        "_type": {"const": "https://in-toto.io/Statement/v1"},
        "subject": {"type": "array", "minItems": 1, "items": DESCRIPTOR | {"required": ["digest"]}},
        "predicateType": {"type": "string", "format": "uri"},
        "predicate": {"type": "object"},
    },
}
TESTS = {"type": "array", "items": {"type": "string"}}
RESULT = {
    "type": "object",
    "required": ["result", "configuration"],
    "properties": {
        "result": {"enum": ["PASSED", "WARNED", "FAILED"]},
        "configuration": {"type": "array", "items": DESCRIPTOR},
        "passedTests": TESTS,
        "warnedTests": TESTS,
        "failedTests": TESTS,
    },
}
"""The structures that the attestation framework publishes: Statement v1, ResourceDescriptor, Test Result v0.1."""


@pytest.fixture
def finished(lab: Lab) -> Lab:
    """All accepted."""
    for task_id in ("code", "test", "lint", "review"):
        lab.finish(lab.start(task_id), bodies.good(lab.offer(task_id), lab))
    return lab


def accepted(lab: Lab, task_id: str) -> tuple[Evidence, Contract, Subject]:
    task = lab.workflow.tasks[task_id]
    assert task.subject is not None
    return task.evidence[0], lab.workflow.contract, task.subject


def fits(schema: dict[str, Any], value: object) -> None:
    for error in jsonschema_rs.Draft202012Validator(schema, validate_formats=True).iter_errors(value):
        raise AssertionError(f"{list(error.instance_path)}: {error.message}")


def test_each_kind_has_the_published_structure(finished: Lab) -> None:
    """Every accepted record is a Statement v1 with a digest for its subject; a test run is a Test Result v0.1."""
    for task_id in ("code", "test", "lint", "review"):
        found = statement(*accepted(finished, task_id))
        fits(STATEMENT, found)
        assert found["predicateType"] == (TEST_RESULT if task_id == "test" else EVIDENCE)
        if task_id == "test":
            fits(RESULT, found["predicate"])


def test_a_test_run_says_what_passed_and_under_which_configuration(finished: Lab) -> None:
    """Result, cases, the contract's command line and the environment, each by digest; the revision is the subject."""
    evidence, contract, subject = accepted(finished, "test")
    found = statement(evidence, contract, subject)
    assert found["subject"] == [{"name": "svc", "digest": {"gitCommit": bodies.revision_of(finished.offer("code"))}}]
    assert found["predicate"]["result"] == "PASSED"
    assert found["predicate"]["passedTests"] == ["tests.test_it::test_works"]
    assert found["predicate"]["configuration"] == [
        {"name": "suite", "digest": {"sha256": digest(["pytest", "{report}"])}},
        {"name": "environment", "digest": {"sha256": evidence.environment_digest}},
    ]


def test_the_record_names_all_that_evidence_is_bound_to(finished: Lab) -> None:
    """Command, environment digest, exit status, output digest, requirement, worker, task, attempt, times."""
    evidence, contract, subject = accepted(finished, "test")
    record = statement(evidence, contract, subject)["predicate"]["remit"]
    assert evidence.output is not None
    assert evidence.started_at is not None
    expected = {
        "tenant": "default",
        "workflow": "w1",
        "task": "test",
        "worker": evidence.worker_id,
        "attempt": str(evidence.attempt_id),
        "observedBy": "runner",
        "command": "suite",
        "form": "full",
        "argv": ["run", "suite"],
        "exitStatus": 0,
        "environmentDigest": evidence.environment_digest,
        "output": {"uri": evidence.output.reference, "digest": {"sha256": evidence.output.sha256}},
        "requirements": [{"id": "tests-pass", "text": "tests pass", "checks": ["suite"]}],
        "startedAt": evidence.started_at.isoformat(),
    }
    assert {name: record[name] for name in expected} == expected


def test_a_retest_and_a_failure_say_so(finished: Lab) -> None:
    """The targeted form has its own configuration; a failing case or exit status is FAILED, whatever else passed."""
    evidence, contract, subject = accepted(finished, "test")
    again = statement(replace(evidence, form=EvidenceForm.RETEST), contract, subject)["predicate"]
    assert again["configuration"][0]["digest"]["sha256"] == digest(["pytest", "{report}", "{failing}"])
    for changed in ({"exit_status": 1}, {"failed_cases": ("a::b",)}, {"exit_status": None}):
        assert statement(replace(evidence, **changed), contract, subject)["predicate"]["result"] == "FAILED"


def test_evidence_without_a_subject_speaks_of_its_task_s(finished: Lab) -> None:
    """Inputs without a repository are named by their digest."""
    evidence, contract, _ = accepted(finished, "lint")
    inputs = Subject(kind=SubjectKind.INPUTS, digest="a" * 64)
    found = statement(replace(evidence, subject=None, kind=EvidenceType.COMMAND), contract, inputs)
    fits(STATEMENT, found)
    assert found["subject"] == [{"name": "inputs", "digest": {"sha256": "a" * 64}}]
