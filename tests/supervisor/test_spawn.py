"""Tasks that workers propose: taken up within a spawn plan, refused with a reason otherwise."""

import json
from collections import Counter
from typing import Any

import pytest

from remit.contract.normal import task_hash
from remit.events.service import Dispatch
from remit.events.transitions import Accepted, Transition
from tests.supervisor import bodies
from tests.supervisor.lab import Lab
from tests.supervisor.test_amendment import amend, decide

POLICY = """
schema_version: policy-v1
environment: development
default_tenant: default
default_owner: user:priya
repositories: {}
pools:
  helpers: {capabilities: [part, other], tools: [read, write], permissions: {folder: [none, read-only, execute]},
    risk_class: medium, max_parallel: 50}
task_types:
  part:
    pool: helpers
    permissions: {folder: read-only}
    outputs: {report: document, size: value}
    definition_of_done: [part reported]
  other: {pool: helpers, permissions: {folder: read-only}, outputs: {report: document}}
checks:
  part reported: [{id: reported, kind: document, output: report}]
limits:
  max: {deadline_seconds: 86400, max_tokens: 1000000, max_tool_calls: 1000, max_cost_gbp: "1000", max_attempts: 5,
    max_reworks: 5, max_tasks: 100, max_depth: 5, max_workers: 100, max_turns: 100}
  default: {deadline_seconds: 7200, max_tokens: 900000, max_tool_calls: 900, max_cost_gbp: "90", max_attempts: 2,
    max_reworks: 2, max_tasks: 50, max_depth: 1, max_workers: 50, max_turns: 50}
"""
PLAN = {"types": ["part", "other"], "max_subtasks": 10}
SPICE = "artefact://sha256/" + "ab" * 32
PEPPER = "artefact://sha256/" + "cd" * 32


def wanted(spawn: dict[str, Any] | None = None, root: dict[str, Any] | None = None, **limits: Any) -> dict[str, Any]:
    task = {
        "task_type": "part",
        "objective": "Count all",
        "inputs": {"text": "input://text"},
        "tools": ["read"],
        "risk_class": "low",
        "limits": {"max_tokens": 50_000, "max_cost_gbp": "10", "max_tool_calls": 200},
    }
    return {
        "schema_version": "workflow-v1",
        "workflow_id": "w1",
        "owner": "user:priya",
        "objective": "Count it",
        "inputs": {"text": SPICE},
        "limits": limits,
        "tasks": {"root": task | ({"spawn": spawn} if spawn else {}) | (root or {})},
    }


@pytest.fixture
def lab() -> Lab:
    bench = Lab(text=POLICY)
    bench.register("h1", "helpers", slots=50, tools=("read", "write"), risk_class="medium")
    return bench


def part(name: str, **changed: Any) -> dict[str, Any]:
    """A proposal that nothing speaks against."""
    return {"id": name, "task_type": "part", "objective": f"Count {name}", "inputs": {"text": "input://text"}} | changed


def finish(lab: Lab, task_id: str, *proposed: dict[str, Any]) -> Accepted:
    """Have a task accepted with these proposals; what was recorded of them."""
    lab.assign()
    offer = lab.offer(task_id)
    if lab.status(task_id) == "offered":
        lab.lease(offer, "claim")
    return accepted_of(lab.finish(offer, body(lab, offer, *proposed)))


def body(lab: Lab, offer: Dispatch, *proposed: dict[str, Any]) -> Any:
    return bodies.good(offer, lab, subtasks=json.dumps(proposed) if proposed else None)


def accepted_of(found: tuple[Transition, ...]) -> Accepted:
    return next(each.accepted for each in found if each.accepted is not None)


def reasons(accepted: Accepted) -> dict[str, str]:
    return {each.task_id: each.reason for each in accepted.refused_subtasks}


def swarm(lab: Lab) -> Counter[str]:
    """A root that proposes five parts, each of which proposes five more, one of them also an unknown type."""
    refused: Counter[str] = Counter()
    parts = [part(f"part-{n}") for n in range(5)]
    refused.update(reasons(finish(lab, "root", *parts)).values())
    for each in [each for each in lab.workflow.tasks if each != "root"]:
        more = [part(f"{each}-{n}") for n in range(5)]
        odd = [part("odd", task_type="agent")] if each == "part-0" else []
        refused.update(reasons(finish(lab, each, *odd, *more)).values())
    return refused


