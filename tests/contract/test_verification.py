"""What the gate makes of a policy's verification: one more task for each verified one, and nothing in any document."""

import copy
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import yaml

from remit.contract.amend import amend, amended
from remit.contract.document import as_document
from remit.contract.gate import normalise
from remit.contract.normal import HoldsAt, Workflow, task_hash
from remit.contract.verification import verified_tasks, without_verifications
from remit.errors import ContractInvalidError, PolicyInvalidError
from remit.policy import load
from remit.policy.model import Policy

Document = dict[str, Any]


def changed(**parts: Any) -> Policy:
    """The shipped policy with other parts on its top level."""
    return load.parse(yaml.safe_dump(yaml.safe_load(load.default_text()) | parts))


def verifying(**said: Any) -> Policy:
    return changed(verification={"mode": "always"} | said)


@pytest.fixture
def document(worked_example: Document, resolved: Callable[[Document], Document]) -> Document:
    """The password-reset workflow, its references resolved."""
    return resolved(worked_example)


@pytest.fixture
def gate(now: datetime) -> Callable[..., Workflow]:
    """`gate(document, policy)`."""
    return lambda document, policy, **options: normalise(document, policy, now=now, resolved=True, **options)


@pytest.fixture
def plain(document: Document, policy: Policy, gate: Callable[..., Workflow]) -> Workflow:
    """Its normal form under the shipped policy, which verifies nothing."""
    return gate(document, policy)


@pytest.fixture
def verified(document: Document, gate: Callable[..., Workflow]) -> Workflow:
    """Its normal form under a policy that verifies all."""
    return gate(document, verifying())


def test_each_task_with_commands_gets_one_that_runs_them_again(verified: Workflow) -> None:
    """Tasks with test_run, scan or command checks are verified; a task without such checks, and a verification, not."""
    made = {task.verifies for task in verified.tasks.values() if task.verifies}
    assert made == {"testing", "security"}
    assert list(verified.tasks) == [
        *("requirements", "coding", "testing", "testing.verify", "security", "security.verify"),
    ]


def test_it_takes_the_exact_subject_and_may_only_run_it(verified: Workflow) -> None:
    """Its inputs are the code that the verified task took; it makes nothing, and may execute and no more."""
    task = verified.tasks["testing.verify"]
    assert task.inputs == {"revision": verified.tasks["testing"].inputs["revision"]}
    assert (task.outputs, task.output_schema, task.rework, task.spawn) == ({}, None, None, None)
    assert task.permissions.grants == {"repository": "execute", "database": "none", "deployment": "none"}
    assert (task.pool, task.capability, task.task_type) == ("verifiers", "verify", "verify")
    assert task.depends_on == ("testing",)


def test_what_a_task_makes_itself_is_taken_from_it(document: Document, gate: Callable[..., Workflow]) -> None:
    """A task that makes a revision is verified at that revision."""
    document["checks"]["implementation committed"].append(
        {"id": "builds", "kind": "command", "task": "coding", "command": "bandit", "holds_at": "own"}
    )
    document["tasks"]["coding"]["permissions"]["repository"] = "read-write:feature/password-reset"
    found = gate(document, verifying()).tasks["coding.verify"]
    assert found.inputs["revision"].reference == "task://coding/revision"
    assert list(found.inputs) == ["revision"]


def test_without_code_it_takes_all_inputs(small: Document, gate: Callable[..., Workflow]) -> None:
    """A task without code is verified only where its type is named: on the inputs that it had, no right to code."""
    assert "a.verify" not in gate(small, verifying()).tasks
    small["inputs"] = {"page": "sku:A1"}
    small["tasks"]["a"]["inputs"] = {"page": "input://page"}
    found = gate(small, verifying(types=["shell"]))
    assert found.tasks["a.verify"].inputs == found.tasks["a"].inputs
    assert set(found.tasks["a.verify"].permissions.grants.values()) == {"none"}


def test_its_checks_serve_the_same_requirements(verified: Workflow, plain: Workflow) -> None:
    """Each runner's check has a copy at its requirement: same kind, command, cases, place; so the gate needs both."""
    for requirement, before in zip(verified.requirements, plain.requirements, strict=True):
        added = requirement.checks[len(before.checks) :]
        assert requirement.checks[: len(before.checks)] == before.checks
        expected = [each for each in before.checks if each.command]
        assert [(each.id, each.task) for each in added] == [(f"{e.id}.verify", f"{e.task}.verify") for e in expected]
        for copied, original in zip(added, expected, strict=True):
            assert (copied.kind, copied.command, copied.cases) == (original.kind, original.command, original.cases)
            assert copied.holds_at is original.holds_at is HoldsAt.FINAL


