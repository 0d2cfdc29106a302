"""Every rule of the contract gate, each with its exact line."""

# ruff: noqa: E501  (a fault and its line are read side by side)

from collections.abc import Callable
from typing import Any

import pytest

Faults = Callable[..., tuple[str, ...]]
Document = dict[str, Any]


def put(document: Document, path: str, value: Any) -> None:
    """Set one place of a document, `tasks/a/depends_on`; ... removes it."""
    *holders, last = path.split("/")
    for part in holders:
        document = document.setdefault(part, {})
    if value is ...:
        del document[last]
    else:
        document[last] = value


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("schema_version", ..., "schema_version is required"),
        ("schema_version", 1, "schema_version must be one of workflow-v1, task-contract-v1, task-envelope-v1"),
        ("objective", ..., "objective is required"),
        ("objective", 5, "objective must be text"),
        ("owner", ..., "owner is required"),
        ("owner", "a\x1b[2J", "owner must be printable text on one line"),
        ("tasks", ..., "tasks is required"),
        ("tasks", [], "tasks must be a mapping"),
        ("tasks", {}, "tasks must have at least 1 entries"),
        ("definition_of_done", [], 'checks["it ran"] is not a requirement of this contract'),
        ("definition_of_done", ["it ran", "it flew"], "definition_of_done[1] has no check"),
        ("definition_of_done", ["it ran", "it ran"], "definition_of_done[1] stands twice"),
        ("workflow_id", "a b", "workflow_id is not an id: 1 to 128 of A-Z a-z 0-9 . _ : -"),
        ("workflow_id", "..", "workflow_id is not an id: 1 to 128 of A-Z a-z 0-9 . _ : -"),
        ("data_classification", "secrets", "data_classification is not a data classification of the policy"),
        ("checks/it ran", [], "definition_of_done[0] has no check"),
        ("commands/run/argv", [], "commands.run.argv must have at least 1 entries"),
        ("commands/run/report", "junit", "commands.run.argv must hold {report}, where the report is to be written"),
        ("commands/run/retest", ["{failing}"], "commands.run.retest needs a junit report: it names the failing cases"),
        ("tasks/a/task_type", "shel", "tasks.a.task_type is not a task type of the policy (did you mean shell?)"),
        ("tasks/a/pool", "shells", "tasks.a.pool is not a pool of the policy (did you mean shell?)"),
        ("tasks/a/capability", "fly", "tasks.a.capability is not a capability of pool shell"),
        ("tasks/a/tools", ["run_comand"], "tasks.a.tools[0] is not a tool of pool shell (did you mean run_command?)"),
        ("tasks/a/risk_class", "high", "tasks.a.risk_class must be at most low (pool shell)"),
        ("tasks/a/depends_on", ["b"], "tasks.a.depends_on[0] is not a task of this workflow"),
        ("tasks/a/depends_on", ["a"], "tasks.a.depends_on: cycle a -> a"),
        ("tasks/a/rework", "a", "tasks.a.rework must be a task that this one depends on"),
        ("tasks/a/output_schema", "x", "tasks.a.output_schema is not an output schema of the file or the policy"),
        ("tasks/a/permissions", {"database": "read-only"}, "tasks.a.permissions.database is more than pool shell allows"),
        (
            "tasks/a/permissions",
            {"repository": "read-write:main"},
            "tasks.a.permissions.repository is more than pool shell allows",
        ),
        (
            "tasks/a/permissions",
            {"repository": "read-write:feature/a..b"},
            "tasks.a.permissions.repository must name a git branch",
        ),
        (
            "tasks/a/permissions",
            {"repositry": "none"},
            "tasks.a.permissions.repositry is not a resource of pool shell (did you mean repository?)",
        ),
        ("tasks/a/permissions", {"paths": ["../x"]}, "tasks.a.permissions.paths[0] must be a glob inside the repository"),
        ("tasks/a/inputs", {"x": "input://x"}, "tasks.a.inputs.x is not an input of this workflow"),
        (
            "tasks/a/inputs",
            {"x": "hello"},
            "tasks.a.inputs.x is not a reference of a known form (repo, artefact, file, input, task, sku, policy)",
        ),
        (
            "inputs",
            {"x": "repo://acounts-service@main"},
            "inputs.x is not a repository of the policy (did you mean accounts-service?)",
        ),
        ("inputs", {"x": "task://a/out"}, "inputs.x must not refer to another input or a task"),
        ("effects", [{"id": "m", "kind": "git_merge", "source": "main", "target": "x"}], "effects[0].source must be an output of a task, like task://coding/revision"),
        ("output_schemas", {"s": {}}, "output_schemas.s.type must be object: an output has one key per declared output"),
        ("output_schemas", {"product_review_v2": {"type": "object", "required": ["a"]}}, "output_schemas.product_review_v2 is a schema of the policy already"),
        ("limits", {"max_tokens": 200001}, "limits.max_tokens must be at most 200000 (policy)"),
        ("limits", {"max_tokens": 0}, "limits.max_tokens must be at least 1"),
        ("limits", {"max_tokens": -5}, "limits.max_tokens must be at least 1"),
        ("limits", {"max_cost_gbp": "50.01"}, "limits.max_cost_gbp must be at most 50.00 (policy)"),
        ("tasks/a/limits", {"max_attempts": 6}, "tasks.a.limits.max_attempts must be at most 5 (policy)"),
        ("tasks/a/limits", {"max_tokens": 60001}, "tasks.a.limits.max_tokens must be at most 60000 (workflow)"),
        ("tasks/a/limits", {"max_workers": 1}, "tasks.a.limits.max_workers is a limit of the workflow, not of a task"),
        ("tasks", {f"t{n}": {"task_type": "shell"} for n in range(51)}, "tasks: 51 tasks, limits.max_tasks is 20"),
    ],
)  # fmt: skip
def test_one_fault_one_line(path: str, value: Any, expected: str, small: Document, faults: Faults) -> None:
    """One broken rule gives its one precise line."""
    put(small, path, value)
    found = faults(small)
    assert expected in found
    assert len(found) == 1 or path in ("definition_of_done", "tasks")


