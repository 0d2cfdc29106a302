"""`remit show`, `history` and `watch`: what they say of a workflow at each of its stages."""

import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from remit.cli.folded import fold_log
from remit.cli.shown import branch_of, document, move_branch
from remit.cli.telling import authorisation, few
from remit.contract import normal
from remit.events.base import Subject, SubjectKind
from remit.events.transitions import WorkflowStatus
from tests.cli.conftest import Terminal
from tests.supervisor.world import World, completed, evidence, two_tasks


def work(world: World, **changed: Any) -> None:
    """One attempt on the newest offer, to its end."""
    offer = world.offer()
    world.claim(offer)
    world.settle()
    world.result(offer, completed(offer, world, **changed))
    world.settle()
    world.alive()
    world.settle()


def started(terminal: Terminal, **changed: Any) -> World:
    terminal.world.worker()
    terminal.world.submit(two_tasks(**changed))
    terminal.world.settle()
    return terminal.world


def test_show_names_what_each_task_waits_for(terminal: Terminal) -> None:
    """A missing prerequisite, a worker that isn't there, a worker at work: each has its own words."""
    terminal.world.submit(two_tasks())
    terminal.world.settle()
    tasks = {each["task_id"]: each for each in terminal.json("show", "w1")["tasks"]}
    assert (tasks["a"]["status"], tasks["a"]["waits_for"]) == ("queued", "a worker of pool shell")
    assert (tasks["b"]["status"], tasks["b"]["waits_for"]) == ("waiting", "missing prerequisite: a (queued)")
    terminal.world.worker()
    terminal.world.settle()
    assert terminal.json("show", "w1")["tasks"][0]["waits_for"] == "worker w1"


def test_show_lists_each_check_with_what_it_was_made_on_and_where_it_must_hold(terminal: Terminal) -> None:
    """VALID-8: in JSON for every requirement; in text for what does not hold yet."""
    started(terminal)
    (requirement,) = terminal.json("show", "w1")["requirements"]
    assert requirement["standing"] == [
        {"check_id": "works", "holds_at": "none", "made_on": [], "must_hold_at": [], "held": False}
    ]
    assert terminal.run("show", "w1") == 0
    assert "check not held  made on  must hold at\nworks           nothing  any subject" in terminal.out


def test_next_permitted_actions_follow_the_state(terminal: Terminal) -> None:
    """Dispatch, claim, submit, then nothing once it has ended; cancel belongs to the owner while it is open."""
    world = started(terminal)
    assert actions(terminal) == [("claim", "w1", "a"), ("cancel", "user:priya", None)]
    world.claim(world.offer())
    world.settle()
    assert actions(terminal) == [("submit_result", "w1", "a"), ("cancel", "user:priya", None)]
    world.cancel()
    world.settle()
    assert actions(terminal) == []
    assert terminal.run("show", "w1") == 0
    assert terminal.out.startswith("w1: stopped (cancelled, not needed)\n")
    assert "next permitted        nothing: it has ended" in terminal.out


def actions(terminal: Terminal) -> list[tuple[str, str, str | None]]:
    found = terminal.json("show", "w1")["next_permitted_actions"]
    return [(each["name"], each["by"], each["task_id"]) for each in found]


def test_show_of_an_accepted_workflow(terminal: Terminal) -> None:
    """TIME-2: requirements held, evidence, cost, both acceptances, and times in UTC and the display zone."""
    world = started(terminal)
    work(world)
    work(world)
    shown = terminal.json("show", "w1")
    assert (shown["status"], shown["development_acceptance"]) == ("accepted", "approved")
    assert shown["deployment_authorisation"] == "not_required"
    assert [(each["text"], each["held"]) for each in shown["requirements"]] == [("it works", True)]
    assert [(each["task_id"], each["verdict"], each["exit_status"]) for each in shown["evidence"]] == [
        ("b", "accepted", 0)
    ]
    assert shown["spent"] == {"cost_gbp": "4.040000", "tokens": 3000, "tool_calls": 4, "turns": 0}
    assert terminal.run("show", "w1") == 0
    assert "submitted                 2026-03-01 12:00:00 UTC (13:00:00 CET)" in terminal.out
    assert "£4.0400 of £30" in terminal.out
    assert "deadline                  2026-03-01 13:00:00 UTC (14:00:00 CET)" in terminal.out


def test_a_deployment_that_is_pending_waits_for_a_person(terminal: Terminal) -> None:
    """An accepted workflow with effects names who must approve; before that nobody is asked."""
    world = started(terminal)
    effect = normal.Effect(id="merge", kind="git_merge", source="task://a/report", target="main")
    folded = fold_log(world.log, "default", "w1")
    contract = replace(folded.workflow.contract, effects=(effect,))
    folded.state = replace(folded.workflow, contract=contract)
    assert document(folded)["deployment_authorisation"] == "not due before development acceptance"
    folded.state = replace(
        folded.workflow,
        development_acceptance="approved",
        deployment_authorisation="pending",
        status=WorkflowStatus.ACCEPTED,
    )
    shown = document(folded)
    assert shown["deployment_authorisation"] == "pending human approval"
    assert [each["what"] for each in shown["outstanding_decisions"]] == ["deployment_authorisation"]


