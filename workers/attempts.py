"""All attempts of this process: those at work, those whose result may still be sent back, and those being corrected.

A slot is free once the log has an attempt's first result. What it worked on is kept a while after that, so that a
correction finds it; corrections run beside the slots, one at a time. Only the service imports it.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from remit.contract.handout import read_handout
from remit.errors import RemitError
from remit.events.inputs import ErrorClass, LeaseKind, ResultBody, ResultStatus
from remit.events.service import Dispatch, DispatchKind, Offer
from remit.log.protocols import Message

from .attempt import Attempt, Outcome
from .budget import beyond
from .checkpoints import Checkpoints
from .dispatch_file import CORRECTED
from .job import Bench, Ground, Job
from .keeper import Held, Keeper
from .meter import Meter
from .process import Stop
from .removal import remove
from .report_back import result_message
from .writing import Author

log = logging.getLogger("remit.worker")
Submit = Callable[[UUID, Message, int], None]
MOST_KEPT = 8
_NEWS_S = 2.0
ENDS = frozenset({DispatchKind.LEASE_LOST, DispatchKind.CANCEL})


@dataclass
class Work:
    """An attempt, and what it is done with."""

    dispatch: Dispatch
    offer: Offer
    ground: Ground
    attempt: Attempt
    meter: Meter
    checkpoints: Checkpoints
    stop: Stop
    is_over: bool = False  # its first outcome is there
    kept_until: float = 0.0  # monotonic clock

    @property
    def id(self) -> UUID:
        """The attempt's id."""
        return self.dispatch.attempt_id


