"""Both articles' documents and the definitions' worked example pass the gate as they stand."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from remit.contract.normal import HoldsAt, Workflow, decode, encode

EXAMPLES = Path(__file__).parents[2] / "examples" / "contracts"


def test_the_first_articles_contract_is_one_task(
    bare_contract: dict[str, Any], normal_form: Callable[..., Workflow]
) -> None:
    """The bare contract becomes one task of the type whose output schema it names; the policy gives the rest."""
    workflow = normal_form(bare_contract)
    (task,) = workflow.tasks.values()
    assert (workflow.workflow_type, task.task_type, task.pool) == (
        "implement_and_verify",
        "implement_and_verify",
        "coding",
    )
    assert (workflow.owner, workflow.tenant_id) == ("user:owner", "local")
    assert workflow.constraints == {"language": "Python 3.12", "framework": "Django"}
    assert task.permissions.grants["repository"] == "read-write:feature/password-reset"
    assert (workflow.limits.deadline_seconds, workflow.limits.max_tokens, workflow.limits.max_tool_calls) == (
        900,
        12000,
        20,
    )
    assert (task.limits.deadline_seconds, task.limits.max_tokens, task.limits.max_tool_calls) == (900, 12000, 20)


def test_each_string_of_the_first_article_is_a_requirement(
    bare_contract: dict[str, Any], normal_form: Callable[..., Workflow]
) -> None:
    """Definition of done, what must be preserved and security each become requirements with checks of the policy."""
    requirements = normal_form(bare_contract).requirements
    assert [(one.id, one.source, one.security) for one in requirements] == [
        ("implementation-committed", "definition_of_done", False),
        ("unit-and-integration-tests-pass", "definition_of_done", False),
        ("security-findings-recorded", "definition_of_done", False),
        ("existing-authentication-api", "must_preserve", False),
        ("single-use-token", "security", True),
        ("expiry-required", "security", True),
        ("never-log-reset-tokens", "security", True),
    ]
    assert all(one.mandatory and one.checks for one in requirements)
    by_id = {check.id: check for one in requirements for check in one.checks}
    assert {check.holds_at for check in by_id.values()} == {HoldsAt.FINAL, HoldsAt.OWN}
    assert by_id["findings"].holds_at is HoldsAt.OWN


def test_the_articles_own_error(bare_contract: dict[str, Any], faults: Callable[..., tuple[str, ...]]) -> None:
    """A contract without the repository grant gets the article's own line."""
    del bare_contract["permissions"]["repository"]
    assert faults(bare_contract) == ("permissions.repository is required",)


def test_the_second_articles_envelope(envelope: dict[str, Any], normal_form: Callable[..., Workflow]) -> None:
    """The envelope's task id, tenant, references, tools, deadline and attempts stand in the normal form."""
    workflow = normal_form(envelope)
    (task,) = workflow.tasks.values()
    assert (workflow.workflow_id, task.task_id, workflow.tenant_id) == (
        envelope["task_id"],
        envelope["task_id"],
        "shop_12",
    )
    assert [(one.reference, one.kind) for one in task.inputs.values()] == [
        ("sku:A14", "external"),
        ("policy:v8", "external"),
    ]
    assert task.tools == ("read_product", "read_policy")
    assert (workflow.limits.deadline, task.limits.max_attempts) == ("2026-07-19T12:00:00Z", 2)
    assert workflow.limits.deadline_seconds == 18 * 86400 + 12 * 3600
    assert task.output_schema is not None
    assert task.output_schema.name == "product_review_v2"


def test_the_second_articles_deadline_is_its_one_fault_today(
    envelope: dict[str, Any], faults: Callable[..., tuple[str, ...]]
) -> None:
    """Judged after its deadline the envelope has just that one fault."""
    assert faults(envelope, now=datetime(2026, 7, 19, 12, tzinfo=UTC)) == ("deadline lies in the past",)


def test_the_worked_example(worked_example: dict[str, Any], normal_form: Callable[..., Workflow]) -> None:
    """Four tasks, shares of the limits, rework to the producer, and checks where the file puts them."""
    workflow = normal_form(worked_example)
    assert list(workflow.tasks) == ["requirements", "coding", "testing", "security"]
    assert workflow.tasks["requirements"].limits.deadline_seconds == 225
    assert workflow.tasks["requirements"].limits.max_cost_gbp == Decimal("0.5")
    assert workflow.tasks["coding"].limits.deadline_seconds == 300
    assert workflow.tasks["coding"].permissions.paths == ("accounts/**",)
    assert workflow.tasks["testing"].rework == "coding"
    assert {check.id for _, check in workflow.checks_of("security")} == {"scan", "findings"}


def test_rework_goes_to_the_producer_by_default(
    worked_example: dict[str, Any], normal_form: Callable[..., Workflow]
) -> None:
    """A task that names no rework target gets the task whose revision it takes."""
    del worked_example["tasks"]["testing"]["rework"]
    workflow = normal_form(worked_example)
    assert (workflow.tasks["testing"].rework, workflow.tasks["coding"].rework) == ("coding", None)


@pytest.mark.parametrize("name", ["worked_example", "bare_contract", "envelope", "small"])
def test_a_normal_form_survives_its_text(
    name: str, request: pytest.FixtureRequest, normal_form: Callable[..., Workflow]
) -> None:
    """What is embedded in a transition reads back equal."""
    workflow = normal_form(request.getfixturevalue(name))
    assert decode(encode(workflow)) == workflow


@pytest.mark.parametrize("name", ["password-reset-contract.json", "product-review-envelope.json"])
def test_the_examples_are_the_articles_documents(name: str) -> None:
    """The documents handed to users are those that these tests judge."""
    assert (EXAMPLES / name).read_bytes() == (Path(__file__).parent / name).read_bytes()
