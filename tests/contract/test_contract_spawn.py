"""Spawn plans through the gate, what a proposed task makes of a contract, and who sees a line's last revision."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from remit.contract.amend import amend, amended, regated
from remit.contract.document import as_document
from remit.contract.gate import normalise
from remit.contract.normal import SpawnPlan, Workflow, decode, encode, task_hash
from remit.contract.spawn import ungranted, with_child
from remit.documents import read
from remit.errors import ContractInvalidError, PolicyInvalidError
from remit.policy import load
from remit.policy.model import Policy
from remit.result.subtasks import Subtask, read_subtasks, write_subtasks

Document = dict[str, Any]
Faults = Callable[..., tuple[str, ...]]
PLAN = {"types": ["test"], "max_subtasks": 3, "max_cost_gbp": "1.00"}
ROOT = Path(__file__).parents[2]


def changed(**parts: Any) -> Policy:
    """The shipped policy with other parts on its top level."""
    return load.parse(yaml.safe_dump(yaml.safe_load(load.default_text()) | parts))


@pytest.fixture
def planned(worked_example: Document, resolved: Callable[[Document], Document]) -> Document:
    """The worked example, whose testing may propose further tests."""
    worked_example["tasks"]["testing"]["spawn"] = PLAN
    return resolved(worked_example)


def test_a_plan_stands_in_the_normal_form_and_in_the_hash_where_it_is_set(
    planned: Document, normal_form: Callable[..., Workflow], policy: Policy
) -> None:
    """Left out, a task proposes nothing, and its hash is the one that it always had."""
    workflow = normal_form(planned, resolved=True)
    plan = workflow.tasks["testing"].spawn
    assert plan is not None
    assert (plan.types, plan.max_subtasks, str(plan.max_cost_gbp)) == (("test",), 3, "1.00")
    assert {task.spawn for task_id, task in workflow.tasks.items() if task_id != "testing"} == {None}
    assert normal_form(as_document(workflow, policy.output_schemas), resolved=True) == workflow
    assert decode(encode(workflow)) == workflow
    del planned["tasks"]["testing"]["spawn"]
    without = normal_form(planned, resolved=True)
    assert task_hash(without, "testing") != task_hash(workflow, "testing")
    assert task_hash(without, "coding") == task_hash(workflow, "coding")


PLANS = {
    "an unknown type": ({"types": ["tset"]}, "spawn.types[0] is not a task type of the policy (did you mean test?)"),
    "no type": ({"types": []}, "spawn.types must have at least 1 entries"),
    "no count": ({"max_subtasks": 0}, "spawn.max_subtasks must be at least 1"),
    "more than the workflow's": ({"max_cost_gbp": "2.01"}, "spawn.max_cost_gbp must be at most 2.00 (workflow)"),
    "an unknown key": ({"depth": 3}, "spawn.depth is not a known key"),
}


@pytest.mark.parametrize(("said", "line"), PLANS.values(), ids=PLANS)
def test_a_plan_that_nobody_could_grant(said: Document, line: str, worked_example: Document, faults: Faults) -> None:
    """One line for each fault, by its path."""
    worked_example["tasks"]["testing"]["spawn"] = PLAN | said
    assert faults(worked_example) == (f"tasks.testing.{line}",)


def test_a_type_s_plan(worked_example: Document, now: datetime) -> None:
    """It comes with the type, bounded by the workflow's money; null in the file takes it away; its types exist."""
    types = yaml.safe_load(load.default_text())["task_types"]
    plan = {"types": ["test"], "max_subtasks": 2, "max_cost_gbp": "40"}
    policy = changed(task_types=types | {"test": types["test"] | {"spawn": plan}})
    workflow = normalise(worked_example, policy, now=now)
    assert workflow.tasks["testing"].spawn == SpawnPlan(
        types=("test",), max_subtasks=2, max_cost_gbp=workflow.limits.max_cost_gbp
    )
    worked_example["tasks"]["testing"]["spawn"] = None
    assert normalise(worked_example, policy, now=now).tasks["testing"].spawn is None
    with pytest.raises(PolicyInvalidError, match=r"task_types\.test\.spawn\.types\[0\] is not a task type"):
        changed(task_types=types | {"test": types["test"] | {"spawn": plan | {"types": ["nothing"]}}})


def proposal(**said: Any) -> Subtask:
    """One more test of the same revision."""
    fields: Document = {
        "id": "more",
        "task_type": "test",
        "objective": "Test the edges",
        "inputs": {"revision": "task://coding/revision"},
        "depends_on": ["coding"],
        "outputs": {"report": "report"},
        "permissions": {"repository": "execute", "database": "none", "deployment": "none"},
        "definition_of_done": ["edges are tested"],
    }
    (found,) = read_subtasks(write_subtasks([Subtask.model_validate(fields | said)]))
    return found


EDGES = {"edges are tested": [{"id": "edges", "kind": "test_run", "command": "suite", "holds_at": "own"}]}


