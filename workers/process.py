"""Runs one command in a session of its own, keeps what it printed, and ends all that it started.

What is printed stays in memory until it is redacted: nothing unredacted of it reaches the disk.
Only this role imports it.
"""

import contextlib
import os
import signal
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from .guarded import Guarded

MARKER = "REMIT_ATTEMPT_RUN"
_OWN = uuid.uuid4().hex  # of this process: another log on this machine may know the very same attempt id
_HEAD, _TAIL = 1 << 20, 3 << 20  # bytes of output kept from the beginning and from the end
_CHUNK = 1 << 16
_GRACE_S = 2.0
_DRAIN_S = 2.0
_LOOK_S = 0.05


@dataclass(frozen=True)
class Ended:
    """How a command ended; `exit_status` is negative for a signal, `cause` says why the runner ended it."""

    exit_status: int
    output: bytes
    cause: str | None = None  # deadline, lease_lost, cancel, budget, shutdown


class Stop:
    """A wish that the work ends, with its first cause; may come from any thread."""

    def __init__(self) -> None:
        """No wish yet."""
        self._event = threading.Event()
        self._lock = threading.Lock()
        self.cause: str | None = None

    def set(self, cause: str) -> None:
        """Wish it; a later cause changes nothing."""
        with self._lock:
            self.cause = self.cause or cause
        self._event.set()

    def wait(self, timeout: float) -> bool:
        """Wait for the wish, at most so many seconds."""
        return self._event.wait(timeout)


class _Output:
    """The first and the last bytes of what a command prints."""

    def __init__(self, printed: Callable[[], None]) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._printed = printed

    def read(self, stream: int) -> None:
        """Read to the end and close; a stranger that keeps the other end open keeps only this thread."""
        with contextlib.suppress(OSError), open(stream, "rb", buffering=0):
            while chunk := os.read(stream, _CHUNK):
                self._add(chunk)
                self._printed()

    def _add(self, chunk: bytes) -> None:
        room = _HEAD - len(self._head)
        self._head += chunk[:room] if room > 0 else b""
        rest = chunk[room:] if room > 0 else chunk
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail_size > _TAIL:
            gone = len(self._tail.popleft())
            self._tail_size, self._dropped = self._tail_size - gone, self._dropped + gone

    def whole(self) -> bytes:
        gap = f"\n[{self._dropped} bytes left out]\n".encode() if self._dropped else b""
        return bytes(self._head) + gap + b"".join(self._tail)


def run(
    argv: list[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    until: float,
    stop: Stop,
    printed: Callable[[], None] = lambda: None,
    keep_open: tuple[int, ...] = (),
) -> Ended:
    """Run a command to its end, to `until` (monotonic clock) or to `stop`; whatever it started is gone afterwards.

    Raises OSError when it can't be started. `keep_open` names file descriptors that it inherits. Should this process
    die, the command and all that it started die with it.
    """
    read_end, write_end = os.pipe()
    output = _Output(printed)
    reader = threading.Thread(target=output.read, args=(read_end,), name="output-reader", daemon=True)
    try:
        guarded = Guarded(argv, folder=folder, environment=environment, output=write_end, keep_open=keep_open)
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    reader.start()
    try:
        cause = _wait(guarded, until, stop)
    finally:
        guarded.end()
        if (marker := environment.get(MARKER)) is not None:
            end_all(marked(MARKER, marker))  # of a guardian that was killed itself
        reader.join(_DRAIN_S)
    return Ended(guarded.exit_status, output.whole(), cause)


def _wait(guarded: Guarded, until: float, stop: Stop) -> str | None:
    """Wait for the end, and return why it was not its own."""
    while not guarded.ended(_LOOK_S):
        if until <= time.monotonic():
            return "deadline"
        if stop.cause is not None:
            return stop.cause
    return None


def run_marker(attempt_id: uuid.UUID) -> str:
    """What marks all processes of one attempt, and of no other runner's."""
    return f"{attempt_id}/{_OWN}"


def marked(variable: str, value: str) -> list[psutil.Process]:
    """Processes of ours whose environment has this variable: also those that left their session and parent."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(variable) == value:
                found.append(process)
    return found


def end_all(processes: list[psutil.Process]) -> None:
    """End these processes: first politely, then not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        _, processes = psutil.wait_procs(processes, timeout=_GRACE_S)
