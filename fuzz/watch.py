"""Gives orders to children, and takes from the dead what they died of. Only the command line and the tests use it."""

import importlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

import msgspec
from msgspec.structs import replace

from .child import BOUND_S, STALL_S
from .orders import TARGETS, Finding, Heard, Order, Page, Tally
from .target import Target

_ROOT = Path(__file__).resolve().parents[1]
MOST_DEATHS = 5
"""Of one target's children: what kills so many is told, and the rest of its inputs is left."""


def targets_of(module: str) -> dict[str, Target]:
    """The targets of a module, by name."""
    return {each.name: each for each in importlib.import_module(module).TARGETS}


class Child:
    """One child process and the page that it counts on; a new process takes the place of a dead one."""

    def __init__(self, module: str, folder: Path) -> None:
        """Nothing runs yet; `folder` is this child's own."""
        self._module = module
        self._file = folder / "page"
        self.page = Page(self._file)
        self._process: subprocess.Popen[str] | None = None

    def run(self, order: Order) -> tuple[list[Heard], int | None]:
        """Let it work on an order: what it said, and the signal or status that it died of, None if it lives."""
        process = self._process or self._start()
        _send(process.stdin, order)
        heard: list[Heard] = []
        for line in process.stdout or ():
            said = msgspec.json.decode(line, type=Heard)
            if said.ended:
                return heard, said.died_of
            heard.append(said)
        self.close()
        return heard, process.returncode

    def close(self) -> None:
        """Let it end, and wait until it has."""
        if self._process is not None:
            self._process.communicate()  # a dead one takes nothing more: what was left to send is let go
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "fuzz.child", self._module, str(self._file)]
        environment = {**os.environ, "TMPDIR": str(self._file.parent)}  # what targets leave goes with the folder
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT, env=environment, text=True
        )
        return self._process


def _send(line: IO[str] | None, order: Order) -> None:
    if line is not None:
        line.write(msgspec.json.encode(order).decode() + "\n")
        line.flush()


def fuzz(order: Order, child: Child) -> Tally:
    """All of one target's order, over as many processes as it takes; an order goes on behind what killed a child."""
    tally = Tally()
    for _ in range(MOST_DEATHS):
        heard, died = child.run(order)
        page = child.page.load()
        tally.add(page)
        tally.findings += [
            Finding(order.target, order.seed, each.crash.number, each.crash.what, each.crash.trace)
            for each in heard
            if each.crash is not None
        ]
        if died is None:
            break
        tally.inputs += 1
        tally.findings.append(Finding(order.target, order.seed, page.number, _death(died)))
        order = _rest(order, page)
        if order.inputs == 0:
            break
    return tally


def _rest(order: Order, page: Page) -> Order:
    """What is left behind the input that killed; the time is given anew, since a death is rare."""
    done = page.inputs + 1
    inputs = None if order.inputs is None else order.inputs - done
    return replace(order, first=page.number + 1, inputs=inputs, least=max(0, order.least - done))


def _death(status: int) -> str:
    if status == -signal.SIGPROF:
        return f"hang: more than {BOUND_S:g} s of processor time"
    if status == -signal.SIGALRM:
        return f"stall: more than {STALL_S:g} s by the clock"
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"the process ended with status {status}"


def fuzz_all(
    orders: Sequence[Order], processes: int, module: str = TARGETS, told: Callable[[str], None] = lambda _: None
) -> dict[str, Tally]:
    """Every order, on so many children at once; tallies by target, in the order of the orders."""
    waiting: queue.SimpleQueue[Order] = queue.SimpleQueue()
    for order in orders:
        waiting.put(order)
    found: dict[str, Tally] = {}

    def serve() -> None:
        with tempfile.TemporaryDirectory(prefix="remit-fuzz-") as folder, closing(Child(module, Path(folder))) as child:
            while not waiting.empty():
                try:
                    order = waiting.get_nowait()
                except queue.Empty:
                    return
                found[order.target] = fuzz(order, child)
                told(order.target)

    threads = [threading.Thread(target=serve, name=f"child-{number}") for number in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {order.target: found[order.target] for order in orders}
