"""A worker under test: a log in memory, a real repository, and offers as a supervisor would write them."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from remit import ids
from remit.artefacts import ArtefactStore
from remit.codec import decode
from remit.contract.handout import Handout
from remit.contract.normal import (
    Check,
    Command,
    EvidenceKind,
    HoldsAt,
    Limits,
    OutputKind,
    Permissions,
    ReportFormat,
    Requirement,
    TaskContract,
)
from remit.events.base import Amounts, Evidence, InputVersion
from remit.events.envelope import message, new_event
from remit.events.inputs import Lease, LeaseKind, Result
from remit.events.service import Dispatch, DispatchKind, Grant, Offer
from remit.log.memory import MemoryLog
from remit.log.protocols import Partition
from remit.topics import Topic, dispatches, partition_of, workflow_key
from workers.config import WorkerConfig
from workers.service import Service

POOL, WORKER, TENANT, WORKFLOW, TASK = "coders", "w-1", "default", "wf:1", "coding"
PATIENCE_S = 60.0


def git(folder: Path, *words: str) -> str:
    """What git prints, with an identity that no machine needs to have."""
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)  # noqa: S607
    return done.stdout.strip()


def repository(folder: Path, files: Mapping[str, str]) -> str:
    """A repository with one commit; returns the commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    return git(folder, "rev-parse", "HEAD")


def script(folder: Path, text: str) -> list[str]:
    """A command line that runs this Python text."""
    path = folder / "handler.py"
    path.write_text(text, encoding="utf-8")
    return [sys.executable, str(path)]


def handout(
    outputs: Mapping[str, OutputKind] | None = None,
    checks: tuple[Check, ...] = (),
    commands: Mapping[str, Command] | None = None,
    constraints: Mapping[str, str] | None = None,
) -> Handout:
    """One task's contract."""
    task = TaskContract(
        task_id=TASK,
        task_type="implement",
        capability="implement",
        pool=POOL,
        objective="Do it",
        outputs=dict(outputs or {}),
        permissions=Permissions(grants={"repository": "read-write:feature/x"}),
        limits=Limits(max_attempts=2),
    )
    needed = (
        Requirement(
            id="r1", text="it works", source="definition_of_done", mandatory=True, security=False, checks=checks
        ),
    )
    return Handout(task=task, requirements=needed, commands=dict(commands or {}), constraints=dict(constraints or {}))


def check(id_: str, kind: EvidenceKind, command: str | None = None, output: str | None = None) -> Check:
    """One check of the task."""
    return Check(id=id_, kind=kind, task=TASK, holds_at=HoldsAt.OWN, command=command, output=output)


SUITE = Command(
    argv=("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={report}"),
    report=ReportFormat.JUNIT,
    retest=("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={report}", "{failing}"),
)


def git_input(location: Path, commit: str, name: str = "repository") -> InputVersion:
    """A git input at a commit."""
    return InputVersion(name=name, kind="git", reference=f"repo://accounts@commit:{commit}", location=str(location))


def offer_of(
    given: Handout,
    inputs: tuple[InputVersion, ...] = (),
    *,
    token: int = 2,
    rework: tuple[Evidence, ...] = (),
    lease_seconds: int = 30,
    renewal_seconds: int = 5,
    deadline_seconds: int | None = 120,
    worker_id: str = WORKER,
    remaining: Amounts | None = None,
    resume_from: str | None = None,
) -> Dispatch:
    """An offer to the worker."""
    now = datetime.now(UTC)
    offer = Offer(
        contract=msgspec.json.encode(given).decode(),
        contract_version=1,
        contract_sha256="c" * 64,
        attempt=1,
        round=1,
        idempotency_key=f"{TENANT}/{WORKFLOW}/{TASK}/1",
        inputs=inputs,
        offer_until=now + timedelta(seconds=10),
        lease_seconds=lease_seconds,
        renewal_seconds=renewal_seconds,
        no_progress_seconds=300,
        deadline_seconds=deadline_seconds,
        remaining=remaining or Amounts(),
        grant=Grant(permissions=given.task.permissions.grants, expires_at=now + timedelta(minutes=5)),
        rework=rework,
        resume_from=resume_from,
    )
    return dispatch(DispatchKind.OFFER, token=token, offer=offer, worker_id=worker_id)


def correction(*faults: str, token: int = 2) -> Dispatch:
    """A request to mend the result of that attempt."""
    return replace(dispatch(DispatchKind.CORRECTION, token=token), faults=faults)


