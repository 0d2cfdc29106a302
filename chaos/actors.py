"""One process that faults are done to: started, killed, stopped, resumed, and started again when it is down."""

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

import psutil

from .points import VARIABLE
from .schedule import Act, Fault, Order, order

RESTART_S = 1.0
END_S = 20.0


class Actor:
    """A supervisor, worker or projector; `counts` is shared by all and says what was done to whom."""

    def __init__(self, target: str, argv: list[str], home: Path, env: Mapping[str, str], counts: Counter[str]) -> None:
        """Nothing runs yet; `{name}` in `argv` is its present name."""
        self.target, self.name = target, target
        self._argv, self._home, self._env, self._counts = argv, home, env, counts
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] = (home / "logs" / f"{target}.log").open("ab")
        self._lives = 0
        self._order: Order | None = None
        self._ordered = False
        self._due: float | None = 0.0  # when to start it; None = leave it down
        self._resume_at: float | None = None
        self._asked: tuple[float, float] | None = None  # when it was asked to end, and for how long it stays down
        self._twin: subprocess.Popen[bytes] | None = None
        self._twin_until = 0.0
        self.seed: int | None = None  # of the orders that each life gets
        self.orders: Callable[[int, str, int], Order | None] = order

    def start(self) -> None:
        """Start it now, with what its life is ordered to do to itself."""
        self._order = self.orders(self.seed, self.target, self._lives) if self.seed is not None else None
        self._ordered = False
        ordered = {VARIABLE: self._order.text()} if self._order else {}
        self._process = self._spawned(ordered)
        self._lives += 1
        self._due = self._resume_at = self._asked = None

    def _spawned(self, ordered: Mapping[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *(word.format(name=self.name) for word in self._argv)],
            env={**self._env, **ordered},
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

    def take(self, fault: Fault, now: float) -> None:
        """Do what the schedule says; what is down already or stopped is left as it is."""
        if self._process is None or self._process.poll() is not None or self._resume_at is not None:
            self._counts["missed"] += 1
            return
        if fault.act is Act.STOP:
            self._pause(now + fault.lasts, f"stop {self._kind()}")
            return
        if fault.act is Act.LEAVE:
            self._signal(signal.SIGTERM)
            self._asked = (now, fault.lasts)
            self._counts[f"leave {self._kind()}"] += 1
            return
        if fault.act is Act.TWIN:
            self._end_twin()
            self._twin, self._twin_until = self._spawned({}), now + fault.lasts
            self._counts[f"twin {self._kind()}"] += 1
            return
        self._kill()
        self._counts[f"kill {self._kind()}"] += 1
        if fault.act is Act.RENAME:
            self.name = f"{self.target}-life-{self._lives}"
        self._due = now + fault.lasts

    def watch(self, now: float) -> None:
        """Resume what was stopped long enough, notice what it did to itself, start what is down."""
        if now >= self._twin_until:
            self._end_twin()
        if self._resume_at is not None and now >= self._resume_at:
            self._signal(signal.SIGCONT)
            self._resume_at = None
        elif self._process is not None and (code := self._process.poll()) is not None:
            self._ended(code, now)
        elif self._asked is not None and now > self._asked[0] + END_S:
            self._counts[f"{self._kind()} did not end when asked"] += 1
            self._kill()
            self._due = now
        elif self._ordered_to_stop():
            self._pause(now + (self._order.lasts if self._order else 0), f"stop at {self._point()}")
            self._ordered = True
        if self._process is None and self._due is not None and now >= self._due:
            self.start()

    def calm(self) -> None:
        """No orders from now on; what is stopped goes on, and what is down starts with the next look."""
        self._end_twin()
        self.seed = None
        if self._resume_at is not None:
            self._signal(signal.SIGCONT)
        self._resume_at = None
        if self._process is None:
            self._due = 0.0

    def close(self, within: float = END_S) -> None:
        """End it for good: asked first, killed when it doesn't end in time."""
        if self._process is not None and self._process.poll() is None:
            self._signal(signal.SIGCONT)
            self._signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(within)
        self._end_twin()
        self._kill()
        self._due = None
        self._log.close()

    def _ordered_to_stop(self) -> bool:
        waits = self._order is not None and self._order.act is Act.STOP and not self._ordered
        return waits and self._resume_at is None and self._process is not None and _is_stopped(self._process.pid)

    def _pause(self, until: float, what: str) -> None:
        self._signal(signal.SIGSTOP)
        self._resume_at = until
        self._counts[what] += 1

    def _ended(self, code: int, now: float) -> None:
        by_order = code == -signal.SIGKILL and self._order is not None and self._order.act is Act.KILL
        if by_order:
            self._counts[f"kill at {self._point()}"] += 1
        elif self._asked is None or code not in {0, -signal.SIGTERM}:  # asked before it could listen
            self._counts[f"{self._kind()} ended by itself ({code})"] += 1
        self._due = now + (self._asked[1] if self._asked else 0.0 if by_order else RESTART_S)
        self._process = None

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(END_S)
        self._process = None

    def _end_twin(self) -> None:
        twin, self._twin = self._twin, None
        if twin is not None:
            twin.kill()
            twin.wait(END_S)

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def _kind(self) -> str:
        return self.target.partition("-")[0]

    def _point(self) -> str:
        return (self._order.point if self._order else "").replace("_", " ")


def _is_stopped(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.Error:
        return False
