"""What a handler saves of its work, for whoever takes over: stored without its secrets, then named in a renewal.

It is looked at now and then beside the work, and at once when the handler says so. Only this role imports it.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from remit.errors import ArtefactError

from .job import Bench
from .left import opened

log = logging.getLogger("remit.worker")
MAX_BYTES = 64 << 20
_LOOK_S = 0.5


class Checkpoints:
    """The checkpoints of one attempt; `reference` is the last that was stored."""

    def __init__(self, file: Path, bench: Bench, stored: Callable[[], None]) -> None:
        """`stored` is called each time that there is a new one."""
        self._file, self._bench, self._stored = file, bench, stored
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] | None = None
        self._fault: str | None = None
        self.reference: str | None = None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look at the file while the handler runs, and once when it has ended."""
        done = threading.Event()
        thread = threading.Thread(target=self._watch, args=(done,), name="checkpoints", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def look(self) -> str | None:
        """Store the file if it is another than before; what is wrong with it, if anything."""
        with self._lock:
            try:
                return self._look()
            except FileNotFoundError:
                return None
            except (OSError, ArtefactError) as error:  # tried again with the next look
                return f"the checkpoint can't be kept: {type(error).__name__}"

    def _watch(self, done: threading.Event) -> None:
        while not done.wait(_LOOK_S):
            self._look_and_tell()
        self._look_and_tell()

    def _look_and_tell(self) -> None:
        fault = self.look()
        if fault is not None and fault != self._fault:
            log.warning("%s", fault)
        self._fault = fault

    def _look(self) -> str | None:
        with opened(self._file) as (file, about):
            seen = (about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size)
            if seen == self._seen:
                return None
            if about.st_size > MAX_BYTES:
                return f"a checkpoint must be a file of at most {MAX_BYTES} bytes"
            data = file.read(MAX_BYTES)
        kept = self._bench.store.put(self._bench.redactor.data(data))
        self._seen, self.reference = seen, kept.reference
        self._stored()
        return None