def test_show_names_failing_cases_and_who_has_an_escalation(terminal: Terminal) -> None:
    """The failing case stands in the evidence; after the last attempt the owner has it."""
    world = started(terminal)
    work(world)
    for _ in range(2):
        offer = world.offer()
        world.claim(offer)
        world.settle()
        check = json.loads(offer.offer.contract)["requirements"][0]["checks"][0] if offer.offer else {}
        failing = evidence(offer, world, check, exit_status=1, passed_cases=(), failed_cases=("t::test_works",))
        world.result(offer, completed(offer, world, evidence=(failing,)))
        world.settle()
        world.clock.forward(61)
        world.alive()
        world.settle()
    shown = terminal.json("show", "w1")
    assert shown["status"] == "escalated"
    assert shown["outstanding_decisions"][0]["person"] == "user:priya"
    assert shown["evidence"][-1]["failed_cases"] == ["t::test_works"]
    assert terminal.run("show", "w1") == 0
    assert "failing: t::test_works" in terminal.out


def test_a_refused_submission_is_told(terminal: Terminal) -> None:
    """No contract holds under the id; what was wrong with the last one is said."""
    terminal.world.submit({"schema_version": "workflow-v1"})
    terminal.world.settle()
    assert terminal.run("show", "w1") == 1
    assert "no contract was accepted as w1 yet" in terminal.err
    assert "objective is required" in terminal.err
    assert [each["kind"] for each in terminal.json("history", "w1")] == ["contract_rejected"]


def test_history_lists_every_transition_with_its_place(terminal: Terminal) -> None:
    """As text one line each, as JSON the whole records, notes included."""
    world = started(terminal)
    world.submit(two_tasks())
    world.settle()
    found = terminal.json("history", "w1")
    assert [each["kind"] for each in found] == world.kinds()
    assert [each["sequence"] for each in found] == list(range(1, len(found) + 1))
    assert found[0]["record"]["topic"] == "transitions"
    assert found[-1]["kind"] == "duplicate"
    assert terminal.run("history", "w1") == 0
    assert len(terminal.out.splitlines()) == len(found) + 1


def test_watch_ends_with_the_workflow(terminal: Terminal) -> None:
    """The steps from the first on; with --json one line of JSON each."""
    world = started(terminal)
    work(world)
    work(world)
    assert terminal.run("watch", "w1") == 0
    assert "a: started by w1 (round 1, attempt 1)" in terminal.out
    assert terminal.run("watch", "w1", "--json") == 0
    assert [json.loads(line)["kind"] for line in terminal.out.splitlines()] == world.kinds()


def test_another_tenant_is_named(terminal: Terminal) -> None:
    """Workflows of one id under two tenants are two workflows."""
    terminal.world.submit(two_tasks(), tenant_id="shop")
    terminal.world.settle()
    assert terminal.run("show", "w1") == 1
    assert terminal.json("show", "w1", "--tenant", "shop")["tenant_id"] == "shop"


def test_text_of_strangers_steers_no_terminal(terminal: Terminal) -> None:
    """Control characters of an objective are blanked."""
    terminal.world.submit(two_tasks(objective="a\x1b[2Jb"))
    terminal.world.settle()
    assert terminal.run("show", "w1") == 0
    assert "\x1b" not in terminal.out


def test_the_git_command_moves_the_granted_branch(terminal: Terminal) -> None:
    """It pushes within the policy's repository, so git itself refuses to lose commits; no branch, no command."""
    workflow = started(terminal).workflow()
    subject = Subject(kind=SubjectKind.GIT, repository="shop", revision="ab" * 20)
    assert (branch_of(workflow), move_branch(workflow, subject)) == (None, None)
    granted = normal.Permissions(grants={"repository": "read-write:feature/x"})
    code = normal.Input(reference=f"repo://shop@commit:{'cd' * 20}", kind="git", location="/srv/shop")
    task = replace(workflow.contract.tasks["a"], permissions=granted, inputs={"code": code})
    changed = replace(workflow, contract=replace(workflow.contract, tasks={"a": task}))
    assert move_branch(changed, subject) == f"git -C /srv/shop push . {'ab' * 20}:refs/heads/feature/x"


def test_words() -> None:
    """Long lists are cut with a count; the word of record is told as people read it."""
    assert few("abcde") == "a, b, c and 2 more"
    say: Callable[[str], str] = authorisation
    assert (say("pending"), say("not_required")) == ("pending human approval", "not_required")