def test_nobody_uses_what_is_not_verified_yet(verified: Workflow) -> None:
    """Whatever depended on the task depends on its verification too."""
    assert verified.tasks["security"].depends_on == ("testing", "testing.verify")


def test_other_tasks_stay_what_they_are(verified: Workflow, plain: Workflow) -> None:
    """Verification changes no limit and no contract but the dependencies; the reverse gives the plain form."""
    for task_id, task in plain.tasks.items():
        assert verified.tasks[task_id].limits == task.limits
    same = {task_id for task_id in plain.tasks if task_hash(plain, task_id) == task_hash(verified, task_id)}
    assert same == {"requirements", "coding", "testing"}
    assert without_verifications(verified) == plain


def test_its_limits_are_its_type_s_within_the_workflow_s(document: Document, gate: Callable[..., Workflow]) -> None:
    """The type says how much; never more than the workflow has, and never less than two attempts."""
    document["limits"] |= {"max_attempts": 1, "max_cost_gbp": "0.05"}
    document["tasks"]["requirements"]["limits"] = document["tasks"]["coding"]["limits"] = {}
    limits = gate(document, verifying()).tasks["testing.verify"].limits
    assert (limits.max_tokens, str(limits.max_cost_gbp), limits.max_attempts) == (1, "0.05", 2)


def test_a_sample_is_the_same_each_time(small: Document, gate: Callable[..., Workflow]) -> None:
    """`sample` takes about its share of the tasks, by their names alone."""
    policy = verifying(mode="sample", percent=30, types=["shell"])
    names = [f"w{number}" for number in range(200)]
    drawn = {name for name in names if "a.verify" in gate(small | {"workflow_id": name}, policy).tasks}
    again = {name for name in names if "a.verify" in gate(copy.deepcopy(small) | {"workflow_id": name}, policy).tasks}
    assert drawn == again
    assert 0.2 < len(drawn) / len(names) < 0.4
    every = verifying(mode="sample", percent=100, types=["shell"])
    assert all("a.verify" in gate(small | {"workflow_id": name}, every).tasks for name in names[:20])


def test_types_and_risk_classes_narrow_it(document: Document, gate: Callable[..., Workflow]) -> None:
    """The policy may name which task types, and which risk classes, are verified."""
    workflow = gate(document, verifying(types=["test"]))
    assert verified_tasks(without_verifications(workflow), verifying(types=["test"])) == ("testing",)
    assert "security.verify" not in workflow.tasks
    assert gate(document, verifying(risk_classes=["high"])).tasks.keys() == document["tasks"].keys()


@pytest.mark.parametrize("name", ["worked_example", "bare_contract", "envelope", "small"])
def test_it_never_stands_in_a_document(
    name: str,
    request: pytest.FixtureRequest,
    now: datetime,
    resolved: Callable[[Document], Document],
    gate: Callable[..., Workflow],
) -> None:
    """Law: the gate on `as_document(w)` gives `w`, verifications included; an empty draft changes nothing."""
    every = ["test", "security_review", "implement", "implement_and_verify", "review_product_copy", "shell"]
    policy = verifying(types=every)
    workflow = gate(resolved(request.getfixturevalue(name)), policy)
    said = as_document(workflow, policy.output_schemas)
    assert ".verify" not in str(said)
    assert gate(said, policy) == workflow
    assert amend(workflow, {"schema_version": "workflow-v1"}, policy, now=now) == workflow


def test_a_draft_s_new_check_is_verified_and_widens_nothing(verified: Workflow, now: datetime) -> None:
    """A draft that adds a command to a task that had none gets a verification too, by rule and not as a new task."""
    draft = {
        "schema_version": "workflow-v1",
        "constraints": {"must_preserve": ["existing authentication API", "it compiles"]},
        "checks": {
            "it compiles": [{"id": "compiles", "kind": "command", "task": "coding", "command": "bandit"}],
        },
    }
    version = amend(verified, draft, verifying(), now=now)
    assert "coding.verify" in version.tasks
    assert version.tasks["testing"].depends_on == ("coding", "coding.verify")
    assert amended(verified, draft, verifying(), now=now).widens == ()


