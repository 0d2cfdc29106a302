"""`remit explain`: the cause of each wait, each worker's first excluding rule, each check with its revisions."""

from typing import Any

import pytest

from remit.cli import clocks
from remit.cli.explain import print_whole
from remit.cli.explained import Room, whole
from remit.cli.folded import Folded, fold_log
from remit.client.history import Entry
from remit.log.protocols import Recorded
from remit.policy.load import parse
from supervisor.explaining import Crew
from supervisor.load import Load
from supervisor.routing import Registry
from tests.cli.conftest import Terminal
from tests.cli.waits import escalated
from tests.supervisor import bodies
from tests.supervisor.conftest import older_gate  # noqa: F401 - a fixture
from tests.supervisor.lab import Lab
from tests.supervisor.test_final_checks import fixed  # noqa: F401 - a fixture
from tests.supervisor.world import POLICY, two_tasks


@pytest.fixture
def queued(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Task a is queued, b waits for it, and nobody is there; ages count by the world's clock."""
    monkeypatch.setattr(clocks, "now", terminal.world.clock)
    terminal.world.submit(two_tasks())
    terminal.world.settle()
    return terminal


def excluded(terminal: Terminal, task_id: str = "a") -> dict[str, str | None]:
    found = terminal.json("explain", "w1", task_id)["workers"]
    return {each["worker_id"]: each["excluded_by"] for each in found}


def cause(terminal: Terminal, task_id: str = "a") -> tuple[str, str]:
    found = terminal.json("explain", "w1", task_id)
    return found["cause"], found["because"]


def test_a_queued_task_names_why_nobody_takes_it(queued: Terminal) -> None:
    """Nobody registered; one of another pool; one that has died; one that is full: each with its first rule."""
    world = queued.world
    assert cause(queued) == ("no worker available", "no worker of pool shell is registered")
    assert queued.json("show", "w1")["queue"] == "a: no worker available: no worker of pool shell is registered"
    world.worker("r1", "review")
    world.worker("gone", "elsewhere")
    world.worker("tools", tools=("other",))
    world.worker("dead")
    world.clock.forward(60)
    world.worker("full")
    world.alive("full", slots=0)
    found = excluded(queued)
    assert found == {"r1": "pool", "gone": "pool", "tools": "not_alive", "dead": "not_alive", "full": "no_free_slot"}
    assert cause(queued)[0] == "no worker available"
    assert "dead is excluded by not_alive" in cause(queued)[1]
    world.alive("full")
    assert excluded(queued)["full"] is None
    assert cause(queued) == ("its turn", "full is free")
    assert queued.json("show", "w1")["queue"] is None
    assert queued.run("explain", "w1", "a") == 0
    assert queued.out.startswith("a: queued, its turn: full is free\n")


def test_a_dispatched_task_shows_how_its_worker_was_chosen(queued: Terminal) -> None:
    """Each candidate of the recorded dispatch with the first rule that excluded it, price and registry offset."""
    world = queued.world
    world.worker("w1")
    world.worker("w2", slots=2)
    world.worker("r1", "review")
    world.settle()
    (offer,) = queued.json("explain", "w1", "a")["dispatches"]
    assert offer["worker_id"] == "w1"
    assert {each["worker_id"]: each["excluded_by"] for each in offer["candidates"]} == {
        "w1": None,
        "w2": "not the cheapest, least loaded",
        "r1": "pool",
    }
    assert (offer["price"]["name"], offer["price"]["per_1k_tokens_in"]) == ("default", "1.000000")
    assert offer["registry_offset"] == 3
    assert cause(queued) == ("under way", "worker w1")
    assert queued.run("explain", "w1", "a") == 0
    assert "sequence 2, registry offset 3\nprice default: per_1k_tokens_in £1.000000" in queued.out


def test_the_whole_workflow_in_a_few_words(queued: Terminal) -> None:
    """FLOW-1: a missing prerequisite is named, then the person who has it, then the end."""
    terminal = queued
    found = {each["task_id"]: (each["cause"], each["because"]) for each in terminal.json("explain", "w1")["tasks"]}
    assert found["b"] == ("missing prerequisite", "a (queued)")
    terminal.world.cancel("w1")
    escalated(terminal.world, "w2")
    assert terminal.run("explain", "w2") == 0
    assert "nothing is dispatched: missing prerequisite: b waits for a (escalated)" in terminal.out
    assert "a person's decision   user:priya: permanent_failure" in terminal.out
    terminal.world.cancel("w2")
    terminal.world.settle()
    assert terminal.json("explain", "w2")["queue"] == "finished: cancelled"


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({"limits": {"max_workers": 1}}, ("workers", "1 attempts at once are all that its workflow may have")),
        ({"limits": {"max_tokens": 10}}, ("budget", "tokens_exhausted")),
    ],
)
def test_a_limit_that_holds_a_task_back_is_named(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], wanted: tuple[str, str]
) -> None:
    """Not a worker is lacking: the workflow's own limit keeps it from being offered, in explain as in show."""
    monkeypatch.setattr(clocks, "now", terminal.world.clock)
    document = two_tasks(**changed)
    document["tasks"]["c"] = document["tasks"]["a"] | {"limits": {"max_tokens": 10}}
    terminal.world.worker(slots=3)
    terminal.world.submit(document)
    terminal.world.settle()
    held = [each for each in terminal.json("explain", "w1")["tasks"] if each["status"] == "queued"]
    assert [(each["cause"], each["because"]) for each in held] == [wanted]
    (shown,) = [each for each in terminal.json("show", "w1")["tasks"] if each["status"] == "queued"]
    assert shown["waits_for"] == ": ".join(wanted)


