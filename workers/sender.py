"""Sends spooled results until the log has them, from a thread of its own. Only the service imports it."""

import logging
import threading
from collections.abc import Callable
from uuid import UUID

from remit.errors import LogError, RemitError
from remit.log.outgoing import refuse_oversize
from remit.log.protocols import Message, Writer

from .spool import Spool, Waiting

log = logging.getLogger("remit.worker")
_AGAIN_S = 1.0


class Sender:
    """Takes results into the spool and empties it in order."""

    def __init__(self, spool: Spool, writer: Writer, sent: Callable[[UUID, int], None]) -> None:
        """`sent` is told attempt and submission of each result that the log has; `writer` is this sender's own."""
        self._spool, self._writer, self._sent = spool, writer, sent
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="result-sender", daemon=True)

    def start(self) -> None:
        """Send what an earlier process left, then whatever comes."""
        self._wake.set()
        self._thread.start()

    def submit(self, attempt_id: UUID, message: Message, submission: int = 1) -> None:
        """Keep a result durably, then send it; returns once it is kept.

        What can't be kept (a full disk) is sent at once: raises LogError when that fails too.
        """
        try:
            self._spool.put(attempt_id, message, submission)
        except OSError as error:
            log.warning("the result of attempt %s can't be kept (%s); sent at once", attempt_id, type(error).__name__)
            self._writer.append([message])
            self._sent(attempt_id, submission)
        else:
            self._wake.set()

    def close(self, timeout: float) -> None:
        """Try to empty the spool for at most `timeout` seconds; what is left is sent after a restart."""
        self._closed.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        self._writer.close()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            failed = not self.flush()
            if self._closed.is_set():
                return
            if failed:
                self._closed.wait(_AGAIN_S)
                self._wake.set()

    def flush(self) -> bool:
        """Send all that waits; False when the log did not take one of them. One that fails holds up no other."""
        try:
            return self._flush()
        except (RemitError, OSError) as error:  # the folder can't be read, say: the next look may see it
            log.warning("the spool can't be emptied now: %s", type(error).__name__)
            return False

    def _flush(self) -> bool:
        failed = False
        for each in self._spool.waiting():
            failed = not self._send(each) or failed
            if failed and self._closed.is_set():
                break
        return not failed

    def _send(self, each: Waiting) -> bool:
        """Whether this one need not be tried again."""
        if self._refused(each):
            return True
        try:
            self._writer.append([each.message])
            self._spool.done(each.path)
        except RemitError as error:
            log.warning("the result of attempt %s is not sent yet: %s", each.attempt_id, error)
            return False
        except OSError as error:  # sent, and sent again: a result counts once
            log.warning("the sent result of attempt %s can't be removed: %s", each.attempt_id, type(error).__name__)
            return False
        self._sent(each.attempt_id, each.submission)
        return True

    def _refused(self, each: Waiting) -> bool:
        """Whether no log will ever take it; it is then set aside, and the attempt's slot is free."""
        try:
            refuse_oversize([each.message])
        except LogError as error:
            log.warning("the result of attempt %s is set aside: %s", each.attempt_id, error)
            self._spool.refuse(each.path)
            self._sent(each.attempt_id, each.submission)
            return True
        return False
