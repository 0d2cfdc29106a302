"""The one way from a handler to a tool: allowed tools, counted calls, credentials that the handler never holds.

A tool's command runs beside the handler, not in its sandbox, in a folder that the handler can't see. A call that is
refused runs nothing and counts nothing; it stands in the attempt's log and evidence. Only this role imports it.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from remit.errors import RefusedError

from .environment import scrubbed
from .job import Bench, Job
from .keys import key_file
from .meter import Meter
from .plan import plan
from .process import Ended, Stop, run

log = logging.getLogger("remit.worker")
REFUSED = 126  # exit status of a call that was refused
MAX_CALLS = 200  # of an attempt, observed commands and tools together, whatever is granted
_SHOWN = 20  # refused calls with a record of their own
_MASK = b"[redacted]"


@dataclass(frozen=True)
class Asked:
    """A command that the handler had run, or a tool that it called."""

    argv: list[str]
    ended: Ended
    started_at: datetime
    ended_at: datetime
    refused: bool = False  # it was not run


@dataclass
class Gateway:
    """The tools of one attempt while its handler runs; calls may come from several threads."""

    job: Job
    bench: Bench
    meter: Meter
    asked: list[Asked]
    stop: Stop = field(default_factory=Stop)  # ends the tools, once the handler has ended
    refused: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _begun: int = 0

    def __post_init__(self) -> None:
        """Count what an earlier run of the attempt asked for."""
        self._begun = sum(not each.refused for each in self.asked)

    def call(self, name: str, arguments: Sequence[str]) -> Ended:
        """Run a tool to its end; raises RefusedError, and records it, where that is not granted."""
        name, *given = map(sayable, (name, *arguments))
        words = ["remit-tool", name, *given]
        try:
            argv = [*self._command(name), *given]
            return self.observed(words, lambda: self._run(argv))
        except RefusedError as error:
            self._refuse(words, str(error))
            raise

    def observed(self, words: list[str], work: Callable[[], Ended]) -> Ended:
        """Do what counts as one call, and record how it ended; raises RefusedError where no call is left."""
        with self._lock:
            if self._begun >= MAX_CALLS or time.monotonic() >= self.job.until:
                raise RefusedError(f"at most {MAX_CALLS} calls, before the deadline")
            if not self.meter.begin(self.most()):
                raise RefusedError(f"the calls of this attempt are used up: {self.most()} beside those of its checks")
            self._begun += 1
        started = self.bench.clock()
        ended = work()
        self.asked.append(Asked(words, ended, started, self.bench.clock()))
        return ended

    def most(self) -> int | None:
        """How many calls are granted beside the commands that the runner will observe; None for any number."""
        offer = self.job.offer
        limits = [each for each in (offer.remaining.tool_calls, offer.grant.max_tool_calls) if each is not None]
        return max(min(limits) - len(plan(self.job.handout, offer.rework)), 0) if limits else None

    def told(self) -> bytes:
        """What the attempt's log says of refused calls."""
        return f"\n[runner] refused calls of tools: {self.refused}\n".encode() if self.refused else b""

    def _command(self, name: str) -> list[str]:
        if name not in self.job.offer.grant.tools:
            raise RefusedError("this tool is not granted")
        if name not in self.bench.config.tool_commands:
            raise RefusedError("this worker has no command for this tool")
        return self.bench.config.tool_commands[name]

    def _run(self, argv: list[str]) -> Ended:
        ground = self.job.ground
        try:
            ended = run(
                argv,
                folder=ground.tools,
                environment=tool_environment(self.job, self.bench),
                until=self.job.until,
                stop=self.stop,
                printed=self.meter.advance,
            )
        except (OSError, ValueError) as error:
            return Ended(127, f"the tool can't be started: {type(error).__name__}\n".encode())
        return Ended(ended.exit_status, self._masked(ended.output), ended.cause)

    def _masked(self, output: bytes) -> bytes:
        """Without the secrets that only tools hold."""
        if self.bench.config.secrets_to == "tools":
            for value in sorted(self.bench.secrets.values(), key=len, reverse=True):
                output = output.replace(value.encode(), _MASK) if value else output
        return output

    def _refuse(self, words: list[str], reason: str) -> None:
        with self._lock:
            self.refused += 1
            number = self.refused
        log.warning("attempt %s: a call of a tool was refused: %s", self.job.dispatch.attempt_id, reason)
        self.meter.advance(0, note=f"refused calls of tools: {number}")
        if number <= _SHOWN:
            now = self.bench.clock()
            self.asked.append(Asked(words, Ended(REFUSED, f"refused: {reason}\n".encode()), now, now, refused=True))


def sayable(said: object) -> str:
    """The text of what a handler said, without the halves of surrogate pairs, which no record can hold."""
    return str(said).encode(errors="replace").decode()


def tool_environment(job: Job, bench: Bench) -> dict[str, str]:
    """What a tool's command sees: the attempt's folders and dispatch, the worker's secrets and key."""
    ground, config = job.ground, bench.config
    given = {
        "REMIT_DISPATCH": str(ground.dispatch),
        "REMIT_WORKSPACE": str(ground.workspace),
        "REMIT_OUT": str(ground.out),
        "REMIT_WORKER_KEY": str(key_file(config)),
    }
    home, scratch = ground.tools / "home", ground.tools / "tmp"
    home.mkdir(exist_ok=True)
    scratch.mkdir(exist_ok=True)
    secrets = bench.secrets if config.secrets_to != "handler" else {}
    return scrubbed(home, scratch, config.env_allow, {**secrets, **given})
