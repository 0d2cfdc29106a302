"""A handler's line to its tools, whatever the handler does to it: no attempt hangs, and none costs another anything."""

import errno
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from remit.errors import RefusedError
from remit.events.base import Amounts
from remit.events.inputs import ErrorClass, ResultBody, ResultStatus
from remit.events.service import Dispatch
from remit.redaction import Redactor
from tests.workers.rig import PATIENCE_S, Rig, correction, evidence, handout, offer_of, script
from workers import gateway as gateway_module
from workers.attempt import Attempt
from workers.gateway import Gateway
from workers.job import Ground
from workers.meter import Meter
from workers.process import Ended
from workers.tool_socket import _AT_ONCE, served


@pytest.fixture
def gateway(tmp_path: Path) -> Gateway:
    """One that grants a tool that this worker has not."""
    offered = SimpleNamespace(
        grant=SimpleNamespace(tools=("search",), max_tool_calls=None), remaining=Amounts(), rework=()
    )
    job: Any = SimpleNamespace(
        offer=offered,
        handout=handout(),
        until=float("inf"),
        dispatch=SimpleNamespace(attempt_id="a"),
        ground=Ground(tmp_path),
    )
    job.ground.bin.mkdir()
    bench: Any = SimpleNamespace(config=SimpleNamespace(tool_commands={}), clock=lambda: None, secrets={})
    return Gateway(job, bench, Meter(tmp_path / "usage.json", Redactor()), [])


@pytest.fixture
def path(gateway: Gateway) -> Iterator[str]:
    """Its socket, served during the test."""
    with served(gateway) as variables:
        yield variables["REMIT_TOOLS"]


