"""One attempt from its claim to its result: bring the inputs, run the command, observe the checks, assemble the result.

Whatever goes wrong becomes a result that says so; no exception leaves it. A result that was sent back is mended on the
same ground. Only this role imports it.
"""

import dataclasses
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from remit.errors import ArtefactError, EnvelopeInvalidError, RemitError, WorkspaceError
from remit.events.base import ArtefactRef, Usage
from remit.events.inputs import ErrorClass, ResultBody, ResultStatus
from remit.result import Envelope
from remit.result.envelope import MAX_FAULTS, MAX_OUTPUT_BYTES, WorkerUsage

from . import inputs
from .assemble import Assembly, assemble
from .channel import Channel
from .checkpoints import Checkpoints
from .cleaning import Cleaner
from .dispatch_file import correction_document, dispatch_document, write
from .environment import versions
from .gateway import Asked
from .handler import Answer, handle, read_answer
from .job import Bench, Job
from .left import read_left
from .meter import Meter
from .observe import Observer
from .process import Ended, Stop
from .repository import attempt_ref
from .revision import Origin, Revision, settle
from .witness import Witness

log = logging.getLogger("remit.worker")
_JUDGED = frozenset({"completed", "failed"})  # a failure may be a defect, which only observed evidence shows
_MESSAGE = 4096  # characters
_FAULT = 300  # characters


@dataclass(frozen=True)
class Malformation:
    """An envelope that breaks its schema: its redacted text, its faults, what was used."""

    text: str
    faults: tuple[str, ...]
    usage: Usage | None


Outcome = ResultBody | Malformation