def test_the_smallest_file_passes(small: Document, faults: Faults) -> None:
    """The file that the rules are tried on has no fault of its own."""
    assert faults(small) == ()


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ({"id": "a b", "kind": "command", "command": "run"}, ".id is not an id: 1 to 128 of A-Z a-z 0-9 . _ : -"),
        ({"id": "x", "kind": "command"}, ".command is required"),
        ({"id": "x", "kind": "command", "command": "runn"}, ".command is not a command of the file or the policy (did you mean run?)"),
        ({"id": "x", "kind": "test_run", "command": "run"}, ".command must have a junit report"),
        ({"id": "x", "kind": "scan", "command": "run"}, ".command must have a report"),
        ({"id": "x", "kind": "command", "command": "run", "cases": ["*"]}, ".cases stands only on a test_run"),
        ({"id": "x", "kind": "command", "command": "run", "output": "o"}, ".output stands only on a document or review"),
        ({"id": "x", "kind": "document"}, ".output is required"),
        ({"id": "x", "kind": "document", "output": "o"}, ".output is not an output of task a"),
        ({"id": "x", "kind": "document", "output": "o", "command": "run"}, ".command stands only on a test_run, scan or command"),
        ({"id": "x", "kind": "revision"}, ".kind needs an output of kind revision in task a"),
        ({"id": "x", "kind": "command", "command": "run", "task": "b"}, ".task is not a task of this workflow"),
        ({"id": "x", "kind": "command", "command": "run", "holds_at": "final"}, ".holds_at can't be final: task a neither makes nor takes a revision of this workflow"),
        ({"id": "x", "kind": "magic"}, ".kind must be one of 'revision', 'test_run', 'scan', 'command', 'review' or 'document'"),
        ({"kind": "command", "command": "run"}, ".id is required"),
    ],
)  # fmt: skip
def test_a_check_that_no_evidence_could_meet(
    check: dict[str, Any], expected: str, small: Document, faults: Faults
) -> None:
    """Each way in which a check contradicts itself or its task has its line."""
    small["checks"]["it ran"] = [check]
    assert f'checks["it ran"][0]{expected}' in faults(small)