def caller(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(PATIENCE_S)
    made.connect(path)
    return made


def test_open_calls_are_bounded_and_the_rest_wait_their_turn(path: str) -> None:
    """A flood of connections takes no more than its share of descriptors; each call is answered in the end."""
    idle = [caller(path) for _ in range(_AT_ONCE)]
    with caller(path) as late:
        late.sendall(b"?\n")
        late.settimeout(0.3)
        with pytest.raises(TimeoutError):
            late.recv(1)
        for each in idle:
            each.close()
        late.settimeout(PATIENCE_S)
        assert late.makefile("rb").read().startswith(b'{"exit_status": 126')


def test_short_descriptors_end_no_line(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't be accepted now is accepted later."""
    accept, failed = socket.socket.accept, threading.Event()

    def short(self: socket.socket) -> Any:
        if failed.is_set():
            return accept(self)
        failed.set()
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(socket.socket, "accept", short)
    with caller(path) as late:
        late.sendall(b"?\n")
        assert late.makefile("rb").read().startswith(b'{"exit_status": 126')
    assert failed.is_set()


@pytest.mark.parametrize(
    "deed",
    [
        "place.unlink()",
        "place.unlink(); place.touch()",
        "place.unlink(); place.mkdir()",
        "place.unlink(); socket.socket(socket.AF_UNIX).bind(str(place))",
        "shutil.rmtree(place.parent)",
    ],
    ids=["removed", "a file", "a folder", "another socket", "its folder removed"],
)
def test_a_handler_that_takes_its_line_away_ends_all_the_same(rig: Rig, tmp_path: Path, deed: str) -> None:
    """The runner wakes its own thread without the socket's name; a correction ends as well."""
    handler = (
        "import os, pathlib, shutil, socket\n"
        "place = pathlib.Path(os.environ['REMIT_TOOLS'])\n"
        "os.chdir(place.parent)\n"
        f"if 'REMIT_CORRECTION' not in os.environ:\n    {deed.replace('str(place)', 'place.name')}\n"
    )
    with rig.working(script(tmp_path, handler)) as service:
        offer = rig.send(offer_of(handout()))
        first = rig.result(offer).result
        rig.send(correction("no"))
        rig.result(offer, 2)
        rig.until(lambda: not service.attempts.at_work(), "its end")
    assert first is not None
    assert first.status is ResultStatus.COMPLETED, first.message


def granted() -> Dispatch:
    made = offer_of(handout())
    assert made.offer is not None
    grant = msgspec.structs.replace(made.offer.grant, tools=("search",))
    return msgspec.structs.replace(made, offer=msgspec.structs.replace(made.offer, grant=grant))


def test_half_a_surrogate_pair_in_a_call_loses_no_result(rig: Rig, tmp_path: Path) -> None:
    """It is written as a question mark, to the tool and into the evidence."""
    handler = r"""
import os, pathlib, socket
place = pathlib.Path(os.environ["REMIT_TOOLS"])
os.chdir(place.parent)
for name in (b"search", b"\\udfff"):
    with socket.socket(socket.AF_UNIX) as way:
        way.connect(place.name)
        way.sendall(b'{"name": "' + name + b'", "args": ["\\ud800"]}\n')
        way.makefile("rb").read()
"""
    (tmp_path / "agent").mkdir()
    with rig.working(script(tmp_path / "agent", handler), tool_commands={"search": ["echo"]}):
        result = rig.result(rig.send(granted()))
    asked = [(each.argv[1:], each.exit_status) for each in evidence(result) if each.argv[:1] == ("remit-tool",)]
    assert asked == [(("search", "?"), 0), (("?", "?"), 126)]


def test_no_more_calls_begin_at_once_than_are_allowed(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls count from their beginning: ten side by side, three allowed, three run."""
    monkeypatch.setattr(gateway_module, "MAX_CALLS", 3)
    begun, told, go = [], threading.Semaphore(0), threading.Event()

    def work() -> Ended:
        begun.append(1)
        told.release()
        go.wait(PATIENCE_S)
        return Ended(0, b"")

    def call() -> None:
        try:
            gateway.observed(["x"], work)
        except RefusedError:
            told.release()

    threads = [threading.Thread(target=call) for _ in range(10)]
    for each in threads:
        each.start()
    assert all(told.acquire(timeout=PATIENCE_S) for _ in threads)
    go.set()
    for each in threads:
        each.join()
    assert len(begun) == 3
    again = Gateway(gateway.job, gateway.bench, gateway.meter, gateway.asked)  # of the correction
    with pytest.raises(RefusedError, match="at most 3 calls"):
        again.observed(["x"], work)


def test_a_command_asked_for_ends_with_the_handler_that_asked(rig: Rig, tmp_path: Path) -> None:
    """The attempt waits for nothing that nobody waits for."""
    (tmp_path / "mine.py").write_text(
        "import os, pathlib, remit, threading, time\n"
        "def end():\n"
        "    while not pathlib.Path('began').exists(): time.sleep(0.02)\n"
        "    os.kill(os.getpid(), 9)\n"
        "@remit.worker('implement')\ndef work(attempt):\n"
        "    threading.Thread(target=end).start()\n"
        "    attempt.run(['sh', '-c', 'touch began; exec sleep 600'])\n",
        encoding="utf-8",
    )
    with rig.working([sys.executable, "-m", "remit.sdk", "mine.py:work", str(tmp_path)]):
        body = rig.result(rig.send(offer_of(handout(), deadline_seconds=None))).result
    assert body is not None
    assert "-9" in (body.message or "")


@pytest.mark.parametrize("raised", [OSError(errno.EMFILE, "descriptors"), RuntimeError("threads"), UnicodeError("x")])
def test_whatever_an_attempt_raises_is_a_result(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    """No thread dies with its slot: a failed result for the first run, and for the correction."""

    def fail(*_: Any) -> Any:
        raise raised

    monkeypatch.setattr(Attempt, "work", fail)
    monkeypatch.setattr(Attempt, "correct", fail)
    with rig.working(script(tmp_path, "")) as service:
        offer = rig.send(offer_of(handout()))
        first = rig.result(offer).result
        rig.send(correction("no"))
        second = rig.result(offer, 2).result
        rig.until(lambda: service.attempts.free() == 1 and not service.attempts.at_work(), "a free slot")
    for each in (first, second):
        assert each is not None
        assert (each.status, each.message) == (ResultStatus.FAILED, f"a fault of the runner: {type(raised).__name__}")


def test_a_result_that_no_record_holds_becomes_one_that_says_so(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text that no encoding takes, wherever it came from."""
    odd = ResultBody(status=ResultStatus.COMPLETED, error_class=ErrorClass.COMPLETED, message="\ud800", output="{}")
    monkeypatch.setattr(Attempt, "work", lambda _: odd)
    with rig.working(script(tmp_path, "")):
        body = rig.result(rig.send(offer_of(handout()))).result
    assert body is not None
    assert (body.status, body.error_class) == (ResultStatus.FAILED, ErrorClass.RETRYABLE_FAILED)
    assert (body.message or "").startswith("the result can't be written into a record: ")
