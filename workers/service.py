"""The worker's loop: register, say that it lives, take offers, work on them beside the loop, send what came of it.

The loop's thread reads the inbox and writes claims; attempts, renewals and results each have threads of their own, so
the log is polled while work goes on. `remit worker run` starts it.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import msgspec
from filelock import FileLock, Timeout

from remit.artefacts import ArtefactStore
from remit.contract.handout import read_handout
from remit.errors import LogError, SettingsError
from remit.events.inputs import LeaseKind
from remit.events.service import Dispatch, DispatchKind, LivenessKind, Offer, WorkerKind
from remit.grants import public_text
from remit.ids import new_event_id
from remit.instants import aware
from remit.log.protocols import Log, Message

from .attempts import Attempts
from .cleaning import Cleaner
from .config import WorkerConfig, read_secrets
from .confinement import confinement
from .environment import passed_values
from .handler import WORKER_MARKER, worker_marker
from .inbox import Inbox
from .job import Bench
from .keeper import Keeper
from .keys import folder_of, grant_faults, worker_key
from .process import end_all, marked
from .sender import Sender
from .spool import Spool
from .writing import Author

log = logging.getLogger("remit.worker")
_POLL_S = 0.2
_APPEND_S = 10.0
_DOUBT_S = 60.0
GRANT_INVALID = "grant_invalid"
_REMEMBERED = 1000
_FOR_EVER_S = 10**9


def _utc_now() -> datetime:
    return datetime.now(UTC)


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
        redactor, sandbox = Cleaner(passed_values(config.env_allow, secrets)), confinement(config)
        self._bench = Bench(config, store, redactor, secrets, clock, sandbox)
        self._author = Author(config, new_event_id(), clock, public_text(worker_key(config)))
        self._inbox = Inbox(source, config.pool, config.worker_id)
        self._writer = source.writer()
        self._keeper = Keeper(source.writer())
        self.attempts = Attempts(folder_of(config) / "attempts", self._bench, self._author, self._keeper, self._submit)
        self._sender = Sender(Spool(folder_of(config) / "spool"), source.writer(), self.attempts.sent)
        self._seen: dict[UUID, None] = {}
        self._stopping = threading.Event()
        self._at_once = threading.Event()
        self._told_free = -1
        self._told_at = 0.0
        self._doubted_at = -_DOUBT_S
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
        self.attempts.clear()
        self._inbox.open()  # before it registers: no offer can come unseen
        self._sender.flush()  # before it registers: then the finished attempts of its last incarnation are given up
        self._writer.append([self._author.registration()])
        self._keeper.start()
        self._sender.start()
        self._tell()
        self.registered.set()
        words = "in a sandbox" if self._bench.sandbox is not None else "WITHOUT A SANDBOX"
        log.info("worker %s of pool %s takes offers, %s", self._config.worker_id, self._config.pool, words)

    def _turn(self) -> None:
        """One round of the loop."""
        try:
            for dispatch in self._inbox.poll(_POLL_S):
                self._handle(dispatch)
            self.attempts.tidy()
            self._tell()
        except LogError as error:
            log.warning("the log can't be reached, trying again: %s", error)
            self._stopping.wait(1.0)

    def _handle(self, dispatch: Dispatch) -> None:
        if dispatch.kind is DispatchKind.OFFER and dispatch.offer is not None:
            if dispatch.attempt_id not in self._seen:
                self._remember(dispatch.attempt_id)
                self._offered(dispatch, dispatch.offer)
        else:
            self.attempts.tell(dispatch)

    def _offered(self, dispatch: Dispatch, offer: Offer) -> None:
        reason = self._objection(dispatch, offer)
        if reason == GRANT_INVALID and self._doubted_lately():
            return  # it ends by itself: declined, it would come again at once, and again
        if reason is not None:
            self._say(self._author.lease(dispatch, LeaseKind.DECLINE, reason=reason))
            return
        since = time.monotonic()
        if self._claim(dispatch, offer):
            self.attempts.start(dispatch, offer, since, time.monotonic() + _time_left(offer, self._bench.clock()))

    def _objection(self, dispatch: Dispatch, offer: Offer) -> str | None:
        """Why the offer is declined; None when it is taken."""
        if self._stopping.is_set():
            return "leaving"
        if self.attempts.free() < 1:
            return "busy"
        if offer.lease_seconds <= min(self._config.renewal_seconds, offer.renewal_seconds):
            return "lease_too_short"
        if faults := grant_faults(dispatch, self._config, self._author.public_key, self._bench.clock()):
            log.warning("the offer of attempt %s is declined, its grant: %s", dispatch.attempt_id, "; ".join(faults))
            return GRANT_INVALID
        try:
            read_handout(offer.contract)
        except msgspec.MsgspecError:
            return "contract_unreadable"
        return None

    def _doubted_lately(self) -> bool:
        """Whether a grant was declined a short while ago; from now on one was."""
        before, self._doubted_at = self._doubted_at, time.monotonic()
        return self._doubted_at - before < _DOUBT_S

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

    def _submit(self, attempt_id: UUID, result: Message, submission: int) -> None:
        self._sender.submit(attempt_id, result, submission)

    def _tell(self) -> None:
        """Say that it lives: now and then, and at once when its free slots changed."""
        free, now = self.attempts.free(), time.monotonic()
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
        while self.attempts.at_work() and time.monotonic() < end and not self._at_once.is_set():
            self._turn_while_draining()
        self.attempts.stop_all("shutdown")
        last = time.monotonic() + _APPEND_S
        while self.attempts.at_work() and time.monotonic() < last:
            self._turn_while_draining()

    def _turn_while_draining(self) -> None:
        with contextlib.suppress(LogError):
            for dispatch in self._inbox.poll(_POLL_S):
                self._handle(dispatch)
            return
        time.sleep(_POLL_S)

    def _close(self) -> None:
        self.attempts.stop_all("shutdown")
        self._sender.close(_APPEND_S)
        self._keeper.close()
        self._inbox.close()
        self._writer.close()
        self.attempts.close()
        self._lock.release()


def _only_one(config: WorkerConfig) -> FileLock:
    folder = folder_of(config)
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
