"""What supervisors tell this worker: the one partition of its pool's dispatches that its id hashes to, without a group.

Nothing is committed: what was sent before it started was for an earlier process, so it reads from the end. Only the
service imports it, and only its thread calls it.
"""

import logging

from remit.codec import decode
from remit.errors import CodecError, HistoryGapError
from remit.events.service import Dispatch
from remit.log.protocols import Log, Partition, Recorded
from remit.topics import dispatches, partition_of, worker_key

log = logging.getLogger("remit.worker")
_LIMIT = 100


class Inbox:
    """Dispatches that name one worker."""

    def __init__(self, source: Log, pool: str, worker_id: str) -> None:
        """Read nothing yet; `open` first."""
        self._reader = source.reader()
        self._worker_id = worker_id
        self.partition = Partition(dispatches(pool), partition_of(worker_key(worker_id), source.partitions))

    def open(self) -> int:
        """Read from the end there is now, and return it: an offer sent after this is seen."""
        end = self._reader.ends([self.partition])[self.partition]
        self._reader.assign({self.partition: end})
        return end

    def poll(self, timeout: float) -> list[Dispatch]:
        """Dispatches for this worker; waits at most `timeout` seconds. LogError when the log can't be read."""
        try:
            found = self._reader.poll(_LIMIT, timeout)
        except HistoryGapError:
            self.open()  # retention passed us: those offers ended long ago
            return []
        return [event for record in found if (event := self._read(record)) is not None]

    def close(self) -> None:
        """Leave."""
        self._reader.close()

    def _read(self, record: Recorded) -> Dispatch | None:
        if record.value is None or record.key != worker_key(self._worker_id):
            return None
        try:
            event = decode(self.partition.topic, record.value)
        except CodecError as error:
            log.warning("a dispatch at offset %d can't be read: %s", record.offset, error)
            return None
        return event if isinstance(event, Dispatch) and event.worker_id == self._worker_id else None
