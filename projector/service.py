"""The projector's loop: poll, fold, commit, publish; written once. The command line runs it."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from filelock import FileLock, Timeout

from remit.errors import HistoryGapError, LogError
from remit.log.protocols import Log, Partition, Reader, Recorded
from remit.reading import ViewFiles

from . import positions
from .batches import batch_of
from .publish import Publisher
from .store import Store, StoreBusyError

LIMIT = 20_000
"""Records of one commit at most."""
WAIT_S = 0.25
GATHER_S = 0.25
"""How long the first record of a batch waits for more: a commit costs a tenth of a second for one as for hundreds."""
RETRY_S = 2.0

_logger = logging.getLogger(__name__)


def run(
    log: Log,
    files: ViewFiles,
    stop: Event,
    *,
    accept_gaps: bool = False,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Project until `stop` is set; a log that can't be read is tried again, missing history is not.

    `ready` is called once reading has begun. Raises HistoryGapError, RefusedError (StoreBusyError among them).
    """
    with only_one(files.lock):
        while not stop.is_set():
            try:
                _serve(log, files, stop, accept_gaps=accept_gaps, ready=ready)
            except HistoryGapError:
                raise
            except LogError as error:
                _logger.warning("the log can't be read, trying again: %s", error)
                stop.wait(RETRY_S)


@contextmanager
def only_one(lock: Path) -> Iterator[None]:
    """Keep a second projector or rebuild out; StoreBusyError."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=0):
            yield
    except Timeout:
        raise StoreBusyError(f"a projector or a rebuild is at work already: {lock} is held") from None


def _serve(log: Log, files: ViewFiles, stop: Event, *, accept_gaps: bool, ready: Callable[[], None]) -> None:
    reader = log.reader()
    try:
        if not files.database.exists():
            # Refuse before anything is written.
            positions.start(reader, {}, log.partitions, accept_gaps=accept_gaps)
        with Store(files.database) as store:
            publisher = Publisher(store, files.published)
            assigned = begin(reader, store, log.partitions, accept_gaps=accept_gaps)
            ready()
            while not stop.is_set():
                read_some = step(reader, store, assigned, log.partitions, publisher)
                publisher.publish_when_due(idle=not read_some)
            publisher.publish_rest()
    finally:
        reader.close()


def begin(reader: Reader, store: Store, count: int, *, accept_gaps: bool = False) -> list[Partition]:
    """Assign every partition at the position that the database holds; returns what was assigned."""
    stored = {partition: each.next_offset for partition, each in store.progress.items()}
    begun = positions.start(reader, stored, count, accept_gaps=accept_gaps)
    store.record_gaps(begun.gaps)
    reader.assign(begun.positions)
    return list(begun.positions)


def step(reader: Reader, store: Store, assigned: list[Partition], count: int, publisher: Publisher) -> bool:
    """Take one batch from the log into the database; whether there was one."""
    # 1. Poll.
    records = _gathered(reader)
    # 2. Decode (what can't be used becomes a row of its own) and fold, knowing what the database holds of it.
    batch = batch_of(store, records, count)
    # 3. Commit rows and positions together: what is read again after a crash is what is not yet there.
    changed = store.commit(batch, {partition: reader.position(partition) for partition in assigned})
    # 4. Tell the publisher.
    publisher.note(changed=changed)
    return bool(records)


def _gathered(reader: Reader) -> list[Recorded]:
    records = reader.poll(LIMIT, WAIT_S)
    until = time.monotonic() + GATHER_S
    while records and len(records) < LIMIT and (left := until - time.monotonic()) > 0:
        records += reader.poll(LIMIT - len(records), left)
    return records
