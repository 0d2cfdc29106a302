"""`remit amend` over the log in memory: exit codes, words, and the decision that follows."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.conftest import Terminal
from tests.client.conftest import serving
from tests.supervisor.world import two_tasks


@pytest.fixture
def submitted(terminal: Terminal) -> Iterator[Terminal]:
    """A supervisor at work, and one open workflow."""
    with serving(terminal.world):
        assert terminal.run("submit", terminal.file(two_tasks())) == 0
        yield terminal


def amend(terminal: Terminal, said: dict[str, Any], *more: str) -> tuple[str, ...]:
    """The words of a command that amends w1."""
    path = terminal.file({"schema_version": "workflow-v1"} | said, "amendment.json")
    return ("amend", "w1", path, "--reason", "it is late", *more)


def test_what_only_tightens_holds_at_once(submitted: Terminal) -> None:
    """Exit 0, with the version and the rule; the same again is known."""
    words = amend(submitted, {"limits": {"max_tokens": 5000}})
    assert submitted.run(*words) == 0
    assert submitted.out == "w1: contract version 2 holds, approved by rule:only_tightens\n"
    assert submitted.json(*words)["outcome"] == "duplicate"
    assert submitted.json("show", "w1")["contract_version"] == 2


def test_what_widens_waits_in_the_inbox_until_somebody_decides(submitted: Terminal) -> None:
    """Each widening on a line, then the item's id; an approval lets the version hold, with its person."""
    words = amend(submitted, {"tasks": {"a": {"limits": {"max_attempts": 4}}}, "limits": {"max_attempts": 4}})
    answer = submitted.json(*words)
    assert (answer["outcome"], answer["owner"]) == ("proposed", "user:priya")
    assert answer["widens"] == ["tasks.a.limits.max_attempts: 2 -> 4", "limits.max_attempts: 2 -> 4"]
    assert [each["item_id"] for each in submitted.json("inbox")] == [answer["item_id"]]
    assert submitted.run("resolve", answer["item_id"], "--approve", "--reason", "agreed") == 0, submitted.err
    shown = submitted.json("show", "w1")
    assert (shown["contract_version"], shown["tasks"][0]["max_attempts"]) == (2, 4)
    assert submitted.json("inbox") == []


def test_an_amendment_of_another_version_is_stale(submitted: Terminal) -> None:
    """STATE-1 (a): exit 1, naming the version read, the one in force, and what differs."""
    assert submitted.run(*amend(submitted, {"limits": {"max_tokens": 5000}})) == 0
    assert submitted.run(*amend(submitted, {"limits": {"max_tokens": 4000}}, "--base-version", "1")) == 1
    assert "contract_version: read 1, now 2; limits.max_tokens: differs" in submitted.err


def test_what_the_gate_refuses_is_invalid(submitted: Terminal) -> None:
    """Exit 2, one line per fault, as `submit` tells them."""
    assert submitted.run(*amend(submitted, {"limits": {"max_tokens": 10**7}, "owner": ""})) == 2
    assert "CONTRACT_INVALID: limits.max_tokens must be at most 1000000 (policy)" in submitted.err
    assert submitted.run(*amend(submitted, {"inputs": {"x": "file://nowhere"}})) == 2
    assert "CONTRACT_INVALID: inputs.x can't be read or stored" in submitted.err


def test_no_workflow_of_that_id(submitted: Terminal) -> None:
    """Exit 1 before anything is sent."""
    words = amend(submitted, {})
    assert submitted.run("amend", "nowhere", *words[2:]) == 1
    assert "no workflow nowhere" in submitted.err


def test_an_attempt_under_way_is_ended_before_the_answer(submitted: Terminal) -> None:
    """What the amendment cancels comes first on the log; the command still answers with the version."""
    world = submitted.world
    world.worker()
    while not (offers := world.sent()):
        pass
    world.claim(offers[0])
    while "claimed" not in world.kinds():
        pass
    assert submitted.run(*amend(submitted, {"tasks": {"a": {"limits": {"max_tokens": 100}}}})) == 0
    assert "contract version 2 holds" in submitted.out
    assert "attempt_failed" in world.kinds()


@pytest.mark.parametrize("number", [2**53, -(2**53)])
def test_a_number_that_no_contract_holds_is_invalid(submitted: Terminal, number: int) -> None:
    """Exit 2 with its place, as `submit` tells it, and no fault of ours."""
    said = amend(submitted, {"limits": {"max_tool_calls": number}, "acceptance": [{"x": number}]})
    told = submitted.json(*said, code=2)
    assert told["faults"] == [
        "limits.max_tool_calls is a number beyond 2**53",
        "acceptance[0].x is a number beyond 2**53",
    ]
    assert "CONTRACT_INVALID: limits.max_tool_calls" in submitted.err