@pytest.mark.parametrize("mode", ["never", "always"])
def test_a_proposed_task_changes_nobody_else_s(mode: str, planned: Document, now: datetime) -> None:
    """It stands behind its parent, with its kin; every other hash stays, those of verifications too; the law holds."""
    checks = yaml.safe_load(load.default_text())["checks"]
    policy = changed(verification={"mode": mode}, checks=checks | EDGES)
    before = normalise(planned, policy, now=now, resolved=True)
    assert ungranted(before, "testing", proposal(), policy, among=5) is None
    after = with_child(before, "testing", proposal(), policy, now=now, among=5)
    child = after.tasks["more"]
    assert (child.parent, child.depth, child.depends_on[:1], child.spawn) == (
        "testing",
        1,
        ("testing",),
        before.tasks["testing"].spawn,
    )
    assert str(child.limits.max_cost_gbp) == "0.333333"  # the plan's share is less than the workflow's
    assert {each: task_hash(after, each) for each in before.tasks} == {
        each: task_hash(before, each) for each in before.tasks
    }
    assert ("more.verify" in after.tasks) == (mode == "always")
    again = regated(after, as_document(after, policy.output_schemas), policy, now=now)
    assert again == after
    assert amend(after, {"schema_version": "workflow-v1"}, policy, now=now) == after


def test_a_proposal_brings_no_duty_to_others(planned: Document, policy: Policy, now: datetime) -> None:
    """A requirement whose checks stand on another task is none of its own: what that one must show stays."""
    before = normalise(planned, policy, now=now, resolved=True)
    with pytest.raises(ContractInvalidError) as caught:
        with_child(
            before, "testing", proposal(definition_of_done=["security findings recorded"]), policy, now=now, among=5
        )
    assert "tasks.more.definition_of_done is required: nothing would check its result" in caught.value.faults


def test_a_removed_task_and_what_goes_with_it(planned: Document, policy: Policy, now: datetime) -> None:
    """Null removes a task; a draft may not, an amendment may ask for it."""
    planned["tasks"]["extra"] = {
        "task_type": "shell",
        "permissions": {"repository": "none", "database": "none", "deployment": "none"},
    }
    before = normalise(planned, policy, now=now, resolved=True)
    gone = {"schema_version": "workflow-v1", "tasks": {"extra": None}}
    found = amended(before, gone, policy, now=now)
    assert "extra" not in found.workflow.tasks
    assert (found.widens, found.forbidden) == (("tasks.extra is removed",), ())
    with pytest.raises(ContractInvalidError, match=r"tasks\.extra of the approved version is missing"):
        amend(before, gone, policy, now=now)
    with pytest.raises(ContractInvalidError, match=r"tasks\.nobody must be a mapping"):
        amended(before, {"schema_version": "workflow-v1", "tasks": {"nobody": None}}, policy, now=now)


def test_what_drops_a_security_requirement_is_named_apart(planned: Document, policy: Policy, now: datetime) -> None:
    """Widening is asked about; dropping or weakening security is not."""
    before = normalise(planned, policy, now=now, resolved=True)
    said = {
        "schema_version": "workflow-v1",
        "constraints": {"security": ["single-use token", "expiry required"], "must_preserve": []},
        "limits": {"max_tokens": 15_000},
    }
    found = amended(before, said, policy, now=now)
    assert found.forbidden == ("constraints.security[2] is dropped (never-log-reset-tokens)",)
    assert found.widens == (
        "constraints.must_preserve[0] is dropped (existing-authentication-api)",
        "limits.max_tokens: 12000 -> 15000",
    )


def test_a_final_check_needs_a_task_that_sees_the_last_revision(worked_example: Document, faults: Faults) -> None:
    """A later revision of the same line makes every final check on an earlier one invalid; `own` ones stay valid."""
    tasks = worked_example["tasks"]
    fix = {**tasks["coding"], "outputs": {"revision": "revision"}, "output_schema": None}
    tasks["fix"] = fix | {"depends_on": ["testing"], "inputs": {"repository": "task://coding/revision"}}
    found = faults(worked_example)
    assert (
        'checks["unit and integration tests pass"][0].holds_at can\'t be final: '
        "task testing works on the revision of coding, and fix makes a later one"
    ) in found
    assert all("holds_at can't be final" in each for each in found)
    for checks in worked_example["checks"].values():
        for check in checks:
            check["holds_at"] = "own"
    assert faults(worked_example) == ()


def test_a_final_check_on_a_commit_from_outside(worked_example: Document, faults: Faults) -> None:
    """A task whose workspace is the base sees no revision of the line, whatever else it is given."""
    testing = worked_example["tasks"]["testing"]
    testing["inputs"] = {"base": "input://repository_ref"} | testing["inputs"]
    assert any(
        "task testing works on a commit from outside, and coding makes a later one" in each
        for each in faults(worked_example)
    )


def test_branches_that_are_brought_together(policy: Policy, now: datetime) -> None:
    """The example: two branches at once, then `integrate`; without `own`, checks on either branch are refused."""
    document = read(ROOT / "examples" / "branches" / "workflow.yaml")
    workflow = normalise(document, policy, now=now)
    assert workflow.tasks["join"].depends_on == ("left", "right")
    assert workflow.tasks["test"].rework == "join"
    del document["checks"]["each module is committed"][0]["holds_at"]
    with pytest.raises(
        ContractInvalidError, match="task left works on the revision of left, and join makes a later one"
    ):
        normalise(document, policy, now=now)
