"""Nothing that a handler started outlives it or its runner, however it tries, and however the runner ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.workers.rig import PATIENCE_S, script
from workers.process import Stop, run

ROOT = Path(__file__).parents[2]
# A child in the same group, and one that left group, parent and environment behind.
FAMILY = """
import os, pathlib, subprocess, sys, time
sleep = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]
plain = subprocess.Popen(sleep)
fork = "import subprocess; print(subprocess.Popen({{!r}}, start_new_session=True, env={{{{}}}}, stdout=-3).pid)"
stray = subprocess.check_output([sys.executable, "-c", fork.format(sleep)], text=True).strip()
file = pathlib.Path({place!r})
file.with_suffix(".new").write_text(f"{{os.getpid()}} {{plain.pid}} {{stray}}")
file.with_suffix(".new").rename(file)
{then}
"""


def lives(pid: int) -> bool:
    """Whether it runs; a zombie that nobody asks about does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def family(place: Path) -> list[int]:
    """The handler and its children, once they are there."""
    end = time.monotonic() + PATIENCE_S
    while not place.exists():
        assert time.monotonic() < end, "the handler did not start"
        threading.Event().wait(0.02)
    return [int(word) for word in place.read_text(encoding="utf-8").split()]


def all_gone(pids: list[int]) -> bool:
    """Whether they are gone, or go soon."""
    end = time.monotonic() + PATIENCE_S
    while any(map(lives, pids)) and time.monotonic() < end:
        threading.Event().wait(0.02)
    return not any(map(lives, pids))


@contextmanager
def lone_runner(folder: Path, handler: str) -> Iterator[subprocess.Popen[str]]:
    """A runner's own process, with an attempt at work."""
    argv = [sys.executable, "-m", "tests.workers.lone_runner", str(folder), *script(folder, handler)]
    runner = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        tell(runner, "offer")
        yield runner
    finally:
        runner.kill()
        runner.communicate()


def cancel(place: Path, stop: Stop) -> None:
    family(place)
    stop.set("cancel")


def tell(runner: subprocess.Popen[str], word: str) -> None:
    assert runner.stdin is not None
    runner.stdin.write(f"{word}\n")
    runner.stdin.flush()


def test_a_killed_runner_takes_its_handler_along(tmp_path: Path) -> None:
    """Kill -9 of the worker process: its handler dies at once, and so does a child that left everything behind."""
    place = tmp_path / "pids"
    with lone_runner(tmp_path, FAMILY.format(place=str(place), then="time.sleep(600)")) as runner:
        pids = family(place)
        assert all(map(lives, pids))
        runner.kill()
        assert all_gone(pids)


def test_a_suspended_runner_reads_lease_lost_first(tmp_path: Path) -> None:
    """LEASE-4: what came meanwhile is read at the first poll after it goes on, and the whole family is killed."""
    place = tmp_path / "pids"
    with lone_runner(tmp_path, FAMILY.format(place=str(place), then="time.sleep(600)")) as runner:
        pids = family(place)
        runner.send_signal(signal.SIGSTOP)
        tell(runner, "lease_lost")
        assert all(map(lives, pids))
        runner.send_signal(signal.SIGCONT)
        assert all_gone(pids)
        tell(runner, "result")
        assert runner.stdout is not None
        assert runner.stdout.readline().strip() == "ended by the runner: lease_lost"


@pytest.mark.parametrize("then", ["", "time.sleep(600)"], ids=["ended", "cancelled"])
def test_a_child_without_parent_session_and_environment_is_found(tmp_path: Path, then: str) -> None:
    """It hides from group and marker; its guardian adopted it."""
    place, stop = tmp_path / "pids", Stop()
    if then:
        threading.Thread(target=cancel, args=(place, stop)).start()
    argv = script(tmp_path, FAMILY.format(place=str(place), then=then))
    ended = run(argv, folder=tmp_path, environment=dict(os.environ), until=time.monotonic() + PATIENCE_S, stop=stop)
    pids = family(place)
    assert (ended.cause, ended.exit_status) == (("cancel", -signal.SIGTERM) if then else (None, 0))
    assert not [pid for pid in pids if lives(pid)]


def test_a_killed_guardian_leaves_nothing_that_can_be_known(tmp_path: Path) -> None:
    """A handler that kills what stands above it fails as killed, and is ended by the mark in its environment."""
    place = tmp_path / "pid"
    handler = f"""
import os, pathlib, signal, time
pathlib.Path({str(place)!r}).write_text(str(os.getpid()))
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(600)
"""
    environment = {**os.environ, "REMIT_ATTEMPT_RUN": str(tmp_path)}
    until = time.monotonic() + PATIENCE_S
    ended = run(script(tmp_path, handler), folder=tmp_path, environment=environment, until=until, stop=Stop())
    assert (ended.exit_status, ended.cause) == (-signal.SIGKILL, None)
    assert all_gone(family(place))


def test_a_command_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    """As from any start of a process: the system's own error."""
    with pytest.raises(FileNotFoundError):
        run([str(tmp_path / "absent")], folder=tmp_path, environment={}, until=0, stop=Stop())
    (tmp_path / "plain").touch()
    with pytest.raises(PermissionError):
        run([str(tmp_path / "plain")], folder=tmp_path, environment={}, until=0, stop=Stop())
