"""The worker's loop: register, say that it lives, take offers, work on them beside the loop, send what came of it.

The loop's thread reads the inbox and writes claims; attempts, renewals and results each have threads of their own, so
the log is polled while work goes on. `remit worker run` starts it.
"""

import contextlib
import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import msgspec
from filelock import FileLock, Timeout

from remit.artefacts import ArtefactStore
from remit.contract.handout import read_handout
from remit.errors import LogError, RemitError, SettingsError
from remit.events.inputs import LeaseKind
from remit.events.service import Dispatch, DispatchKind, LivenessKind, Offer, WorkerKind
from remit.ids import new_event_id
from remit.instants import aware
from remit.log.protocols import Log, Message
from remit.redaction import Redactor

from .attempt import Attempt
from .config import WorkerConfig, read_secrets
from .environment import passed_values
from .handler import WORKER_MARKER, worker_marker
from .inbox import Inbox
from .job import Bench, Ground, Job
from .keeper import Held, Keeper
from .meter import Meter
from .process import Stop, end_all, marked
from .report_back import result_message
from .sender import Sender
from .spool import Spool
from .writing import Author

log = logging.getLogger("remit.worker")
_ENDS = frozenset({DispatchKind.LEASE_LOST, DispatchKind.CANCEL})
_POLL_S = 0.2
_APPEND_S = 10.0
_REMEMBERED = 1000
_FOR_EVER_S = 10**9


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class _Working:
    """An attempt at work."""

    dispatch: Dispatch
    stop: Stop
    ground: Ground