def test_a_policy_that_no_longer_knows_the_capability(terminal: Terminal) -> None:
    """No eligible worker: the pinned policy, or the one in force, has no pool with it."""
    terminal.world.submit(two_tasks())
    terminal.world.settle()
    folded = fold_log(terminal.world.log, "default", "w1")
    known = parse(POLICY)
    other = parse(POLICY.replace("[shell, other]", "[other]").replace("shell: {pool: shell,", "other: {pool: shell,"))
    for pinned, governing in ((other, known), (known, other)):
        crew = Crew({}, Registry({}, {}, 0), Load(), governing)
        assert whole(folded, Room(pinned, crew))["tasks"][0]["cause"] == "no eligible worker"


def test_unknown_names_are_refused(queued: Terminal) -> None:
    """Exit 1, with the tasks that there are."""
    assert queued.run("explain", "w1", "z") == 1
    assert "w1 has no task z; it has: a, b" in queued.err
    assert queued.json("explain", "w9", code=1)["outcome"] == "refused"


def test_each_final_check_is_listed_with_both_revisions(
    fixed: Lab,  # noqa: F811 - the fixture above
    capsys: pytest.CaptureFixture[str],
) -> None:
    """VALID-8: the gate is not passed; each final check with the revision it was made on and r2 as required."""
    first, last = (bodies.revision_of(fixed.offer(each)) for each in ("code", "fix"))
    folded = Folded("default", "w1")
    nowhere = Recorded("transitions", 0, 0, fixed.now, None, None)
    folded.take([Entry(nowhere, each) for each in fixed.history])
    explained = whole(folded, Room(fixed.policy, Crew({}, Registry({}, {}, 0), Load())))
    found = {each["check_id"]: (each["made_on"], each["must_hold_at"], each["held"]) for each in explained["checks"]}
    assert explained["development_acceptance"] == "pending"
    assert found == {
        "committed": ((first,), (last,), False),
        "suite": ((first,), (last,), False),
        "lint": ((first,), (first,), True),
        "review": ((first,), (last,), False),
    }
    print_whole(explained)
    line = next(each for each in capsys.readouterr().out.splitlines() if each.startswith("suite"))
    assert line.split()[-6:] == [first, last, "made", "on", "another", "subject"]