def test_without_a_plan_every_proposal_is_refused(lab: Lab) -> None:
    """BUDGET-4: spawning is not granted by default; the result itself is accepted, and the workflow ends."""
    lab.submit(wanted(max_depth=3))
    accepted = finish(lab, "root", *(part(f"part-{n}") for n in range(5)))
    assert set(reasons(accepted).values()) == {"not_granted"}
    assert (len(accepted.refused_subtasks), accepted.subtasks) == (5, ())
    assert (list(lab.workflow.tasks), lab.workflow.status.value) == (["root"], "accepted")


def test_depth_one_makes_six_tasks(lab: Lab) -> None:
    """BUDGET-4: with max_depth 1 exactly 6 tasks; 25 are refused with depth_exceeded, the unknown type beside them."""
    lab.submit(wanted(PLAN, max_depth=1))
    refused = swarm(lab)
    assert len(lab.workflow.tasks) == 6
    assert refused == {"depth_exceeded": 25, "type_not_granted": 1}
    assert lab.workflow.status.value == "accepted"


def test_max_tasks_bounds_the_swarm(lab: Lab) -> None:
    """BUDGET-4: with max_depth 3 and max_tasks 10 exactly 10 tasks; the rest is refused with task_limit."""
    lab.submit(wanted(PLAN, max_depth=3, max_tasks=10))
    refused = swarm(lab)
    assert len(lab.workflow.tasks) == 10
    assert refused == {"task_limit": 21, "type_not_granted": 1}
    depths = Counter(task.depth for task in lab.workflow.contract.tasks.values())
    assert depths == {0: 1, 1: 5, 2: 4}
    lab.check_replay()


def test_final_acceptance_waits_for_every_child(lab: Lab) -> None:
    """A workflow is accepted once all tasks are, those taken up on the way too."""
    lab.submit(wanted(PLAN))
    assert finish(lab, "root", part("a"), part("b")).subtasks == ("a", "b")
    assert lab.statuses() == {"root": "completed", "a": "queued", "b": "queued"}
    finish(lab, "a")
    assert lab.workflow.status.value == "running"
    finish(lab, "b")
    assert lab.workflow.status.value == "accepted"


def test_a_version_names_who_proposed_and_which_rule_approved(lab: Lab) -> None:
    """What is taken up is a contract version by the plan; nobody else's task contract changes."""
    lab.submit(wanted(PLAN))
    before = task_hash(lab.workflow.contract, "root")
    finish(lab, "root", part("a"))
    amended = next(each.contract for each in lab.history if each.kind.value == "contract_amended")
    assert amended is not None
    assert (amended.proposed_by, amended.approved_by, amended.contract_version) == ("h1", "rule:spawn_plan", 2)
    child = lab.workflow.contract.tasks["a"]
    assert (child.parent, child.depth, child.depends_on, child.spawn) == (
        "root",
        1,
        ("root",),
        lab.workflow.contract.tasks["root"].spawn,
    )
    assert task_hash(lab.workflow.contract, "root") == before
    assert lab.workflow.contract.checks_of("a")


def test_no_child_is_dispatched_after_a_stop(lab: Lab) -> None:
    """BUDGET-4: results of children that arrive after the end start nothing, whatever they propose."""
    lab.submit(wanted(PLAN, max_depth=3))
    finish(lab, "root", *(part(f"part-{n}") for n in range(5)))
    lab.assign()
    running = [lab.offer(f"part-{n}") for n in range(3)]
    for offer in running:
        lab.lease(offer, "claim")
    lab.cancel()
    tasks = list(lab.workflow.tasks)
    for offer in running:
        (note,) = lab.result(offer, body(lab, offer, part(f"{offer.task_id}-more")))
        assert note.kind.value in {"stale", "late_usage"}
    assert lab.assign() == 0
    assert list(lab.workflow.tasks) == tasks
    assert lab.workflow.stop_reason == "cancelled"


WIDER = {
    "unknown type": ({"task_type": "agent"}, "type_not_granted"),
    "wider tools": ({"tools": ["read", "write"]}, "tools_not_granted"),
    "wider permissions": ({"permissions": {"folder": "execute"}}, "tools_not_granted"),
    "higher risk": ({"risk_class": "medium"}, "tools_not_granted"),
    "more tokens": ({"limits": {"max_tokens": 50_001}}, "budget"),
    "more pounds": ({"limits": {"max_cost_gbp": "10.01"}}, "budget"),
    "more attempts": ({"limits": {"max_attempts": 3}}, "budget"),
    "limits of a workflow": ({"limits": {"max_tasks": 3}}, "invalid"),
    "an input of nobody": ({"inputs": {"text": "task://nobody/report"}}, "invalid"),
    "an unresolved input": ({"inputs": {"text": "file://x"}}, "invalid"),
    "nothing to check": ({"task_type": "other"}, "invalid"),
    "a requirement that nobody knows": ({"definition_of_done": ["be good"]}, "invalid"),
    "a dependency of nobody": ({"depends_on": ["nobody"]}, "invalid"),
    "itself": ({"depends_on": ["a"]}, "invalid"),
    "an output schema of nobody": ({"output_schema": "x"}, "invalid"),
    "a number out of range": ({"limits": {"max_tokens": 2**60}}, "budget"),
    "a taken id": ({"id": "root"}, "id_taken"),
}


