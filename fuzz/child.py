"""The child: judges inputs under bounds of time and memory that the system keeps, so that a hang ends a process alone.

`python -m fuzz.child MODULE PAGE` takes orders as lines on stdin, and forks for each: what one leaves behind in memory
is gone before the next, and nothing is imported twice. The timers' signals keep their default, which is death: a
handler in Python would wait for the very call that hangs.
"""

import importlib
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import NoReturn

import msgspec
import psutil

from .orders import Crash, Heard, Order, Page
from .target import Outcome, Target, dice, outcome

BOUND_S = 2.0
"""Processor time of one input."""
STALL_S = 60.0
"""Time of one input by the clock: a wait that never ends burns no processor time."""
_KIB = 1024
_ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Work through the orders of stdin."""
    module, page = sys.argv[1:]
    targets: dict[str, Target] = {each.name: each for each in importlib.import_module(module).TARGETS}
    counters = Page(Path(page))
    for line in sys.stdin:
        order = msgspec.json.decode(line, type=Order)
        if (pid := os.fork()) == 0:
            alone(order, targets[order.target], counters)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        say(Heard(ended=True, died_of=status or None))


def alone(order: Order, target: Target, page: Page) -> NoReturn:
    """Work on one order in a process of its own, and end it."""
    status = 1
    try:
        bound_memory(target.memory)
        work(order, target, page)
        status = 0
    finally:
        os._exit(status)


def work(order: Order, target: Target, page: Page) -> None:
    """Judge the inputs of one order; each place that breaks is told once."""
    page.clear()
    told: set[str] = set()
    until = time.monotonic() + order.seconds
    number = order.first
    while _goes_on(order, page.inputs, until):
        page.number = number
        page.store()
        crash = judge(order.seed, target, number, page)
        if crash is not None and crash.what not in told:
            told.add(crash.what)
            say(Heard(crash=crash))
        number += 1
    page.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
    page.store()


def _goes_on(order: Order, done: int, until: float) -> bool:
    if order.inputs is not None:
        return done < order.inputs
    return done < order.least or time.monotonic() < until


def judge(seed: int, target: Target, number: int, page: Page) -> Crash | None:
    """Make and judge one input, and count it; the crash, if it is one."""
    arm(BOUND_S, STALL_S)
    began = time.process_time()
    found: Crash | None = None
    try:
        came = outcome(target, target.make(dice(seed, target.name, number)))
        page.accepted += came is Outcome.ACCEPTED
        page.refused += came is Outcome.REFUSED
    except Exception as error:  # noqa: BLE001 - any other exception than our own is what is looked for
        found = Crash(number=number, what=place(error), trace="".join(traceback.format_exception(error)))
    page.inputs += 1
    page.slowest = max(page.slowest, time.process_time() - began)
    return found


def place(error: BaseException) -> str:
    """Type and innermost line of ours, by which the same fault is known again."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if _is_ours(Path(each.filename))]
    last = frames[-1] if frames else None
    told = f" ({error})" if type(error).__name__ == "LawBrokenError" else ""
    where = f" at {Path(last.filename).relative_to(_ROOT)}:{last.lineno} in {last.name}" if last else ""
    return f"{type(error).__name__}{told}{where}"


def _is_ours(file: Path) -> bool:
    return file.is_relative_to(_ROOT) and not any(part.startswith(".") for part in file.relative_to(_ROOT).parts)


def arm(processor: float, clock: float) -> None:
    """Let the system end this process after so much time from now on; 0 disarms."""
    signal.setitimer(signal.ITIMER_PROF, processor)
    signal.setitimer(signal.ITIMER_REAL, clock)


def bound_memory(more: int) -> None:
    """Let an allocation beyond so many bytes more fail, instead of taking the machine's last."""
    held = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (held + more, resource.RLIM_INFINITY))


def say(heard: Heard) -> None:
    """Tell the watcher."""
    sys.__stdout__.write(msgspec.json.encode(heard).decode() + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
