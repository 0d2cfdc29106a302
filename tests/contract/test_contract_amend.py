"""A drafted version may tighten and add; whatever it widens, drops or changes is named."""

# ruff: noqa: E501  (a draft and its line are read side by side)

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from remit.contract.amend import amend
from remit.contract.document import as_document
from remit.contract.normal import Workflow, task_hash
from remit.errors import ContractInvalidError
from remit.policy.model import Policy

Document = dict[str, Any]
Amend = Callable[[Document], Workflow]


@pytest.fixture
def approved(
    worked_example: Document, resolved: Callable[[Document], Document], normal_form: Callable[..., Workflow]
) -> Workflow:
    """The worked example's version 1."""
    return normal_form(resolved(worked_example), resolved=True)


@pytest.fixture
def drafted(approved: Workflow, policy: Policy, now: datetime) -> Amend:
    """`drafted(draft)`: the version that the draft makes of the approved one."""
    return lambda draft: amend(approved, {"schema_version": "workflow-v1"} | draft, policy, now=now)


@pytest.mark.parametrize("name", ["worked_example", "bare_contract", "envelope", "small"])
def test_a_normal_form_written_as_a_file_is_itself(  # noqa: PLR0917  (fixtures)
    name: str,
    request: pytest.FixtureRequest,
    policy: Policy,
    now: datetime,
    resolved: Callable[[Document], Document],
    normal_form: Callable[..., Workflow],
) -> None:
    """Law: the gate on `as_document(w)` gives `w`, and an empty draft changes nothing."""
    workflow = normal_form(resolved(request.getfixturevalue(name)), resolved=True)
    assert normal_form(as_document(workflow, policy.output_schemas), resolved=True) == workflow
    assert amend(workflow, {"schema_version": "workflow-v1"}, policy, now=now) == workflow


def test_a_draft_may_be_the_whole_file(drafted: Amend, approved: Workflow, policy: Policy) -> None:
    """A worker may as well hand in the complete document."""
    assert drafted(as_document(approved, policy.output_schemas)) == approved


def test_a_draft_may_tighten_and_add(drafted: Amend, approved: Workflow) -> None:
    """New requirements with checks, lower limits, narrower paths pass; tasks not touched keep their hash."""
    security = [one.text for one in approved.requirements if one.security]
    version = drafted(
        {
            "constraints": {"security": [*security, "128-bit random token"]},
            "checks": {
                "128-bit random token": [
                    {"id": "random", "kind": "test_run", "task": "testing", "command": "suite", "cases": ["*random*"]}
                ]
            },
            "limits": {"max_tokens": 8000},
            "tasks": {"coding": {"permissions": {"paths": ["accounts/reset/**"]}}},
        }
    )
    assert version.requirements[-1].id == "128-bit-random-token"
    assert version.limits.max_tokens == 8000
    assert version.tasks["coding"].permissions.paths == ("accounts/reset/**",)
    assert version.tasks["coding"].permissions.grants == approved.tasks["coding"].permissions.grants
    assert task_hash(version, "security") == task_hash(approved, "security")
    assert task_hash(version, "testing") != task_hash(approved, "testing")