def dispatch(kind: DispatchKind, *, token: int = 2, offer: Offer | None = None, worker_id: str = WORKER) -> Dispatch:
    """A dispatch to the worker about the attempt of that token."""
    return new_event(
        Dispatch,
        tenant_id=TENANT,
        workflow_id=WORKFLOW,
        producer="supervisor/test",
        clock_now=datetime.now(UTC),
        kind=kind,
        worker_id=worker_id,
        pool=POOL,
        task_id=TASK,
        attempt_id=ids.attempt_id(TENANT, WORKFLOW, TASK, token),
        fencing_token=token,
        state_version=2,
        offer=offer,
    )


class Rig:
    """The worker, its log and its store; what it writes is read from the log."""

    def __init__(self, folder: Path, log: MemoryLog | None = None) -> None:
        """Nothing runs yet."""
        self.folder = folder
        self.log = log or MemoryLog()
        self.store = ArtefactStore(str(folder / "store"))
        self._writer = self.log.writer()

    def config(self, argv: list[str], **fields: Any) -> WorkerConfig:
        """A configuration with quick signs of life; without a sandbox, so that handlers may write where tests look."""
        given = {"worker_id": WORKER, "pool": POOL, "home": self.folder / "home", "liveness_seconds": 0.5}
        given |= {"sandbox": "off"} | fields
        return WorkerConfig(argv=argv, **given)

    @contextmanager
    def working(self, argv: list[str], **fields: Any) -> Iterator[Service]:
        """A worker at work, until the end of the block."""
        service = Service(self.log, self.config(argv, drain_seconds=0, **fields), self.store)
        failures: list[BaseException] = []

        def run() -> None:
            try:
                service.run()
            except BaseException as error:  # noqa: BLE001 - told to the test below
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            assert service.registered.wait(PATIENCE_S) or failures, "the worker did not register"
            yield service
        finally:
            service.stop()
            thread.join(PATIENCE_S)
            assert not failures, failures

    def send(self, event: Dispatch) -> Dispatch:
        """Write a dispatch."""
        self._writer.append([message(event, dispatches(POOL))])
        return event

    def read(self, topic: str) -> list[Any]:
        """Every event of a topic so far, partition by partition."""
        reader = self.log.reader()
        partitions = [
            Partition(topic, n) for n in range(1 if topic in {Topic.WORKERS, Topic.LIVENESS} else self.log.partitions)
        ]
        reader.assign(dict.fromkeys(partitions, 0))
        found: list[Any] = []
        while batch := reader.poll(1000, 0.0):
            found += [decode(topic, record.value) for record in batch if record.value is not None]
        return found

    def leases(self, kind: LeaseKind) -> list[Lease]:
        """Leases of a kind, in order."""
        return [event for event in self.read(Topic.LEASES) if event.kind is kind]

    def until(self, happened: Callable[[], Any], what: str) -> Any:
        """Wait for something that the log shows, and return it."""
        reader = self.log.reader()
        end = time.monotonic() + PATIENCE_S
        key = workflow_key(TENANT, WORKFLOW)
        watched = [Partition(topic, partition_of(key, self.log.partitions)) for topic in (Topic.LEASES, Topic.RESULTS)]
        reader.assign(reader.ends([*watched, Partition(Topic.LIVENESS, 0)]))
        while not (found := happened()):
            assert time.monotonic() < end, f"{what} did not happen"
            reader.poll(100, 0.25)
        return found

    def result(self, event: Dispatch, submission: int = 1) -> Result:
        """The result of an offer's attempt."""
        found: Result = self.until(lambda: self._result(event.attempt_id, submission), "a result")
        return found

    def _result(self, attempt_id: UUID, submission: int) -> Result | None:
        wanted = (attempt_id, submission)
        return next((each for each in self.read(Topic.RESULTS) if (each.attempt_id, each.submission) == wanted), None)

    def output(self, result: Result) -> dict[str, Any]:
        """The outputs of a result."""
        assert result.result is not None, result
        assert result.result.output is not None, result
        found: dict[str, Any] = json.loads(result.result.output)
        return found

    def stored(self, value: Mapping[str, Any]) -> bytes:
        """The bytes of an output that is stored."""
        return self.store.get(value["sha256"])


def evidence(result: Result, command: str | None = None) -> list[Evidence]:
    """The evidence of a result, of one command if named."""
    assert result.result is not None, result
    return [each for each in result.result.evidence if command is None or each.command == command]
