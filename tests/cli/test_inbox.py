"""`remit inbox`, `resolve` and `retry`: what waits for a person is found, shown in full, and decided on once."""

import json
from datetime import timedelta

import pytest

from remit import ids
from remit.cli import clocks
from remit.client.identity import who
from remit.client.resolving import Seen
from remit.events import inputs
from remit.events.inputs import ResultStatus
from remit.topics import Topic
from tests.cli.conftest import Terminal
from tests.cli.waits import attempt, escalated, failed
from tests.client.conftest import serving
from tests.supervisor.world import START, two_tasks


@pytest.fixture
def waiting(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Two hours and five minutes ago a task of w1 was escalated."""
    escalated(terminal.world)
    later = START + timedelta(hours=2, minutes=5)
    monkeypatch.setattr(clocks, "now", lambda: later)
    return terminal


def item(terminal: Terminal) -> str:
    (only,) = terminal.json("inbox")
    return str(only["item_id"])


def test_an_empty_inbox_says_so(terminal: Terminal) -> None:
    """Nothing waits: exit 0, an empty list."""
    assert terminal.json("inbox") == []
    assert terminal.run("inbox") == 0
    assert terminal.out == "Nothing waits for a person.\n"


def test_an_escalation_is_listed_with_owner_age_and_reason(waiting: Terminal) -> None:
    """FLOW-1: the task that failed is its owner's; its age counts from the transition that put it there."""
    (only,) = waiting.json("inbox")
    assert only["item_id"] == f"w1/{waiting.world.history()[-1].sequence}"
    assert (only["owner"], only["task_id"], only["reason"]) == ("user:priya", "a", "permanent_failure")
    assert only["age_seconds"] == 2 * 3600 + 5 * 60
    assert waiting.run("inbox") == 0
    assert "user:priya  2 h 5 min  2026-03-01 12:00:00 UTC (13:00:00 CET)  default/w1  a" in waiting.out


def test_items_of_other_tenants_are_counted_and_listed_when_asked_for(waiting: Terminal) -> None:
    """One list per tenant; --all-tenants shows both, the longest waiting first."""
    waiting.world.forward(10)
    escalated(waiting.world, "w2", "shop")
    assert waiting.run("inbox") == 0
    assert "w2" not in waiting.out
    assert waiting.err == "1 more of other tenants: --all-tenants\n"
    assert [each["workflow_id"] for each in waiting.json("inbox", "--tenant", "shop")] == ["w2"]
    assert [each["workflow_id"] for each in waiting.json("inbox", "--all-tenants")] == ["w1", "w2"]


def test_an_item_in_full_says_what_failed(waiting: Terminal) -> None:
    """The ending of each attempt with faults and the worker's words, who needs it, and the command to decide with."""
    found = waiting.json("inbox", item(waiting))
    assert [(each["outcome"], each["worker_says"]) for each in found["endings"]] == [("failed", "the disk is full")]
    assert (found["needed_by"], found["decide"]) == (["b"], ["retry", "stop"])
    assert waiting.run("inbox", item(waiting)) == 0
    assert "attempt 1 of w1 ended failed\n" in waiting.out
    assert "  the worker says: the disk is full\n" in waiting.out
    assert f"remit resolve {found['item_id']} --tenant default --retry|--stop --reason TEXT" in waiting.out


def test_what_is_no_item_is_told_from_one_that_is_not_open(waiting: Terminal) -> None:
    """Exit 2 for another form, 1 for one that nobody waits on."""
    assert waiting.run("inbox", "nonsense") == 2
    assert waiting.run("inbox", "w1/1") == 1
    assert "no item w1/1 is open" in waiting.err
    assert waiting.run("inbox", "w9/1") == 1


def test_retry_queues_the_task_again(waiting: Terminal) -> None:
    """Exit 0 once the transition was read: who decided, why, and how many minutes it took stand in it."""
    chosen = item(waiting)
    with serving(waiting.world):
        answer = waiting.json("resolve", chosen, "--retry", "--reason", "disk cleared", "--minutes", "2.5")
    assert (answer["outcome"], answer["kind"], answer["resolution"]) == ("decided", "task_resolved", "retry")
    made = next(each for each in waiting.world.history() if each.kind.value == "task_resolved")
    assert made.resolution is not None
    assert (made.resolution.person, made.resolution.reason) == (who(), "disk cleared")
    assert str(made.minutes_spent) == "2.500000"
    assert waiting.json("inbox") == []
    assert waiting.run("inbox", chosen) == 1
    assert "decided retry" in waiting.err


def test_stop_ends_the_task_and_what_needs_it(waiting: Terminal) -> None:
    """FLOW-1: the dependants end as prerequisite_failed; a secret in the reason never reaches the log."""
    with serving(waiting.world):
        assert waiting.run("resolve", item(waiting), "--stop", "--reason", "give up password=hunter2hunter2") == 0
    assert "a: stopped, refused by" in waiting.out
    ended = {each.task_id: each.reason for each in waiting.world.history() if each.kind.value == "task_stopped"}
    assert ended == {"a": "refused", "b": "prerequisite_failed"}
    assert "hunter2" not in str(waiting.world.history())


def test_retry_by_task_names_the_item(waiting: Terminal) -> None:
    """`remit retry WORKFLOW TASK` resolves the task's open item; a task that waits for nobody is refused."""
    chosen = item(waiting)
    assert waiting.run("retry", "w1", "b", "--reason", "x") == 1
    assert "task b of w1 waits for nobody's decision: it is waiting" in waiting.err
    assert waiting.run("retry", "w1", "z", "--reason", "x") == 1
    assert "there is no such task" in waiting.err
    with serving(waiting.world):
        assert waiting.run("retry", "w1", "a", "--reason", "disk cleared") == 0
    assert waiting.out == f"item {chosen} is decided: a: {who()} decided on {chosen}: retry (disk cleared)\n"


def test_what_the_supervisor_notes_is_a_refusal(waiting: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 1 with its words: here the content is not that of the item any more."""
    monkeypatch.setattr("remit.cli.resolve.Seen", lambda **said: Seen(**(said | {"content_sha256": "0" * 64})))
    with serving(waiting.world):
        assert waiting.run("resolve", item(waiting), "--retry", "--reason", "x") == 1
    assert "was not decided (stale): content_sha256: not that of the item as it stands" in waiting.err
    assert len(waiting.json("inbox")) == 1


def test_nobody_answers(waiting: Terminal) -> None:
    """KOPS-6: exit 3; decided again, it counts once."""
    answer = waiting.json("resolve", item(waiting), "--retry", "--reason", "x", "--timeout", "1.2", code=3)
    assert answer["outcome"] == "unconfirmed"
    assert "remit inbox w1/" in answer["message"]


def test_words_that_contradict_are_invalid(waiting: Terminal) -> None:
    """One decision, of the item's kind; minutes are a number that isn't negative."""
    chosen = item(waiting)
    assert waiting.run("resolve", chosen, "--reason", "x") == 2
    assert waiting.run("resolve", chosen, "--retry", "--stop", "--reason", "x") == 2
    for minutes in ("NaN", "-1", "soon"):
        assert waiting.run("resolve", chosen, "--retry", "--reason", "x", "--minutes", minutes) == 2
    assert waiting.run("resolve", chosen, "--approve", "--reason", "x") == 1
    assert "is of kind task: decide by --retry or --stop" in waiting.err


def test_a_worker_s_question_waits_in_the_inbox_too(terminal: Terminal) -> None:
    """needs_review: the task awaits a decision, and its line says who is asked."""
    terminal.world.worker()
    terminal.world.submit(two_tasks())
    terminal.world.settle()
    attempt(terminal.world, failed(terminal.world.offer(), "NEEDS_REVIEW", status=ResultStatus.NEEDS_REVIEW))
    (only,) = terminal.json("inbox")
    assert (only["task_id"], only["reason"]) == ("a", "needs_review")
    tasks = terminal.json("show", "w1")["tasks"]
    assert (tasks[0]["status"], tasks[0]["waits_for"]) == ("awaiting_decision", "user:priya: needs_review")
    assert terminal.json("show", "w1")["queue"] == "missing prerequisite: b waits for a (awaiting_decision)"


def amended(terminal: Terminal, tokens: int) -> str:
    """Propose more tokens for task b, which a person must decide on; the item's id."""
    document = {"schema_version": "workflow-v1", "tasks": {"b": {"limits": {"max_tokens": tokens}}}}
    terminal.world.write_input(
        Topic.CONTRACTS,
        inputs.Contract,
        "w1",
        kind="amended",
        document=json.dumps(document),
        content_digest=ids.digest(document),
        submitter="user:omar",
        base_version=1,
        reason="more room",
    )
    terminal.world.settle()
    (only,) = terminal.json("inbox")
    return str(only["item_id"])


@pytest.fixture
def running(terminal: Terminal) -> Terminal:
    """A workflow whose first task is at work."""
    terminal.world.worker()
    terminal.world.submit(two_tasks())
    terminal.world.settle()
    return terminal


def test_an_amendment_is_shown_with_what_it_widens_and_approved(running: Terminal) -> None:
    """Base version, proposer, reason, and each thing that needs the decision; exit 0 once the new version holds."""
    chosen = amended(running, 7000)
    found = running.json("inbox", chosen)
    assert (found["kind"], found["task_id"], found["decide"]) == ("amendment", None, ["approve", "refuse"])
    assert (found["proposer"], found["why"], found["base_version"]) == ("user:omar", "more room", 1)
    assert found["widens"] == ["tasks.b.limits.max_tokens: 6000 -> 7000"]
    assert running.run("inbox", chosen) == 0
    assert "widens     tasks.b.limits.max_tokens: 6000 -> 7000" in running.out
    with serving(running.world):
        assert running.run("resolve", chosen, "--retry", "--reason", "x") == 1
        assert "decide by --approve or --refuse" in running.err
        assert running.run("resolve", chosen, "--approve", "--reason", "agreed") == 0
    assert f"contract version 2 holds, drafted by user:omar, approved by {who()}" in running.out
    assert running.json("inbox") == []


def test_a_refused_amendment_changes_nothing(running: Terminal) -> None:
    """Exit 0: it is refused, by whom and why, and the contract is as it was."""
    chosen = amended(running, 7000)
    with serving(running.world):
        assert running.json("resolve", chosen, "--refuse", "--reason", "too dear")["kind"] == "amendment_refused"
    assert running.world.workflow().contract_version == 1
    assert running.run("inbox", chosen) == 1
    assert "decided refuse" in running.err
