"""Keeps leases alive from a thread of its own, which no handler can block: handlers run in processes of their own.

A renewal that can't be published is tried again within the lease; a lease that ran out unrenewed is a hard stop of its
attempt, whatever the supervisor may say later. Only the service imports it.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from remit.errors import LogError, RemitError
from remit.log.protocols import Message, Writer

log = logging.getLogger("remit.worker")
_SHARE = 3  # renewals within a lease, at least
_TRIES = 4  # of a failed publish, within the time between two renewals
_HURRY_S = 1.0  # between two renewals, however often one is wished for


@dataclass
class Held:
    """One lease: how to renew it, and what to do when it is over. Times are the monotonic clock's."""

    attempt_id: UUID
    lease_seconds: float
    renewal_seconds: float
    renewal: Callable[[], Message]
    lost: Callable[[], None]
    since: float  # before its claim was sent
    until: float = 0.0
    due: float = 0.0
    sent: float = 0.0


class Keeper:
    """Renews what it holds; `close` it at the end."""

    def __init__(self, writer: Writer, clock: Callable[[], float] = time.monotonic) -> None:
        """`writer` is its own: a long result on another writer must not hold a renewal up."""
        self._writer, self._clock = writer, clock
        self._held: dict[UUID, Held] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def hold(self, lease: Held) -> None:
        """Renew this lease from now on; its claim has just been acknowledged."""
        with self._changed:
            lease.until = lease.since + lease.lease_seconds
            lease.sent = lease.since
            lease.due = self._clock() + _interval(lease)
            self._held[lease.attempt_id] = lease
            self._changed.notify_all()

    def hurry(self, attempt_id: UUID) -> None:
        """Renew this one soon: it has news."""
        with self._changed:
            if (lease := self._held.get(attempt_id)) is not None:
                lease.due = min(lease.due, max(self._clock(), lease.sent + _HURRY_S))
                self._changed.notify_all()

    def renew_now(self, attempt_id: UUID, patience: float) -> None:
        """Renew this one at once, and wait until that is published, at most so many seconds."""
        with self._changed:
            if (lease := self._held.get(attempt_id)) is None:
                return
            lease.due = asked = self._clock()
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: lease.sent >= asked or self._held.get(attempt_id) is not lease or self._closed, patience
            )

    def release(self, attempt_id: UUID) -> None:
        """Renew it no more."""
        with self._changed:
            self._held.pop(attempt_id, None)

    def close(self) -> None:
        """Stop the thread; idempotent."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self._writer.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._closed:
                    self._changed.wait(self._wait())
                if self._closed:
                    return
            self.tend()

    def _wait(self) -> float | None:
        dues = [lease.due - self._clock() for lease in self._held.values()]
        return max(min(dues), 0.0) if dues else None

    def tend(self) -> None:
        """Renew what is due, and end what ran out; one round of the thread."""
        with self._changed:
            now = self._clock()
            over = [lease for lease in self._held.values() if lease.until <= now]
            for lease in over:
                del self._held[lease.attempt_id]
            due = [lease for lease in self._held.values() if lease.due <= now]
            for lease in due:  # before it is made: what comes meanwhile is news for the next one
                lease.due = now + _interval(lease)
        for lease in over:
            log.warning("lease of attempt %s ran out unrenewed; its work is stopped", lease.attempt_id)
            lease.lost()
        if due:
            self._renew(due, now)

    def _renew(self, due: list[Held], now: float) -> None:
        timeout = min((lease.renewal_seconds for lease in due), default=1.0)
        try:
            self._writer.append([lease.renewal() for lease in due], timeout=timeout)
        except LogError as error:
            log.warning("%d renewals could not be published, trying again: %s", len(due), error)
            self._again(due)
            return
        except RemitError:
            log.exception("a renewal could not be made")
            self._again(due)
            return
        with self._changed:
            for lease in due:
                lease.until = now + lease.lease_seconds  # counted from before it was sent: never too long
                lease.sent = now
            self._changed.notify_all()

    def _again(self, due: list[Held]) -> None:
        now = self._clock()
        for lease in due:
            lease.due = min(now + _interval(lease) / _TRIES, lease.until)


def _interval(lease: Held) -> float:
    return min(lease.renewal_seconds, lease.lease_seconds / _SHARE)