def test_all_faults_at_once_in_file_order(faults: Faults) -> None:
    """Structural and semantic faults come together, in the order of the file, and always the same."""
    document = {
        "schema_version": "workflow-v1",
        "owner": "user:ann",
        "objective": "x",
        "hunter": 1,
        "limits": {"max_tokens": -1, "deadline": "2026-07-19T12:00:00"},
        "definition_of_done": ["no one knows"],
        "tasks": {
            "a": {"task_type": "shell", "depends_on": ["b"]},
            "b": {"task_type": "implement", "depends_on": ["a"]},
        },
    }
    expected = (
        "hunter is not a known key",
        "limits.max_tokens must be at least 1",
        "limits.deadline must name its zone, like 2026-07-19T12:00:00Z",
        "definition_of_done[0] has no check",
        "tasks.a.depends_on: cycle a -> b -> a",
        "tasks.b.permissions.repository is required",
        "tasks.b.permissions.database is required",
        "tasks.b.permissions.deployment is required",
    )
    assert faults(document) == expected
    assert faults(document) == expected


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (True, "must be a whole number"),
        ("2", "must be a whole number"),
        (2.0, "must be a whole number"),
        (2.5, "must be a whole number"),
        (-1, "must be at least 1"),
        (0, "must be at least 1"),
        (10**30, "must be at most 5 (policy)"),
    ],
)
def test_a_limit_is_a_whole_number(value: Any, rule: str, small: Document, faults: Faults) -> None:
    """VALID-4: wrong types are refused by path, 2.0 too; bounds are named."""
    small["limits"] = {"max_attempts": value}
    assert faults(small) == (f"limits.max_attempts {rule}",)


@pytest.mark.parametrize("flag", ["no", 0, True])
def test_no_approval_flag_is_derived(flag: Any, small: Document, faults: Faults) -> None:
    """VALID-4: there is no flag that a text or number could switch."""
    small["requires_approval"] = flag
    assert faults(small) == ("requires_approval is not a known key",)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (0.1, "must be money as text, like '0.25'"),
        ("NaN", "must be money as text, like '0.25'"),
        ("-0.01", "must be at least 0"),
        ("0.0000001", "must have at most 6 decimal places"),
        ("9999999999999.99", "must have at most 12 digits before the point"),
        ("1e99", "must have at most 18 digits"),
    ],
)
def test_money_is_exact_text(value: Any, rule: str, small: Document, faults: Faults) -> None:
    """AVRO-5: a float has lost digits already; too many digits are refused, never cut."""
    small["limits"] = {"max_cost_gbp": value}
    assert faults(small) == (f"limits.max_cost_gbp {rule}",)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("limits/max_token", "limits.max_token is not a known key (did you mean max_tokens?)"),
        ("permisions", "permisions is not a known key"),
        ("definition_of_don", "definition_of_don is not a known key (did you mean definition_of_done?)"),
        ("tasks/a/permisions", "tasks.a.permisions is not a known key (did you mean permissions?)"),
        ("tasks/a/limits/max_atempts", "tasks.a.limits.max_atempts is not a known key (did you mean max_attempts?)"),
        ("tasks/a/allowed_tool", "tasks.a.allowed_tool is not a known key"),
    ],
)
def test_a_misspelled_key_names_its_neighbour(path: str, line: str, small: Document, faults: Faults) -> None:
    """VALID-5: unknown keys are refused on every level, with the nearest known name of that level."""
    put(small, path, ["read_file"])
    assert line in faults(small)


def test_a_misspelled_key_of_the_articles_documents(
    bare_contract: Document, envelope: Document, faults: Faults
) -> None:
    """VALID-5: bare contracts and envelopes are as strict."""
    bare_contract["permisions"] = bare_contract.pop("permissions")
    envelope["allowed_tool"] = envelope.pop("allowed_tools")
    assert faults(bare_contract)[0] == "permisions is not a known key (did you mean permissions?)"
    assert faults(envelope) == ("allowed_tool is not a known key (did you mean allowed_tools?)",)


def test_dataflow_needs_declared_outputs_and_dependencies(worked_example: Document, faults: Faults) -> None:
    """A task input is an output that a prerequisite declares."""
    inputs = worked_example["tasks"]["testing"]["inputs"]
    inputs["diff"] = "task://coding/dif"
    inputs["later"] = "task://security/scan"
    inputs["nobody"] = "task://codin/diff"
    assert faults(worked_example) == (
        "tasks.testing.inputs.diff is not an output of task coding (did you mean diff?)",
        "tasks.testing.inputs.later needs depends_on: security",
        "tasks.testing.inputs.nobody is not an output of a task of this workflow (did you mean coding?)",
    )


