"""`remit logs`: each attempt's log once, in its place a line where there is none, and with -f until the task rests."""

import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from remit.client.notes import Notes
from tests.cli.conftest import Terminal
from tests.cli.waits import attempt, failed
from tests.client.conftest import serving
from tests.supervisor.world import World, completed, two_tasks


@pytest.fixture
def logged(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A workflow at work; the store is the world's."""
    world = terminal.world
    monkeypatch.setenv("REMIT_ARTEFACTS", str(world.folder / "artefacts"))
    world.worker()
    world.submit(two_tasks())
    world.settle()
    return terminal


def logs_with(world: World, text: bytes) -> None:
    """One failed attempt with that log, and the queue's next offer."""
    attempt(world, failed(world.offer(), log=world.store.put(text)))
    world.clock.forward(61)
    world.alive()
    world.settle()


def test_each_attempt_s_log_is_printed_in_order(logged: Terminal) -> None:
    """A heading each; --attempt chooses one."""
    logs_with(logged.world, b"first try\nfull disk\n")
    logs_with(logged.world, b"second try\n")
    assert logged.run("logs", "w1", "a") == 0
    assert logged.out == (
        "== round 1, attempt 1, w1: failed\nfirst try\nfull disk\n== round 1, attempt 2, w1: failed\nsecond try\n"
    )
    assert logged.run("logs", "w1", "a", "--attempt", "2") == 0
    assert "first" not in logged.out


def test_what_is_not_there_is_told_in_its_place(logged: Terminal) -> None:
    """No attempt, one at work, one without a log, one whose log is gone: a line each, exit 0 and no crash."""
    world = logged.world
    assert logged.run("logs", "w1", "a") == 0
    assert logged.err == "task a is offered: no attempt to show\n"
    world.claim(world.offer())
    world.settle()
    assert logged.run("logs", "w1", "a") == 0
    assert logged.out.endswith("no log yet: it is handed in with the result\n")
    world.result(world.offer(), failed(world.offer()))
    world.settle()
    world.clock.forward(61)
    world.alive()
    world.settle()
    gone = world.store.put(b"gone")
    attempt(world, failed(world.offer(), log=gone))
    world.store._fs.rm(world.store._path(gone.sha256))
    assert logged.run("logs", "w1", "a") == 0
    assert "no log: its worker handed in none" in logged.out
    assert f"no log: nothing is stored as {gone.sha256}" in logged.out
    assert logged.run("logs", "w1", "z") == 1
    assert "w1 has no task z; it has: a, b" in logged.err


def test_a_log_steers_no_terminal(logged: Terminal) -> None:
    """Control characters are blanked, bytes that are no text replaced."""
    logs_with(logged.world, b"a\x1b[2J\xff\n")
    assert logged.run("logs", "w1", "a") == 0
    assert "\x1b" not in logged.out
    assert "a [2J\ufffd" in logged.out


def test_commands_are_named_and_shown_when_asked_for(logged: Terminal) -> None:
    """The runner's own runs: a line each, with --commands what they wrote."""
    world = logged.world
    for _ in range(2):
        offer = world.offer()
        world.claim(offer)
        world.settle()
        world.result(offer, completed(offer, world, log=world.store.put(b"done")))
        world.settle()
        world.alive()
        world.settle()
    assert logged.run("logs", "w1", "b") == 0
    assert logged.out.endswith("done\n-- command suite, exit 0\n")
    assert logged.run("logs", "w1", "b", "--commands") == 0
    assert logged.out.endswith("-- command suite, exit 0\n1 passed\n")


def test_follow_shows_notes_steps_and_logs_until_the_task_rests(
    logged: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each note once, the log when the attempt ends; it ends with the task."""
    listening, heard, codes = threading.Event(), threading.Event(), []
    world, offer = logged.world, logged.world.offer()
    world.claim(offer)
    world.settle()

    class Listening(Notes):
        def __init__(self, *of: Any) -> None:
            super().__init__(*of)
            listening.set()

        def of_task(self, task_id: str) -> Iterator[tuple[datetime, str]]:
            for each in super().of_task(task_id):
                yield each
                heard.set()

    monkeypatch.setattr("remit.cli.logs.Notes", Listening)
    with serving(world):
        following = threading.Thread(target=lambda: codes.append(logged.run("logs", "w1", "a", "-f")))
        following.start()
        assert listening.wait(30)
        world.renew(offer, note="3 of 10 files", progress=3)
        world.renew(offer, note="3 of 10 files", progress=3)
        assert heard.wait(30)
        world.result(offer, completed(offer, world, log=world.store.put(b"all files\n")))
        following.join(60)
    assert codes == [0]
    assert logged.out.count("13:00:00  a: 3 of 10 files\n") == 1
    assert "a: accepted (round 1, attempt 1)" in logged.out
    assert logged.out.endswith("== round 1, attempt 1, w1: completed\nall files\n")