class Service:
    """One worker process."""

    def __init__(
        self, source: Log, config: WorkerConfig, store: ArtefactStore, clock: Callable[[], datetime] = _utc_now
    ) -> None:
        """Set up; raises SettingsError when another process of this worker runs on this machine."""
        aware(clock(), "clock")
        secrets = read_secrets(config.secrets_from)
        self._config = config
        self._lock = _only_one(config)
        self._bench = Bench(config, store, Redactor(passed_values(config.env_allow, secrets)), secrets, clock)
        self._author = Author(config, new_event_id(), clock)
        self._inbox = Inbox(source, config.pool, config.worker_id)
        self._writer = source.writer()
        self._keeper = Keeper(source.writer())
        self._sender = Sender(Spool(_folder(config) / "spool"), source.writer(), self._sent)
        self._working: dict[UUID, _Working] = {}
        self._seen: dict[UUID, None] = {}
        self._changed = threading.Lock()
        self._stopping = threading.Event()
        self._at_once = threading.Event()
        self._told_free = -1
        self._told_at = 0.0
        self.registered = threading.Event()  # for whoever waits until it takes offers

    @property
    def incarnation(self) -> UUID:
        """This process of the worker."""
        return self._author.incarnation

    def stop(self) -> None:
        """Take no more offers, let attempts end for a while, then leave; called again, leave at once."""
        if self._stopping.is_set():
            self._at_once.set()
        self._stopping.set()

    def run(self) -> None:
        """Work until told to stop. Raises LogError when the log can't be reached at the start."""
        try:
            self._begin()
            while not self._stopping.is_set():
                self._turn()
            self._drain()
            self._say(self._author.liveness(0, LivenessKind.LEAVING), self._author.registration(WorkerKind.RETIRED))
        finally:
            self._close()

    def _begin(self) -> None:
        end_all(marked(WORKER_MARKER, worker_marker(self._config)))  # what a killed process of this worker left running
        shutil.rmtree(_folder(self._config) / "attempts", ignore_errors=True)
        self._inbox.open()  # before it registers: no offer can come unseen
        self._sender.flush()  # before it registers: then the finished attempts of its last incarnation are given up
        self._writer.append([self._author.registration()])
        self._keeper.start()
        self._sender.start()
        self._tell()
        self.registered.set()
        log.info("worker %s of pool %s takes offers", self._config.worker_id, self._config.pool)

    def _turn(self) -> None:
        """One round of the loop."""
        try:
            for dispatch in self._inbox.poll(_POLL_S):
                self._handle(dispatch)
            self._tell()
        except LogError as error:
            log.warning("the log can't be reached, trying again: %s", error)
            self._stopping.wait(1.0)

    def _handle(self, dispatch: Dispatch) -> None:
        if dispatch.kind is DispatchKind.OFFER and dispatch.offer is not None:
            if dispatch.attempt_id not in self._seen:
                self._remember(dispatch.attempt_id)
                self._offered(dispatch, dispatch.offer)
        elif (working := self._working.get(dispatch.attempt_id)) is not None:
            self._told(working, dispatch)

    def _told(self, working: _Working, dispatch: Dispatch) -> None:
        if dispatch.kind in _ENDS and dispatch.fencing_token == working.dispatch.fencing_token:  # else: another lease
            log.info("attempt %s ends: %s", dispatch.attempt_id, dispatch.kind.value)
            working.stop.set(dispatch.kind.value)

    def _offered(self, dispatch: Dispatch, offer: Offer) -> None:
        reason = self._objection(offer)
        if reason is not None:
            self._say(self._author.lease(dispatch, LeaseKind.DECLINE, reason=reason))
            return
        since = time.monotonic()
        if self._claim(dispatch, offer):
            self._start(dispatch, offer, since)

    def _objection(self, offer: Offer) -> str | None:
        """Why the offer is declined; None when it is taken."""
        if self._stopping.is_set():
            return "leaving"
        if self._free() < 1:
            return "busy"
        if offer.lease_seconds <= min(self._config.renewal_seconds, offer.renewal_seconds):
            return "lease_too_short"
        try:
            read_handout(offer.contract)
        except msgspec.MsgspecError:
            return "contract_unreadable"
        return None

    def _claim(self, dispatch: Dispatch, offer: Offer) -> bool:
        """Claim until the log has it, or the offer is over; the same event again changes nothing."""
        claim = self._author.lease(dispatch, LeaseKind.CLAIM)
        end = time.monotonic() + max((offer.offer_until - dispatch.occurred_at).total_seconds(), 1.0)
        while time.monotonic() < end and not self._stopping.is_set():
            try:
                self._writer.append([claim], timeout=min(_APPEND_S, max(end - time.monotonic(), 0.1)))
            except LogError as error:
                log.warning("the claim of attempt %s is not acknowledged: %s", dispatch.attempt_id, error)
                self._stopping.wait(0.2)
            else:
                return True
        return False

    def _start(self, dispatch: Dispatch, offer: Offer, since: float) -> None:
        ground = Ground(_folder(self._config) / "attempts" / str(dispatch.attempt_id))
        until = time.monotonic() + _time_left(offer, self._bench.clock())
        job = Job(dispatch, offer, read_handout(offer.contract), ground, until)
        working = _Working(dispatch, Stop(), ground)
        meter = Meter(ground.usage, self._bench.redactor)
        with self._changed:
            self._working[dispatch.attempt_id] = working
        self._keeper.hold(self._held(dispatch, offer, meter, working=working, since=since))
        thread = threading.Thread(target=self._work, args=(job, working, meter), name=f"attempt-{dispatch.attempt_id}")
        thread.start()

    def _held(self, dispatch: Dispatch, offer: Offer, meter: Meter, *, working: _Working, since: float) -> Held:
        def renewal() -> Message:
            progress, note = meter.progress()
            usage = meter.usage(time.monotonic() - since, calls_no_model=self._config.calls_no_model)
            return self._author.lease(dispatch, LeaseKind.RENEWED, progress=progress, note=note, usage=usage)

        return Held(
            attempt_id=dispatch.attempt_id,
            lease_seconds=offer.lease_seconds,
            renewal_seconds=min(self._config.renewal_seconds, offer.renewal_seconds),
            renewal=renewal,
            since=since,
            lost=lambda: working.stop.set("lease_lost"),
        )

    def _work(self, job: Job, working: _Working, meter: Meter) -> None:
        """Run one attempt in its own thread, and spool what came of it."""
        outcome = Attempt(job, self._bench, meter, working.stop).work()
        try:
            self._sender.submit(job.dispatch.attempt_id, result_message(self._author, job.dispatch, outcome))
        except (RemitError, OSError) as error:
            log.warning("the result of attempt %s can't be kept: %s", job.dispatch.attempt_id, type(error).__name__)
            self._sent(job.dispatch.attempt_id)

    def _sent(self, attempt_id: UUID) -> None:
        """The log has the result: the lease needs no more renewals, the slot is free."""
        self._keeper.release(attempt_id)
        with self._changed:
            working = self._working.pop(attempt_id, None)
        if working is not None and not self._config.keep_workspaces:
            shutil.rmtree(working.ground.root, ignore_errors=True)

    def _free(self) -> int:
        with self._changed:
            return self._config.slots - len(self._working)

    def _tell(self) -> None:
        """Say that it lives: now and then, and at once when its free slots changed."""
        free, now = self._free(), time.monotonic()
        if free != self._told_free or now - self._told_at >= self._config.liveness_seconds:
            self._writer.append([self._author.liveness(free)], timeout=_APPEND_S)
            self._told_free, self._told_at = free, now

    def _remember(self, attempt_id: UUID) -> None:
        self._seen[attempt_id] = None
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def _say(self, *messages: Message) -> None:
        try:
            self._writer.append(messages, timeout=_APPEND_S)
        except LogError as error:
            log.warning("the log did not take a word of this worker: %s", error)

    def _drain(self) -> None:
        """Let attempts end, decline what is offered meanwhile, then end what is left."""
        end = time.monotonic() + self._config.drain_seconds
        while self._working and time.monotonic() < end and not self._at_once.is_set():
            self._turn_while_draining()
        for working in list(self._working.values()):
            working.stop.set("shutdown")
        last = time.monotonic() + _APPEND_S
        while self._working and time.monotonic() < last:
            self._turn_while_draining()

    def _turn_while_draining(self) -> None:
        with contextlib.suppress(LogError):
            for dispatch in self._inbox.poll(_POLL_S):
                self._handle(dispatch)
            return
        time.sleep(_POLL_S)

    def _close(self) -> None:
        for working in list(self._working.values()):
            working.stop.set("shutdown")
        self._sender.close(_APPEND_S)
        self._keeper.close()
        self._inbox.close()
        self._writer.close()
        self._lock.release()


def _folder(config: WorkerConfig) -> Path:
    return config.home.absolute() / "workers" / config.worker_id.replace(":", "%3A")


def _only_one(config: WorkerConfig) -> FileLock:
    folder = _folder(config)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock", thread_local=False)  # released by whichever thread ran the loop
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SettingsError(
            f"worker {config.worker_id} runs already on this machine; give this one another id"
        ) from None
    return lock


def _time_left(offer: Offer, now: datetime) -> float:
    """Seconds until the attempt's hard end."""
    ends = [(offer.deadline_at - now).total_seconds()] if offer.deadline_at else []
    ends += [float(offer.deadline_seconds)] if offer.deadline_seconds else []
    return max(min(ends, default=_FOR_EVER_S), 0.0)
