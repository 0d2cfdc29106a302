"""Where a guard is shown: a supervisor, and workers that misbehave on purpose. Only its package imports it."""

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import psutil

import remit
from remit.artefacts import ArtefactStore
from remit.cli.children import Children
from remit.cli.folded import Folded
from remit.cli.following import live_lines
from remit.cli.output import say
from remit.client import submission
from remit.client.history import Follower
from remit.errors import RefusedError
from remit.events.transitions import Transition
from remit.log.kafka.log import KafkaLog
from remit.settings import Settings

WAIT_S = 90.0
POLL_S = 0.2
HANDLERS = "remit.cli.guards.handlers"


@dataclass
class Arena:
    """One run: what is started lives as long as it does."""

    settings: Settings
    log: KafkaLog
    children: Children
    stopped: Callable[[], bool]
    shown: list[str] = field(default_factory=list)
    _follower: Follower | None = None
    folded: Folded = field(init=False)

    def worker(self, name: str, handler: str, *words: str) -> None:
        """Start a worker of the pool `shell` whose handler is one of this package's."""
        line = f"{sys.executable} -P -m {HANDLERS} {handler}"
        shown = str(Path(remit.__file__).parents[1])  # where this package lies, for a handler in a sandbox
        options = ("--pool", "shell", "--id", name, "--no-model", "--read-only", shown, "--exec", line, *words)
        self.children.start(name, "worker", "run", *options)
        self._wait(lambda: "takes offers" in self.children.log(name), f"registration of {name}")

    def submit(self, document: Mapping[str, Any]) -> None:
        """Submit the workflow, and follow it from here on."""
        workflow_id = document["workflow_id"]
        rules = submission.newest_policy(self.log, workflow_id)
        store = ArtefactStore(self.settings.artefact_url)
        event = submission.prepare(document, workflow_id, rules, store, self.settings.home)
        submission.send(self.log, event)
        self._follower = Follower(self.log, event.tenant_id, workflow_id)
        self.folded = Folded(event.tenant_id, workflow_id)
        self._show(self.folded.take(self._follower.past()))

    def until(self, seen: Callable[[Folded], object], what: str) -> None:
        """Follow until `seen` is true of what was folded; RefusedError when it doesn't come."""
        self._wait(lambda: seen(self.folded), what)

    def _wait(self, there: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + WAIT_S
        while not there():
            self.children.check()
            if self.stopped():
                raise click.Abort
            if time.monotonic() > deadline:
                raise RefusedError(f"after {WAIT_S:.0f} s there is still no {what}")
            if self._follower is None:
                time.sleep(POLL_S)
            else:
                self._show(self.folded.take(self._follower.more(POLL_S)))

    def transitions(self, kind: str) -> list[Transition]:
        """All of one kind so far."""
        return [each.transition for each in self.folded.entries if each.transition.kind.value == kind]

    def family(self, name: str) -> list[psutil.Process]:
        """The processes that a worker started: its handlers, and theirs."""
        return psutil.Process(self.children.pid(name)).children(recursive=True)

    def freeze(self, name: str) -> None:
        """Suspend a worker and all that it started, as a laptop's lid does."""
        self._signal(name, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let it go on as if nothing had been."""
        self._signal(name, signal.SIGCONT)

    def close(self) -> None:
        """Follow no more."""
        if self._follower is not None:
            self._follower.close()

    def _signal(self, name: str, number: signal.Signals) -> None:
        for process in (psutil.Process(self.children.pid(name)), *self.family(name)):
            with suppress(psutil.Error):
                process.send_signal(number)

    def _show(self, entries: list[Any]) -> None:
        show = live_lines(self.settings.zone)
        for entry in entries:
            show(entry)


@contextmanager
def arena(settings: Settings, stopped: Callable[[], bool]) -> Iterator[Arena]:
    """A supervisor on the cluster of `settings`, for as long as the block lasts."""
    with (
        Children(settings, settings.home / "logs") as children,
        closing(KafkaLog.from_settings(settings)) as log,
    ):
        children.start("supervisor", "supervisor", "run", "--name", "demo-0")
        say(f"Kafka at {settings.bootstrap}; supervisor and workers log to {settings.home / 'logs'}")
        ground = Arena(settings, log, children, stopped)
        try:
            yield ground
        finally:
            ground.close()


def gone(processes: list[psutil.Process]) -> bool:
    """Whether none of these processes runs any more."""
    return not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes)