def test_tasks_that_may_meet_never_write_one_branch(worked_example: Document, faults: Faults) -> None:
    """Two writers of a branch that don't depend on each other are refused; in sequence they pass."""
    tasks = worked_example["tasks"]
    for checks in worked_example["checks"].values():
        checks[0]["holds_at"] = "own"  # nobody here works on the line's last revision
    worked_example["checks"]["security findings recorded"][1]["holds_at"] = "own"
    tasks["more"] = {**tasks["coding"], "outputs": {"revision": "revision"}}
    fault = "tasks.more.permissions.repository: coding may run at the same time and writes the same branch"
    assert faults(worked_example) == (fault,)
    tasks["more"]["depends_on"] = ["requirements", "coding"]
    assert faults(worked_example) == ()


def test_a_final_check_sits_on_the_revision_line(worked_example: Document, faults: Faults) -> None:
    """A check at the final revision by a task that never sees it can't be met."""
    worked_example["checks"]["implementation committed"].append(
        {"id": "doc", "kind": "document", "task": "requirements", "output": "requirements", "holds_at": "final"}
    )
    rule = "can't be final: task requirements neither makes nor takes a revision of this workflow"
    assert faults(worked_example) == (f'checks["implementation committed"][1].holds_at {rule}',)


def test_a_runner_check_needs_the_right_to_execute(worked_example: Document, faults: Faults) -> None:
    """A task that may only read can't run the tests."""
    worked_example["tasks"]["testing"]["permissions"]["repository"] = "read-only"
    assert 'checks["single-use token"][0].command needs permissions.repository execute in task testing' in faults(
        worked_example
    )


def test_the_key_of_the_record_wins(small: Document, faults: Faults) -> None:
    """A document can't name another workflow or tenant than it was submitted under."""
    assert faults(small, workflow_id="w2", tenant_id="t") == ("workflow_id is not the one that it was submitted under",)


def test_unresolved_references_are_refused_by_the_supervisor(
    worked_example: Document, bare_contract: Document, faults: Faults, resolved: Callable[[Document], Document]
) -> None:
    """STATE-5's content is fixed at submit: what submit resolves may not be open any more."""
    assert faults(worked_example, resolved=True) == (
        "inputs.repository_ref is not resolved to a full commit",
        "inputs.threat_model is not stored as an artefact",
    )
    assert faults(bare_contract, resolved=True) == (
        "inputs.repository_ref is not resolved to a full commit",
        "inputs.requirements_ref is not resolved to a stored artefact",
    )
    assert faults(resolved(worked_example), resolved=True) == ()


def test_a_contract_too_large_in_normal_form(small: Document, faults: Faults) -> None:
    """KOPS-5, contract half: the form that goes into a transition has a ceiling that is named."""
    text = "x" * 40_000
    small["output_schemas"] = {"big": {"type": "object", "required": ["a"], "description": text}}
    small["tasks"] = {f"t{number}": {"task_type": "shell", "output_schema": "big"} for number in range(20)}
    small["checks"]["it ran"][0]["task"] = "t0"
    assert faults(small) == ()
    small["output_schemas"]["big"]["description"] = text * 2
    (fault,) = faults(small)
    assert fault.startswith("size: ")
    assert fault.endswith(" bytes in normal form, at most 1048576")


def test_more_faults_than_a_record_holds(small: Document, faults: Faults) -> None:
    """The list of faults is bounded, and says how many it left out."""
    small |= {f"key{number}": number for number in range(300)}
    found = faults(small)
    assert (len(found), found[-1]) == (101, "and 200 more faults")


def test_a_revision_needs_the_grant_to_write(small: Document, faults: Faults) -> None:
    """A task that may only read can't declare a revision as its output: it could never be allowed to make one."""
    put(small, "tasks/a/outputs", {"made": "revision"})
    assert "tasks.a.outputs.made is a revision, but permissions.repository grants no write" in faults(small)
