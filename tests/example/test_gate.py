"""The example's workflow file, and the version that the requirements worker drafts, at the contract gate."""

from datetime import UTC, datetime
from importlib.resources import files
from types import ModuleType

import pytest
import yaml

from remit.contract.gate import normalise
from remit.policy.model import Policy
from tests.example.example_bench import EXAMPLE, Bench, load

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def policy() -> Policy:
    text = files("remit.policy").joinpath("default.yaml").read_text(encoding="utf-8")
    return Policy.model_validate(yaml.safe_load(text))


def test_the_workflow_file_passes_the_gate(bench: Bench, maker: ModuleType, policy: Policy) -> None:
    """The rendered file is a valid contract under the shipped policy."""
    workflow = normalise(yaml.safe_load(maker.render_workflow(bench.base)), policy, now=NOW)
    assert list(workflow.tasks) == ["requirements", "coding", "testing", "security"]


def test_the_drafted_version_adds_requirements_and_changes_nothing_else(
    bench: Bench, maker: ModuleType, policy: Policy
) -> None:
    """Version 2 passes the gate, keeps tasks, commands and limits, and has six requirements more."""
    document = yaml.safe_load(maker.render_workflow(bench.base))
    draft = load(EXAMPLE / "workers" / "requirements").draft({"contract": document})
    first, second = (normalise(version, policy, now=NOW) for version in (document, draft))
    assert (second.tasks, second.commands, second.limits) == (first.tasks, first.commands, first.limits)
    assert set(first.requirements) < set(second.requirements)
    added = [requirement for requirement in second.requirements if requirement not in first.requirements]
    assert [(len(added), all(requirement.security for requirement in added))] == [(6, True)]