@pytest.mark.parametrize(("changed", "reason"), WIDER.values(), ids=WIDER)
def test_what_a_plan_does_not_grant_is_refused_with_a_reason(lab: Lab, changed: dict[str, Any], reason: str) -> None:
    """BUDGET-4: unknown types, wider tools and larger limits than the parent's dispatch nothing."""
    lab.submit(wanted(PLAN))
    accepted = finish(lab, "root", part("a") | changed)
    (refused,) = accepted.refused_subtasks
    assert (refused.reason, accepted.subtasks) == (reason, ()), refused
    assert refused.detail
    assert list(lab.workflow.tasks) == ["root"]


def test_a_plan_s_count_and_money_bound_all_its_subtasks(lab: Lab) -> None:
    """max_subtasks and max_cost_gbp are of one task's proposals together, what descends from them included."""
    lab.submit(wanted(PLAN | {"max_subtasks": 3, "max_cost_gbp": "9"}, max_depth=3))
    pounds = {"limits": {"max_cost_gbp": "4"}}
    accepted = finish(lab, "root", part("a", **pounds), part("b", **pounds), part("c", **pounds), part("d", **pounds))
    assert accepted.subtasks == ("a", "b")
    assert reasons(accepted) == {"c": "budget", "d": "budget"}
    below = finish(lab, "a", part("a-1", **pounds), part("a-2", limits={"max_cost_gbp": "1"}))
    assert (below.subtasks, reasons(below)) == (("a-2",), {"a-1": "budget"})


def test_breadth_is_bounded_over_all_rounds(lab: Lab) -> None:
    """The plan's max_subtasks counts all that one task ever had taken up."""
    lab.submit(wanted(PLAN | {"max_subtasks": 2}))
    accepted = finish(lab, "root", part("a"), part("b"), part("c"))
    assert (accepted.subtasks, reasons(accepted)) == (("a", "b"), {"c": "task_limit"})


SAME = {
    "the very same": {},
    "another id": {"id": "z"},
    "white space": {"id": "z", "objective": "  Count\n\t a "},
    "its reference": {"id": "z", "inputs": {"text": SPICE}},
}


@pytest.mark.parametrize("changed", SAME.values(), ids=SAME)
def test_a_repeated_task_is_refused_and_named(lab: Lab, changed: dict[str, Any]) -> None:
    """BUDGET-6: the same type, inputs and objective under whatever id is the task that is there already."""
    lab.submit(wanted(PLAN))
    accepted = finish(lab, "root", part("a"), part("a") | changed)
    (refused,) = accepted.refused_subtasks
    assert (accepted.subtasks, refused.reason, refused.detail) == (("a",), "duplicate_task", "a")


def test_an_ancestor_s_task_is_never_passed_down(lab: Lab) -> None:
    """BUDGET-6: a worker can't hand its own task on, level after level; order of keys makes no difference."""
    lab.submit(wanted(PLAN, root={"inputs": {"a": "input://text", "b": PEPPER}}, max_depth=5))
    inherited = part("again", objective="Count all", inputs={"b": PEPPER, "a": "input://text"})
    accepted = finish(lab, "root", inherited, part("a"))
    assert accepted.refused_subtasks[0].detail == "root"
    deeper = finish(lab, "a", inherited)
    assert deeper.refused_subtasks[0].detail == "root"


OTHER = {
    "another input": {"inputs": {"text": PEPPER}},
    "another objective": {"objective": "Count b"},
    "another type": {"task_type": "other", "definition_of_done": ["part reported"]},
}


@pytest.mark.parametrize("changed", OTHER.values(), ids=OTHER)
def test_another_task_is_no_duplicate(lab: Lab, changed: dict[str, Any]) -> None:
    """BUDGET-6: a different input reference, objective or type does make another task."""
    lab.submit(wanted(PLAN))
    assert finish(lab, "root", part("a"), part("a", id="z") | changed).subtasks == ("a", "z")


