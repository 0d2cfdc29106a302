"""Reads the transitions along with a run, so that it knows what has ended; a thread that survives every outage."""

import contextlib
import threading
from collections import Counter

from remit.codec import decode
from remit.errors import LogError, RemitError
from remit.events.transitions import Transition, WorkflowStatus
from remit.log.protocols import Log, Partition, Reader, Recorded
from remit.topics import Topic

OPEN = frozenset({WorkflowStatus.RUNNING, WorkflowStatus.UNKNOWN})
Key = tuple[str, str]


class Watcher:
    """What each workflow's last transition says of it."""

    def __init__(self, log: Log) -> None:
        """Read from the first transition on."""
        self._log = log
        self._positions = {Partition(Topic.TRANSITIONS, number): 0 for number in range(log.partitions)}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._statuses: dict[Key, WorkflowStatus] = {}
        self._generations: dict[int, tuple[str, int]] = {}
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self.takeovers: Counter[str] = Counter()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._thread.join()

    def ended(self) -> int:
        """How many workflows have ended."""
        with self._lock:
            return sum(status not in OPEN for status in self._statuses.values())

    def open(self, keys: list[Key]) -> list[Key]:
        """Those of the keys that have not ended, or of which nothing is known yet."""
        with self._lock:
            return [key for key in keys if self._statuses.get(key, WorkflowStatus.UNKNOWN) in OPEN]

    def waiting(self) -> list[Key]:
        """Those of which a person has something."""
        with self._lock:
            return [key for key, status in self._statuses.items() if status is WorkflowStatus.ESCALATED]

    def _run(self) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(LogError):
                self._read()
            self._stop.wait(1.0)

    def _read(self) -> None:
        reader = self._log.reader()
        try:
            reader.assign(self._positions)
            while not self._stop.is_set():
                self._take(reader)
        finally:
            reader.close()

    def _take(self, reader: Reader) -> None:
        for recorded in reader.poll(500, 0.2):
            self._note(recorded)
            self._positions[recorded.source] = recorded.offset + 1

    def _note(self, recorded: Recorded) -> None:
        try:
            event = decode(recorded.topic, recorded.value)
        except RemitError:
            return
        if isinstance(event, Transition):
            writer = (event.writer.instance, event.writer.generation)
            if self._generations.get(recorded.partition) != writer:
                self._generations[recorded.partition] = writer
                self.takeovers[event.writer.instance] += 1
            if event.workflow_id:
                with self._lock:
                    self._statuses[event.tenant_id, event.workflow_id] = event.workflow_status
