"""Listens to what workers say of a workflow's attempts while they work on them. The command line imports it.

Such notes are never facts: they live a day on `leases`, and no state holds them.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from remit.client.effects import POLL
from remit.codec import decode
from remit.errors import CodecError
from remit.events.inputs import Lease
from remit.log.protocols import Log, Partition, Recorded
from remit.topics import Topic, partition_of, workflow_key


class Notes:
    """The progress notes of one workflow from now on. One thread owns it."""

    def __init__(self, log: Log, tenant_id: str, workflow_id: str) -> None:
        """Begin at the end of its shard's leases."""
        self._key = workflow_key(tenant_id, workflow_id)
        here = Partition(Topic.LEASES, partition_of(self._key, log.partitions))
        self._said: dict[UUID, str] = {}
        self._reader = log.reader()
        try:
            self._reader.assign(self._reader.ends([here]))
        except BaseException:
            self._reader.close()
            raise

    def of_task(self, task_id: str) -> Iterator[tuple[datetime, str]]:
        """What is new of a task, with the log's time; a note that only repeats its attempt's last one is left out."""
        for recorded in self._reader.poll(POLL, 0.0):
            lease = self._read(recorded)
            if lease is None or lease.task_id != task_id or lease.note in {None, self._said.get(lease.attempt_id)}:
                continue
            self._said[lease.attempt_id] = lease.note or ""
            yield recorded.appended_at, lease.note or ""

    def _read(self, recorded: Recorded) -> Lease | None:
        if recorded.key != self._key:
            return None
        try:
            event = decode(recorded.topic, recorded.value)
        except CodecError:
            return None
        return event if isinstance(event, Lease) else None

    def close(self) -> None:
        """Stop listening."""
        self._reader.close()