def test_an_output_under_two_references_is_one_input(lab: Lab) -> None:
    """BUDGET-6: inputs are compared as they resolve: by bytes, not by the way they are named."""
    lab.submit(wanted(PLAN, max_depth=2))
    lab.assign()
    offer = lab.offer("root")
    stored = bodies.output(offer)["report"]["artefact_ref"]
    accepted = finish(
        lab,
        "root",
        part("a", objective="Look", inputs={"text": "task://root/report"}),
        part("b", objective="Look", inputs={"text": stored}),
    )
    assert (accepted.subtasks, accepted.refused_subtasks[0].detail) == (("a",), "a")
    assert lab.start("a").offer is not None


def test_children_may_depend_on_each_other_in_any_order(lab: Lab) -> None:
    """A proposal waits for those that it names, wherever they stand in the list; a circle is refused."""
    lab.submit(wanted(PLAN))
    accepted = finish(
        lab,
        "root",
        part("last", depends_on=["first"], inputs={"text": "task://first/report"}),
        part("first"),
        part("x", depends_on=["y"]),
        part("y", depends_on=["x"]),
    )
    assert accepted.subtasks == ("first", "last")
    assert reasons(accepted) == {"x": "invalid", "y": "invalid"}
    assert (lab.status("first"), lab.status("last")) == ("queued", "waiting")


def test_a_child_s_limits_are_a_share_and_never_more_than_its_parent_s(lab: Lab) -> None:
    """What a proposal leaves out is the workflow's share, as far as its parent has as much."""
    lab.submit(wanted(PLAN, max_tokens=90_000))
    finish(lab, "root", part("a"), part("b", limits={"max_tokens": 7}))
    tasks = lab.workflow.contract.tasks
    assert (tasks["a"].limits.max_tokens, tasks["b"].limits.max_tokens) == (30_000, 7)
    assert tasks["a"].limits.max_cost_gbp == tasks["root"].limits.max_cost_gbp == 10


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '[{"id": "a"}]', '[{"id": "a b", "task_type": "part"}]', "[", "null"]
)
def test_a_malformed_list_is_a_fault_of_the_envelope(lab: Lab, text: str) -> None:
    """Proposals that can't be read are mended or refused as any envelope is; nothing is taken up."""
    lab.submit(wanted(PLAN))
    offer = lab.start("root")
    (asked,) = lab.finish(offer, bodies.good(offer, lab, subtasks=text))
    assert asked.kind.value == "correction_requested"
    assert lab.workflow.contract_version == 1


def test_a_failed_result_proposes_nothing(lab: Lab) -> None:
    """Only completed work may ask for more."""
    lab.submit(wanted(PLAN))
    offer = lab.start("root")
    (asked,) = lab.result(offer, bodies.failed(offer, lab, subtasks=json.dumps([part("a")])))
    assert asked.kind.value == "correction_requested"


def test_children_of_a_type_s_own_plan() -> None:
    """A policy's task type may carry the plan; a task that says null has none."""
    spawning = POLICY.replace(
        "definition_of_done: [part reported]",
        "definition_of_done: [part reported]\n    spawn: {types: [part], max_subtasks: 1}",
    )
    for root, taken in (({}, ("a",)), ({"spawn": None}, ())):
        bench = Lab(text=spawning)
        bench.register("h1", "helpers", slots=50, tools=("read",))
        bench.submit(wanted(root=root))
        assert finish(bench, "root", part("a")).subtasks == taken


def test_what_a_task_proposes_again_is_there_already(lab: Lab) -> None:
    """Done anew, a task proposes the same: its children wait, are named as duplicates, and are done anew once each."""
    same = part("a", inputs={"text": "task://root/report"}), part("b")
    lab.submit(wanted(PLAN))
    finish(lab, "root", *same)
    finish(lab, "a")
    amend(lab, {"tasks": {"root": {"objective": "Count all, and well"}}}, base=2)
    decide(lab)
    assert lab.statuses() == {"root": "queued", "a": "waiting", "b": "waiting"}
    accepted = finish(lab, "root", *same)
    assert [each.detail for each in accepted.refused_subtasks] == ["a", "b"]
    assert set(reasons(accepted).values()) == {"duplicate_task"}
    assert [lab.workflow.tasks[each].round for each in ("root", "a", "b")] == [2, 2, 1]
    finish(lab, "a")
    finish(lab, "b")
    assert lab.workflow.status.value == "accepted"
    lab.check_replay()