class Attempt:
    """One attempt at work; `work` runs it in the calling thread."""

    def __init__(self, job: Job, bench: Bench, meter: Meter, stop: Stop, checkpoints: Checkpoints) -> None:
        """Nothing is done yet."""
        self._job, self._bench, self._meter, self._stop, self._checkpoints = job, bench, meter, stop, checkpoints
        self._started_at = bench.clock()
        self._printed = b""
        self._asked: list[Asked] = []
        self._log: ArtefactRef | None = None
        self._told: WorkerUsage | None = None
        self._began_command = False

    def work(self) -> Outcome:
        """Do all of it."""
        self._outcome = self._guarded(self._work)
        return self._outcome

    def correct(self, faults: Sequence[str]) -> Outcome:
        """Run the command once more on the same ground, told what was wrong with its result."""
        return self._guarded(lambda: self._work_again(faults))

    def _guarded(self, work: Callable[[], Outcome]) -> Outcome:
        try:
            return work()
        except EnvelopeInvalidError as error:
            return self._malformed(Answer(text=_read(self._job), faults=error.faults))
        except (WorkspaceError, ArtefactError) as error:
            return self._failed(str(error))
        except (RemitError, OSError) as error:
            log.warning("attempt %s failed in the runner: %s", self._job.dispatch.attempt_id, type(error).__name__)
            return self._failed(f"the runner failed: {type(error).__name__}")
        except Exception as error:  # noqa: BLE001 - whatever it is, the attempt ends with a result
            # Type and place alone: a message may quote what was read, secrets included.
            log.warning("attempt %s: a fault of the runner, %s", self._job.dispatch.attempt_id, _place(error))
            return self._failed(f"a fault of the runner: {_place(error)}")

    def _work(self) -> Outcome:
        self._prepare()
        return self._run()

    def _work_again(self, faults: Sequence[str]) -> Outcome:
        self._job.ground.refuse_links()
        refused = self._refused()
        self._meter.begin_again(self._told)
        self._told = None
        until = min(self._job.until, time.monotonic() + self._bench.config.correction_seconds)
        self._job = dataclasses.replace(self._job, until=until)
        self._job.ground.make_ready_again()
        write(self._job.ground.correction, correction_document(faults, refused))
        return self._run()

    def _refused(self) -> str:
        """What the command had sent, without secrets: its envelope, else what the runner made of its files."""
        written = self._bench.redactor.text(_read(self._job).decode(errors="replace"))
        last = self._outcome
        return written or (last.text if isinstance(last, Malformation) else last.output or "")

    def _run(self) -> Outcome:
        channel = Channel(self._job, self._bench, self._asked, save=self._checkpoints.look)
        started = self._bench.clock()
        self._began_command = True
        with self._checkpoints.watched():
            ended = handle(self._job, self._bench, self._meter, self._stop, channel)
        times = (started, self._bench.clock())
        self._job.ground.refuse_links()
        self._printed += ended.output
        ended = dataclasses.replace(ended, output=self._printed)
        self._log = self._keep(self._printed)
        answer = read_answer(self._job)
        if answer.envelope is not None:
            self._told = answer.envelope.usage
        if ended.cause is not None:
            return self._failed(f"ended by the runner: {ended.cause}")
        if answer.faults:
            return self._malformed(answer)
        return self._judged(_agreed(answer.envelope, ended), ended, channel, times)

    def _prepare(self) -> None:
        self._job.ground.make()
        paths = inputs.bring(self._job, self._bench)
        evidence = inputs.evidence_files(self._job, self._bench)
        now = self._bench.clock()
        lease_until = now + timedelta(seconds=self._job.offer.lease_seconds)
        deadline = now + timedelta(seconds=max(self._job.until - time.monotonic(), 0))
        resumed = inputs.resumed(self._job, self._bench)
        document = dispatch_document(self._job, paths, evidence, lease_until, deadline, resumed=resumed)
        write(self._job.ground.dispatch, document)

    def _judged(self, envelope: Envelope, ended: Ended, channel: Channel, times: tuple[datetime, datetime]) -> Outcome:
        """The result of a command that came to its own end."""
        revision = self._settle() if envelope.status == "completed" else None
        witness = Witness.of(self._job, self._bench, revision.commit if revision else None)
        observer = Observer(self._job, self._bench, self._meter, self._stop, witness)
        observed = observer.observe() if envelope.status in _JUDGED else []
        if self._stop.cause is not None:
            return self._failed(f"ended by the runner: {self._stop.cause}")
        assembly = Assembly(
            job=self._job,
            bench=self._bench,
            witness=witness,
            envelope=envelope,
            ended=ended,
            times=times,
            log=self._log or self._keep(b""),
            revision=revision,
            observed=tuple(observed),
            asked=tuple(channel.asked),
        )
        parts = assemble(assembly)
        if parts.fault is not None:
            return self._malformed(Answer(text=parts.text.encode()[:MAX_OUTPUT_BYTES], faults=(parts.fault,)))
        return self._body(parts.status, parts.error_class, **parts.fields)

    def _settle(self) -> Revision | None:
        """Take and push the commits of a task that makes a revision."""
        job, base = self._job, self._job.base
        makes = "revision" in {kind.value for kind in job.handout.task.outputs.values()}
        if not makes or base is None or base.location is None:
            return None
        if not job.offer.grant.permissions.get("repository", "none").startswith("read-write"):
            raise WorkspaceError("nothing was pushed: the grant is not one to write to the repository")
        start = base.reference.rpartition(":")[2]
        ref = attempt_ref(job.dispatch.workflow_id, str(job.dispatch.attempt_id))
        origin = Origin(start, inputs.other_commits(job), inputs.trailers(job), ref)
        # Secrets alone keep a commit back: the value of an allowed variable may be a plain word that code uses too.
        secrets = Cleaner(self._bench.secrets.values())
        return settle(self._bench.repository(base.location), job.ground.workspace, origin, secrets)

    def _keep(self, data: bytes) -> ArtefactRef:
        return self._bench.store.put(self._bench.redactor.data(data))

    def _usage(self) -> Usage | None:
        # Before the command began nobody can have used anything: that is known, not left unreported.
        none = self._bench.config.calls_no_model or not self._began_command
        return self._meter.usage(self._told, calls_no_model=none)

    def _malformed(self, answer: Answer) -> Malformation:
        text = self._bench.redactor.text(answer.text.decode(errors="replace"))
        cut = text.encode()[:MAX_OUTPUT_BYTES].decode(errors="ignore")
        faults = tuple(map(self._bench.redactor.text, answer.faults[: MAX_FAULTS + 1]))  # they may quote keys
        return Malformation(cut, tuple(fault[:_FAULT] for fault in faults), self._usage())

    def _failed(self, words: str) -> ResultBody:
        return self._body(ResultStatus.FAILED, ErrorClass.RETRYABLE_FAILED, message=words, output="{}")

    def _body(
        self, status: ResultStatus, error_class: ErrorClass, message: str | None = None, **fields: object
    ) -> ResultBody:
        clean = self._bench.redactor.text(message)[:_MESSAGE] if message else None
        return ResultBody(
            status=status,
            error_class=error_class,
            message=clean,
            usage=self._usage(),
            input_versions=self._job.offer.inputs,
            environment=versions(self._job.handout.constraints),
            log=self._log,
            started_at=self._started_at,
            ended_at=self._bench.clock(),
            **fields,  # type: ignore[arg-type]
        )


def _agreed(envelope: Envelope | None, ended: Ended) -> Envelope:
    """The envelope, or what the exit status says without one; a completed one whose command failed is failed."""
    if envelope is None and ended.exit_status == 0:
        return Envelope(status="completed", output={}, evidence=[])
    if envelope is None:
        words = f"the command wrote no result and ended with exit status {ended.exit_status}"
        return Envelope(status="failed", output={}, evidence=[], message=words)
    if envelope.status == "completed" and ended.exit_status != 0:
        words = f"the result says completed, but the command ended with exit status {ended.exit_status}"
        return envelope.model_copy(update={"status": "failed", "error_class": "RETRYABLE_FAILED", "message": words})
    return envelope


def _read(job: Job) -> bytes:
    return read_left(job.ground.result, MAX_OUTPUT_BYTES) or b""


def _place(error: Exception) -> str:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" in {frame.tb_frame.f_code.co_name}:{frame.tb_lineno}" if frame else ""
    return f"{type(error).__name__}{where}"
