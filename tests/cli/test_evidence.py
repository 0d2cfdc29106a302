"""`remit evidence`, and a verified workflow from end to end on the log in memory."""

import json

import pytest

from tests.cli.conftest import Terminal
from tests.supervisor.verifying import VERIFYING, begin, verify
from tests.supervisor.world import World, two_tasks


@pytest.fixture
def verifying(terminal: Terminal) -> World:
    """A workflow under a policy that verifies all: `a`, then `b`, whose command is run again."""
    world = terminal.world
    begin(world)
    return world


def test_a_workflow_is_accepted_on_what_two_workers_saw(verifying: World, terminal: Terminal) -> None:
    """CLI-1: one document, one Statement for each accepted record, the verifier's with the task that it verifies."""
    world = verifying
    assert terminal.run("evidence", "w1") == 0
    assert terminal.out == "No result was accepted yet.\n"
    for _ in range(2):
        world.run(world.offer())
    assert world.workflow().status.value == "running"
    first = verify(world, agrees=False)
    second = verify(world, agrees=True)
    assert {first, second} == {"v1", "v2"}
    assert world.workflow().status.value == "accepted"
    told = [each["predicate"] for each in terminal.json("evidence", "w1")]
    by = [(each["task"], each.get("verifies"), each["worker"]) for each in told]
    assert by == [("b", None, "w1"), ("b.verify", "b", second)]
    assert [each["requirements"][0]["checks"] for each in told] == [["works"], ["works.verify"]]
    assert terminal.run("evidence", "w1") == 0
    assert "b.verify  command  suite" in terminal.out


def test_it_says_where_a_file_is_verified(terminal: Terminal) -> None:
    """`remit check` shows the verification under a policy that wants it."""
    policy = terminal.world.folder / "policy.yaml"
    policy.write_text(VERIFYING)
    found = terminal.json("check", terminal.file(two_tasks()), "--policy", str(policy))
    assert "b.verify" in json.dumps(found)


def test_an_unknown_workflow_is_refused(terminal: Terminal) -> None:
    """Exit 1, and one document that says so."""
    terminal.world.settle()
    assert terminal.json("evidence", "nobody", code=1)["outcome"] == "refused"
