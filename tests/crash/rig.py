"""Real processes on a real broker: what a fault test starts, watches and kills. Used by tests/crash and tests/e2e."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest

from remit.cli.embedded import furnish
from remit.cli.entry import run as run_remit
from remit.codec import decode
from remit.events.transitions import Transition
from remit.log.catch_up import replay
from remit.log.kafka.log import KafkaLog
from remit.log.protocols import Partition
from remit.policy import load
from remit.settings import load as settings
from remit.topics import Topic

T = TypeVar("T")
REMIT = Path(sys.executable).with_name("remit")
PATIENCE_S = 40
QUICK = {
    "offer_seconds": 5,
    "lease_seconds": 4,
    "renewal_seconds": 1,
    "grant_grace_seconds": 1,
    "liveness_seconds": 15,
}


class Rig:
    """One topic prefix, one home, and the processes that work on them."""

    def __init__(self, bootstrap: str, prefix: str, home: Path, timeouts: Mapping[str, int] = QUICK) -> None:
        """Create the topics and apply the shipped policy with short waits, as the first command of a home does."""
        self.home = home
        self.env = {
            **os.environ,
            "KAFKA_BOOTSTRAP_SERVERS": bootstrap,
            "REMIT_TOPIC_PREFIX": prefix,
            "REMIT_HOME": str(home / ".remit"),
        }
        self.log = KafkaLog(bootstrap, prefix, 8)
        self._running: list[subprocess.Popen[bytes]] = []
        furnish(settings(bootstrap=bootstrap, topic_prefix=prefix, home=home / ".remit"), quick_policy(timeouts))

    def apply(self, text: str) -> None:
        """Put a policy on the log."""
        file = self.home / "policy.yaml"
        file.write_text(text, "utf-8")
        self.run("policy", "apply", str(file))

    def run(self, *argv: str, exit_code: int = 0) -> str:
        """Run a command to its end, in this process, which spares an interpreter's start; its stdout."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with ExitStack() as stack:
            stack.enter_context(patch.dict(os.environ, self.env, clear=True))
            for context in (chdir(self.home), redirect_stdout(out), redirect_stderr(err)):
                stack.enter_context(context)
            ended = run_remit(list(argv))
        said, warned = (each.buffer.getvalue().decode() for each in (out, err))
        assert ended == exit_code, f"{argv}: exit {ended}\n{said}\n{warned}\n{self.logs()}"
        return said

    def start(self, *argv: str, **env: str) -> subprocess.Popen[bytes]:
        """Start a command that goes on by itself; its output goes to a file that a failing test shows."""
        number = len(self._running)
        with (self.home / f"{number:02}-{argv[0]}.log").open("wb") as file:
            process = subprocess.Popen(
                [str(REMIT), *argv], env=self.env | env, cwd=self.home, stdout=file, stderr=file, start_new_session=True
            )
        self._running.append(process)
        return process

    def supervisor(self, name: str = "s1") -> subprocess.Popen[bytes]:
        """Start a supervisor under this name."""
        return self.start("supervisor", "run", "--name", name)

    def worker(self, worker_id: str, executable: Path, **env: str) -> subprocess.Popen[bytes]:
        """Start a worker of the pool `shell`."""
        allowed = [part for name in env for part in ("--env-allow", name)]
        argv = (
            "worker",
            "run",
            "--pool",
            "shell",
            "--id",
            worker_id,
            "--sandbox",
            "off",
            "--exec",
            str(executable),
            *allowed,
        )
        return self.start(*argv, **env)

    def serve(self, script: str) -> None:
        """Start a supervisor and one worker that runs this script."""
        self.supervisor()
        self.worker("shell-1", executable(self.home / "worker.sh", script))

    def history(self, workflow_id: str, tenant_id: str = "local") -> list[Transition]:
        """The workflow's transitions so far, as a committed reader sees them."""
        return [e for e in self.transitions() if (e.tenant_id, e.workflow_id) == (tenant_id, workflow_id)]

    def transitions(self) -> list[Transition]:
        """All transitions so far, as a committed reader sees them."""
        reader = self.log.reader()
        try:
            every = [Partition(Topic.TRANSITIONS, n) for n in range(8)]
            read = replay(reader, dict.fromkeys(every, 0), reader.ends(every), timeout=40)
            events = [decode(Topic.TRANSITIONS, each.value) for batch in read for each in batch]
        finally:
            reader.close()
        return [each for each in events if isinstance(each, Transition)]

    def await_kind(self, workflow_id: str, kind: str, **fields: Any) -> Transition:
        """The first transition of that kind with those fields, as soon as it is on the log."""

        def found() -> Transition | None:
            wanted = (each for each in self.history(workflow_id) if each.kind.value == kind)
            return next((e for e in wanted if all(getattr(e, k) == v for k, v in fields.items())), None)

        return self.until(found, f"{kind} {fields or ''} of {workflow_id}")

    def until(self, ask: Callable[[], T | None], what: str) -> T:
        """The first answer that is not None."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if (answer := ask()) is not None:
                return answer
            time.sleep(0.1)  # between two looks at the log
        raise AssertionError(f"never came: {what}\n{self.logs()}\n{self.told()}")

    def show(self, workflow_id: str) -> dict[str, Any]:
        """What `remit show --json` says."""
        shown: dict[str, Any] = json.loads(self.run("show", workflow_id, "--json"))
        return shown

    def told(self) -> str:
        """All transitions on the log, one a line."""
        return "\n".join(
            f"{e.workflow_id} {e.sequence} {e.kind.value} {e.task_id} {e.reason}" for e in self.transitions()
        )

    def logs(self) -> str:
        """The end of every process's output."""
        return "\n".join(f"== {file.name}\n{file.read_text()[-3000:]}" for file in sorted(self.home.glob("*.log")))

    def close(self) -> None:
        """End everything that was started, by its process group."""
        for process in self._running:
            kill(process)
        self.log.close()


@pytest.fixture
def rig(kafka: str, prefix: str, tmp_path: Path) -> Iterator[Rig]:
    """Topics and a policy with short waits; nothing at work yet."""
    made = Rig(kafka, prefix, tmp_path)
    yield made
    made.close()


def kill(process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
    """Kill a process and all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, number)
    process.wait(30)


def quick_policy(timeouts: Mapping[str, int] = QUICK) -> str:
    """The shipped policy with short waits."""
    waits = "\n".join(f"  {name}: {seconds}" for name, seconds in timeouts.items())
    kept = list(_without_timeouts(load.default_text().splitlines()))
    return "\n".join([*kept, "timeouts:", waits, ""])


def _without_timeouts(lines: list[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if line and not line.startswith((" ", "#")):
            inside = line.startswith("timeouts:")
        if not inside:
            yield line


def executable(path: Path, text: str) -> Path:
    """Write an executable file."""
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path
