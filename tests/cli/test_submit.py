"""`remit submit`, `remit cancel` and `remit policy` over the log in memory: exit codes, words, one JSON document."""

import json
import threading

import pytest

from remit.policy import load
from tests.cli.conftest import Terminal
from tests.client.conftest import serving
from tests.supervisor.world import POLICY, completed, two_tasks


def test_submit_says_accepted_then_duplicate_then_taken(terminal: Terminal) -> None:
    """STATE-5: exit 0, 0, 1; the last names the reason."""
    path = terminal.file(two_tasks())
    with serving(terminal.world):
        assert terminal.run("submit", path) == 0
        assert terminal.out == "w1 is accepted for work\n"
        assert terminal.run("submit", path) == 0
        assert terminal.out == "w1 was submitted already\n"
        assert terminal.run("submit", terminal.file(two_tasks(objective="Other"))) == 1
    assert (terminal.out, "workflow_id is taken" in terminal.err) == ("", True)


def test_submit_json_is_one_document_whatever_happens(terminal: Terminal) -> None:
    """CLI-1: accepted, invalid and unconfirmed alike; words for people go to stderr."""
    document = two_tasks()
    del document["workflow_id"]
    with serving(terminal.world):
        answer = terminal.json("submit", terminal.file(document))
    assert answer["outcome"] == "accepted"
    assert terminal.err == f"workflow id: {answer['workflow_id']}\n"
    assert terminal.json("submit", terminal.file({}), code=2)["faults"] == ["schema_version is required"]
    assert terminal.err.endswith("CONTRACT_INVALID: schema_version is required\n")
    unconfirmed = terminal.json("submit", terminal.file(two_tasks()), "--timeout", "1", code=3)
    assert unconfirmed["outcome"] == "unconfirmed"
    assert "--id w1" in unconfirmed["message"]


def test_an_id_is_printed_before_anything_is_sent(terminal: Terminal) -> None:
    """KOPS-6: even when nobody answers, the fresh id was told and is in the message; the file's own is left out."""
    document = two_tasks()
    del document["workflow_id"]
    assert terminal.run("submit", terminal.file(document), "--timeout", "1") == 3
    first, message = terminal.err.split("\n", 1)
    chosen = first.removeprefix("workflow id: ")
    assert f"remit show {chosen}" in message
    assert terminal.run("submit", terminal.file(two_tasks()), "--id", "w9", "--timeout", "1") == 3
    assert "remit show w9" in terminal.err
    assert terminal.run("submit", terminal.file(two_tasks()), "--id", "w/9") == 2


def test_wait_shows_each_step_and_ends_with_the_verdict(terminal: Terminal) -> None:
    """Exit 0 once it is accepted; each step is one line."""
    world = terminal.world
    world.worker()
    codes = []
    with serving(world):
        path = terminal.file(two_tasks())
        waiting = threading.Thread(target=lambda: codes.append(terminal.run("submit", path, "--wait")))
        waiting.start()
        for number in (1, 2):
            offer = next(each for each in iter(lambda: _offers(terminal), None) if len(each) == number)[-1]
            world.claim(offer)
            world.result(offer, completed(offer, world))
        waiting.join(60)
    assert codes == [0]
    assert "a: accepted (round 1, attempt 1)" in terminal.out
    assert terminal.out.splitlines()[-1].endswith(
        "development_acceptance: approved, deployment_authorisation: not_required"
    )


def _offers(terminal: Terminal) -> list:  # type: ignore[type-arg]
    return terminal.world.sent()


def test_wait_on_a_cancelled_workflow_is_refused(terminal: Terminal) -> None:
    """Exit 1, with the stop reason; with --json still one document, the live lines on stderr."""
    path = terminal.file(two_tasks())
    with serving(terminal.world):
        assert terminal.run("submit", path) == 0
        assert terminal.run("cancel", "w1", "--reason", "not needed") == 0
        assert terminal.out == "w1 is cancelled\n"
        answer = terminal.json("submit", path, "--wait", code=1)
    assert answer["workflow"]["status"] == "stopped"
    assert "workflow stopped, cancelled" in terminal.err
    assert terminal.err.endswith("w1 is stopped: cancelled\n")


def test_wait_in_vain_is_unconfirmed(terminal: Terminal) -> None:
    """Exit 3 after --timeout: it was accepted, nobody works on it."""
    with serving(terminal.world):
        assert terminal.run("submit", terminal.file(two_tasks()), "--wait", "--timeout", "1") == 3
    assert "it was accepted for work and has not ended" in terminal.err


def test_cancel_refusals(terminal: Terminal) -> None:
    """Unknown: exit 1; without a supervisor: exit 3; a reason is required: exit 2."""
    assert terminal.run("cancel", "w1", "--reason", "x") == 1
    assert "no workflow w1 of tenant default" in terminal.err
    assert terminal.run("cancel", "w1") == 2
    terminal.world.submit(two_tasks())
    terminal.world.settle()
    assert terminal.json("cancel", "w1", "--reason", "x", "--timeout", "1.2", code=3)["outcome"] == "unconfirmed"


def test_policy_apply_and_show(terminal: Terminal) -> None:
    """What was applied is in force, as its file stands; faults are lines, exit 2, and nothing is written."""
    text = POLICY.replace("default_tenant: default", "default_tenant: shop")
    path = terminal.world.folder / "policy.yaml"
    path.write_text(text)
    assert terminal.json("policy", "apply", str(path))["policy_sha256"] == load.sha256(text)
    assert terminal.run("policy", "show") == 0
    assert terminal.out.strip() == text.strip()
    shown = terminal.json("policy", "show")
    assert (shown["policy"]["default_tenant"], shown["policy_sha256"]) == ("shop", load.sha256(text))
    path.write_text("schema_version: policy-v1")
    assert terminal.run("policy", "apply", str(path)) == 2
    assert terminal.err.startswith("POLICY_INVALID: environment is required\n")
    assert terminal.json("policy", "show") == shown


@pytest.mark.parametrize("word", ["show", "history", "watch"])
def test_an_unknown_workflow_is_one_clear_error(word: str, terminal: Terminal) -> None:
    """Exit 1, on stderr; with --json the document says so."""
    assert terminal.run(word, "w7") == 1
    assert (terminal.out, terminal.err.count("\n")) == ("", 1)
    assert "no workflow w7 of tenant default is on the log" in terminal.err
    assert terminal.run(word, "w7", "--json") == 1
    assert json.loads(terminal.out)["outcome"] == "refused"