@pytest.mark.parametrize(
    ("draft", "line"),
    [
        ({"owner": "user:mallory"}, "owner must stay as approved"),
        ({"objective": "Something else"}, "objective must stay as approved"),
        ({"effects": []}, "effects must stay as approved"),
        ({"limits": {"max_tokens": 12001}}, "limits.max_tokens must be at most 12000 (approved version)"),
        ({"limits": {"max_cost_gbp": "2.01"}}, "limits.max_cost_gbp must be at most 2.00 (approved version)"),
        ({"limits": {"max_reworks": 3}}, "limits.max_reworks must be at most 2 (approved version)"),
        ({"constraints": {"security": ["expiry required", "never log reset tokens"]}, "checks": {}}, "constraints.security[0] of the approved version is missing"),
        ({"definition_of_done": ["implementation committed", "unit and integration tests pass"]}, "definition_of_done[2] of the approved version is missing"),
        ({"checks": {"single-use token": [{"id": "once", "kind": "command", "task": "testing", "command": "suite"}]}}, "constraints.security[0]: check once must stay as approved"),
        ({"checks": {"single-use token": [{"id": "new", "kind": "command", "task": "testing", "command": "suite"}]}}, "constraints.security[0]: check once must stay as approved"),
        ({"constraints": {"language": "Python >=3.8"}}, "constraints.language must stay as approved"),
        ({"commands": {"evil": {"argv": ["true"]}}}, "commands.evil is not a command of the approved version or the policy"),
        ({"commands": {"suite": {"argv": ["true", "{report}"], "report": "junit"}}}, "commands.suite is not a command of the approved version or the policy"),
        ({"commands": {"bandit": {"argv": ["python", "-m", "bandit", "-q", "-r", ".", "-f", "json", "-o", "{report}"], "report": "bandit"}}}, "commands.bandit must stay as approved"),
        ({"tasks": {"more": {"task_type": "shell"}}}, "tasks.more is not a task of the approved version"),
        ({"tasks": {"coding": {"tools": ["edit_files"]}}}, "tasks.coding.tools[0] is not a tool of the approved version"),
        ({"tasks": {"coding": {"outputs": {"revision": "revision", "diff": "diff", "x": "log"}}}}, "tasks.coding.outputs must stay as approved"),
        ({"tasks": {"coding": {"permissions": {"paths": ["**"]}}}}, "tasks.coding.permissions.paths[0] is more than the approved version grants"),
        ({"tasks": {"coding": {"permissions": {"paths": []}}}}, "tasks.coding.permissions.paths is more than the approved version grants"),
        ({"tasks": {"coding": {"permissions": {"repository": "read-write:feature/other"}}}}, "tasks.coding.permissions.repository is more than the approved version grants"),
        ({"tasks": {"coding": {"limits": {"max_attempts": 3}}}}, "tasks.coding.limits.max_attempts must be at most 2 (approved version)"),
        ({"tasks": {"security": {"depends_on": ["coding"], "inputs": {"tests": "task://coding/diff", "logs": "task://coding/diff"}}}}, "tasks.security.depends_on must stay as approved"),
        ({"schema_version": "task-contract-v1"}, "schema_version must be workflow-v1"),
        ({"inputs": {"threat_model": "file://other.md"}}, "inputs.threat_model is not stored as an artefact"),
    ],
)  # fmt: skip
def test_a_draft_never_widens(draft: Document, line: str, drafted: Amend) -> None:
    """Each way to widen, drop or change has its line."""
    with pytest.raises(ContractInvalidError) as caught:
        drafted(draft)
    assert line in caught.value.faults


def test_a_dropped_requirement_is_named(drafted: Amend, approved: Workflow, policy: Policy) -> None:
    """Leaving a text out of its list is seen even when its checks go with it."""
    whole = as_document(approved, policy.output_schemas)
    whole["constraints"]["security"].remove("single-use token")
    del whole["checks"]["single-use token"]
    with pytest.raises(ContractInvalidError) as caught:
        drafted(whole)
    assert caught.value.faults == ("constraints.security[0] of the approved version is missing",)


@pytest.mark.parametrize(
    "part", ["tasks", "limits", "checks", "constraints", "commands", "inputs", "definition_of_done"]
)
@pytest.mark.parametrize("value", [None, 5, "x", [], [5], {"x": 5}])
def test_a_malformed_draft_is_a_fault(part: str, value: Any, drafted: Amend) -> None:
    """A worker may hand in anything: it is judged, never a crash."""
    with pytest.raises(ContractInvalidError) as caught:
        drafted({part: value})
    assert any(line.startswith(part) or "of the approved version is missing" in line for line in caught.value.faults)


def test_a_deadline_that_stays_need_not_lie_ahead(
    small: Document, policy: Policy, now: datetime, normal_form: Callable[..., Workflow]
) -> None:
    """What was ahead when it was approved stays as it is, however it is written; a new one lies ahead."""
    small["limits"] = small["tasks"]["a"]["limits"] = {"deadline": "2026-07-19T12:00:00Z"}
    approved, later = normal_form(small), now + timedelta(days=60)
    for text in ("2026-07-19T12:00:00Z", "2026-07-19T13:00:00+01:00"):
        draft = {"schema_version": "workflow-v1", "limits": {"deadline": text, "max_workers": 1}}
        assert amend(approved, draft, policy, now=later).limits.deadline == "2026-07-19T12:00:00Z"
    for text in ("2026-07-19T11:59:59Z", "not a time"):
        draft = {"schema_version": "workflow-v1", "tasks": {"a": {"limits": {"deadline": text}}}}
        with pytest.raises(ContractInvalidError, match=r"tasks\.a\.limits\.deadline"):
            amend(approved, draft, policy, now=later)