def test_a_check_that_is_dropped_is_named_once(verified: Workflow, now: datetime) -> None:
    """An amendment that drops a requirement says so; its verification goes without a word."""
    done = {"definition_of_done": ["implementation committed", "unit and integration tests pass"]}
    found = amended(verified, {"schema_version": "workflow-v1"} | done, verifying(), now=now)
    assert len(found.widens) == 1
    assert "security.verify" not in found.workflow.tasks


@pytest.mark.parametrize("mode", ["never", "always"])
def test_its_names_are_reserved(document: Document, now: datetime, mode: str) -> None:
    """No task, no check and no type of a user's may pass for a verification's."""
    document["tasks"]["testing.verify"] = document["tasks"]["testing"]
    document["tasks"]["again"] = document["tasks"]["security"] | {"task_type": "verify", "pool": "security"}
    document["checks"]["single-use token"][0]["id"] = "once.verify"
    with pytest.raises(ContractInvalidError) as caught:
        normalise(document, verifying(mode=mode), now=now, resolved=True)
    said = "\n".join(caught.value.faults)
    assert "tasks.testing.verify must not end with .verify" in said
    assert 'checks["single-use token"][0].id must not end with .verify' in said
    assert "tasks.again.task_type is of the tasks that verification adds" in said


def test_what_no_verifier_could_take_is_invalid(document: Document, now: datetime) -> None:
    """Risk, data and ids that the verifiers' pool could not take are named before anything is dispatched."""
    text = yaml.safe_load(load.default_text())
    text["verification"] = {"mode": "sample", "percent": 1}
    text["pools"]["verifiers"] |= {"risk_class": "low", "data_classification": "public"}
    document |= {"data_classification": "internal"}
    document["tasks"]["testing"]["risk_class"] = text["pools"]["testing"]["risk_class"] = "medium"
    with pytest.raises(ContractInvalidError) as caught:
        normalise(document, load.parse(yaml.safe_dump(text)), now=now, resolved=True)
    assert set(caught.value.faults) == {
        "data_classification is more than pool verifiers may see, which verifies",
        "tasks.testing.risk_class must be at most low (pool verifiers, which verifies it)",
    }


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"verification": {"mode": "sample"}}, "verification.percent is required with mode sample"),
        ({"verification": {"mode": "always", "percent": 5}}, "verification.percent stands only with mode sample"),
        ({"verification": {"mode": "always", "types": ["tset"]}}, "verification.types[0] is not a task type"),
        ({"verification": {"mode": "always", "types": ["verify"]}}, "verification.types[0] is not a task type"),
        ({"verification": {"mode": "now and then"}}, "verification.mode"),
    ],
)
def test_a_policy_says_it_whole(parts: Document, fault: str) -> None:
    """What contradicts itself is refused when the policy is applied."""
    with pytest.raises(PolicyInvalidError) as caught:
        changed(**parts)
    assert any(fault in each for each in caught.value.faults), caught.value.faults


@pytest.mark.parametrize(
    ("part", "change", "fault"),
    [
        ("task_types", {"verify": None}, "task_types.verify is required with verification.mode always"),
        ("task_types", {"verify": {"pool": "verifiers", "outputs": {"a": "log"}}}, "task_types.verify.outputs"),
        (
            "pools",
            {"verifiers": {"capabilities": ["verify"], "permissions": {"repository": ["read-only"]}}},
            "pools.verifiers.permissions.repository must grant execute",
        ),
        ("checks", {"it works": [{"id": "a.verify", "kind": "revision"}]}, "must not end with .verify"),
    ],
)
def test_a_policy_that_verifies_has_verifiers(part: str, change: Document, fault: str) -> None:
    """The type `verify` exists, does nothing else, and its pool may run what it takes."""
    text = yaml.safe_load(load.default_text()) | {"verification": {"mode": "always"}}
    text[part] = {name: value for name, value in (text[part] | change).items() if value is not None}
    with pytest.raises(PolicyInvalidError) as caught:
        load.parse(yaml.safe_dump(text))
    assert any(fault in each for each in caught.value.faults), caught.value.faults