class Attempts:
    """Starts, keeps, corrects and ends attempts; `sent` is called from another thread than the rest."""

    def __init__(self, folder: Path, bench: Bench, author: Author, keeper: Keeper, submit: Submit) -> None:
        """None yet; their grounds lie in `folder`."""
        self._folder, self._bench, self._author, self._keeper, self._submit = folder, bench, author, keeper, submit
        self._lock = threading.Lock()
        self._working: dict[UUID, Work] = {}
        self._kept: dict[UUID, Work] = {}
        self._correcting: dict[UUID, Work] = {}
        self._bench_for_corrections = threading.Lock()

    def clear(self) -> None:
        """Remove what earlier processes left."""
        remove(self._folder)

    def free(self) -> int:
        """Slots without an attempt."""
        return self._bench.config.slots - len(self._working)

    def at_work(self) -> bool:
        """Whether a handler runs, or a result is not sent."""
        return bool(self._working or self._correcting)

    def start(self, dispatch: Dispatch, offer: Offer, since: float, until: float) -> None:
        """Begin an attempt whose claim, begun at `since`, the log has; `until` is its hard end (monotonic clock)."""
        ground = Ground(self._folder / str(dispatch.attempt_id))
        job = Job(dispatch, offer, read_handout(offer.contract), ground, until)
        meter, stop = Meter(ground.usage, self._bench.redactor), Stop()
        saved = Checkpoints(ground.checkpoint, self._bench, lambda: self._keeper.hurry(dispatch.attempt_id))
        attempt = Attempt(job, self._bench, meter, stop, saved)
        work = Work(dispatch, offer, ground, attempt, meter, saved, stop)
        with self._lock:
            self._working[work.id] = work
        self._keeper.hold(self._held(work, since))
        threading.Thread(target=self._work, args=(work,), name=f"attempt-{work.id}").start()

    def tell(self, dispatch: Dispatch) -> None:
        """Hand a supervisor's word to the attempt that it names; one of another lease is passed over."""
        with self._lock:
            places = (self._working, self._kept, self._correcting)
            work = next((place[dispatch.attempt_id] for place in places if dispatch.attempt_id in place), None)
        if work is None or work.dispatch.fencing_token != dispatch.fencing_token:
            return
        if dispatch.kind in ENDS:
            log.info("attempt %s ends: %s", work.id, dispatch.kind.value)
            work.stop.set(dispatch.kind.value)
            self._forget_kept([work])
        elif dispatch.kind is DispatchKind.CORRECTION:
            self._correct(work, dispatch.faults)

    def sent(self, attempt_id: UUID, submission: int) -> None:
        """The log has a result: the lease needs no more renewals, the slot is free."""
        with self._lock:
            place = self._working if submission < CORRECTED else self._correcting
            work = place.pop(attempt_id, None)
            if work is None:  # of an earlier process, or in correction already
                return
            self._keeper.release(work.id)
            if may_be_corrected := submission < CORRECTED and work.stop.cause is None:
                work.kept_until = time.monotonic() + self._bench.config.correction_seconds
                self._kept[work.id] = work
            over = list(self._kept.values())[:-MOST_KEPT]
        if not may_be_corrected:
            self._remove([work])
        self._forget_kept(over)

    def tidy(self) -> None:
        """Remove what nobody will ask for any more."""
        now = time.monotonic()
        with self._lock:
            over = [work for work in self._kept.values() if work.kept_until <= now]
        if over:  # beside the loop: a large workspace takes its time
            threading.Thread(target=self._forget_kept, args=(over,), name="sweeper", daemon=True).start()

    def stop_all(self, cause: str) -> None:
        """Wish that all end."""
        for work in [*self._working.values(), *self._correcting.values()]:
            work.stop.set(cause)

    def close(self) -> None:
        """Remove what is kept."""
        self._forget_kept(list(self._kept.values()))

    def _held(self, work: Work, since: float) -> Held:
        return Held(
            attempt_id=work.id,
            lease_seconds=work.offer.lease_seconds,
            renewal_seconds=min(self._bench.config.renewal_seconds, work.offer.renewal_seconds),
            renewal=lambda: self._renewal(work),
            since=since,
            lost=lambda: work.stop.set("lease_lost"),
        )

    def _renewal(self, work: Work) -> Message:
        """What it has done so far; a handler that tells of more than is reserved for it is ended."""
        progress, note = work.meter.progress()
        usage = work.meter.usage(calls_no_model=self._bench.config.calls_no_model)
        if usage is not None and (passed := beyond(usage, work.offer.remaining)) is not None:
            work.stop.set(f"budget: {passed}")
        saved = work.checkpoints.reference
        return self._author.lease(
            work.dispatch, LeaseKind.RENEWED, progress=progress, note=note, usage=usage, checkpoint=saved
        )

    def _work(self, work: Work) -> None:
        """Run one attempt in its own thread, and hand on what came of it."""
        outcome = _outcome(work, work.attempt.work)
        work.meter.rest()
        work.is_over = True
        self._hand_on(work, outcome, 1)

    def _correct(self, work: Work, faults: tuple[str, ...]) -> None:
        """Begin the one correction of an attempt that is over, whether or not we heard that the log has its result."""
        with self._lock:
            known = self._kept.pop(work.id, None) or (self._working.pop(work.id, None) if work.is_over else None)
            if known is None:
                return
            self._correcting[work.id] = work
        log.info("attempt %s is to be corrected: %d faults", work.id, len(faults))
        self._keeper.hold(self._held(work, time.monotonic()))
        threading.Thread(target=self._mend, args=(work, faults), name=f"correction-{work.id}").start()

    def _mend(self, work: Work, faults: tuple[str, ...]) -> None:
        with self._bench_for_corrections:
            if work.stop.cause is not None:  # ended while it waited
                self.sent(work.id, CORRECTED)
                return
            outcome = _outcome(work, lambda: work.attempt.correct(faults))
        work.meter.rest()
        self._hand_on(work, outcome, CORRECTED)

    def _hand_on(self, work: Work, outcome: Outcome, submission: int) -> None:
        if work.checkpoints.reference is not None:  # the last thing saved is named before the lease ends
            self._keeper.renew_now(work.id, _NEWS_S)
        try:
            self._submit(work.id, self._message(work, outcome, submission), submission)
        except Exception as error:  # noqa: BLE001 - whatever it is, the slot is free again and the lease runs out
            log.warning("the result of attempt %s can't be kept: %s", work.id, type(error).__name__)
            self.sent(work.id, submission)

    def _message(self, work: Work, outcome: Outcome, submission: int) -> Message:
        """The record of its outcome; of one that can't be written, a failure that says so."""
        try:
            return result_message(self._author, work.dispatch, outcome, submission)
        except (RemitError, ValueError, TypeError) as error:  # ValueError: text that no encoding holds
            log.warning("the result of attempt %s can't be written: %s", work.id, type(error).__name__)
            small = _failed(work, f"the result can't be written into a record: {type(error).__name__}")
            return result_message(self._author, work.dispatch, small, submission)

    def _forget_kept(self, over: Iterable[Work]) -> None:
        with self._lock:
            found = [work for work in over if self._kept.pop(work.id, None) is not None]
        self._remove(found)

    def _remove(self, over: Iterable[Work]) -> None:
        if not self._bench.config.keep_workspaces:
            for work in over:
                remove(work.ground.root)


def _outcome(work: Work, run: Callable[[], Outcome]) -> Outcome:
    """What came of it; an attempt of which nothing came is a failed one, never a thread that is gone with its slot."""
    try:
        return run()
    except Exception as error:  # noqa: BLE001 - that of its failing too, such as descriptors that ran out
        log.warning("attempt %s failed beyond its own account: %s", work.id, type(error).__name__)
        return _failed(work, f"a fault of the runner: {type(error).__name__}")


def _failed(work: Work, words: str) -> ResultBody:
    """A result that needs nothing of the attempt."""
    return ResultBody(
        status=ResultStatus.FAILED,
        error_class=ErrorClass.RETRYABLE_FAILED,
        message=words,
        output="{}",
        input_versions=work.offer.inputs,
    )
