"""Child processes of one foreground command: started, watched, stopped by pid. Only `remit.cli` imports it.

Each has a session of its own, so Ctrl-C reaches the foreground alone, which then stops them in order.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from remit.cli.output import say
from remit.errors import RemitError
from remit.settings import BOOTSTRAP_VARIABLE, Settings

STOP_S = 20.0
TAIL_LINES = 15
Sink = Callable[[str, str], None]  # (name of the child, one line of its output)


class ChildError(RemitError):
    """A child process ended by itself."""


@dataclass
class Child:
    """One child: its name, process, where its output is kept, and who reads that."""

    name: str
    process: subprocess.Popen[str]
    log: Path
    reader: threading.Thread


class Children:
    """The children of one foreground; a context manager that stops them all, the last one first."""

    def __init__(self, settings: Settings, logs: Path, sink: Sink = lambda _name, _line: None) -> None:
        """Children find the cluster and the home of `settings`; their output goes to a file each, and to `sink`."""
        self._environment = {
            **os.environ,
            BOOTSTRAP_VARIABLE: settings.bootstrap or "",
            "REMIT_HOME": str(settings.home.absolute()),
            "REMIT_TOPIC_PREFIX": settings.topic_prefix,
            "PYTHONUNBUFFERED": "1",
        }
        self._logs, self._sink = logs, sink
        self._children: list[Child] = []
        logs.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        """Nothing runs yet."""
        return self

    def start(self, name: str, *words: str, env: Mapping[str, str] | None = None) -> None:
        """Run `remit WORDS` as a child; `env` adds to its environment."""
        process = subprocess.Popen(
            # -P: a folder of the user's own named like one of ours must not come first
            [sys.executable, "-P", "-m", "remit.cli", *words],
            env={**self._environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        log = self._logs / f"{name}.log"
        reader = threading.Thread(target=self._read, args=(name, process.stdout, log), daemon=True)
        reader.start()
        self._children.append(Child(name, process, log, reader))

    def pid(self, name: str) -> int:
        """Process id of the child of that name; KeyError if there is none."""
        return {child.name: child.process.pid for child in self._children}[name]

    def log(self, name: str) -> str:
        """What the child of that name has printed so far."""
        found = next(child.log for child in self._children if child.name == name)
        return found.read_text("utf-8", errors="replace") if found.exists() else ""

    def check(self) -> None:
        """Raise ChildError, with the end of its log, if one ended by itself."""
        for child in self._children:
            code = child.process.poll()
            if code is not None:
                child.reader.join(1)
                raise ChildError(
                    f"{child.name} ended with exit code {code}; the end of {child.log}:\n{_tail(child.log)}"
                )

    def __exit__(self, *_: object) -> None:
        """Stop all: asked first, killed when they don't end in time."""
        for child in reversed(self._children):
            if child.process.poll() is None:
                child.process.send_signal(signal.SIGTERM)
        for child in reversed(self._children):
            _end(child)
        self._children.clear()

    def _read(self, name: str, stream: IO[str], log: Path) -> None:
        with log.open("a", encoding="utf-8") as kept, stream:
            for line in stream:
                kept.write(line)
                kept.flush()
                self._sink(name, line.rstrip("\n"))


def _end(child: Child) -> None:
    try:
        child.process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        child.process.kill()
        child.process.wait()
    child.reader.join(1)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text("utf-8", errors="replace").splitlines()[-TAIL_LINES:])


def prefixed(width: int) -> Sink:
    """Shows each line on stderr, headed by its child's name."""

    def show(name: str, line: str) -> None:
        say(f"{name.ljust(width)} | {line}", err=True)

    return show
