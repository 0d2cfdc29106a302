"""Builds the database anew from the log, and compares a rebuilt one with the live one. The command line imports it.

A rebuild only reads the log: it writes no record, so it dispatches, notifies and decides nothing.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from remit.errors import RefusedError
from remit.log.catch_up import replay
from remit.log.protocols import Log, Partition, Reader, Recorded
from remit.reading import ViewFiles, open_copy

from . import positions
from .batches import batch_of
from .compare import Difference, compare, digest
from .publish import copy_by_child, copy_whole
from .service import LIMIT, only_one
from .store import Store

TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found: `compared` says which file; no differences means identical, with that digest."""

    compared: str
    records: int
    digest: str
    differences: tuple[Difference, ...]


def rebuild(log: Log, files: ViewFiles, *, accept_gaps: bool = False) -> int:
    """Replace the database by one built from offset zero to the log's end now, publish it; returns records read.

    The projector must not run: StoreBusyError. Raises HistoryGapError, and leaves the old database as it was.
    """
    fresh = files.database.with_name(files.database.name + ".rebuilding")
    with only_one(files.lock):
        _remove(fresh)
        try:
            records = build(log, fresh, accept_gaps=accept_gaps)
            copy_whole(fresh, files.published)
            # What the old database had not yet brought into its file must not be replayed into the new one.
            _wal(files.database).unlink(missing_ok=True)
            fresh.replace(files.database)
        finally:
            _remove(fresh)
    return records


def check(log: Log, files: ViewFiles, *, accept_gaps: bool = False) -> Verdict:
    """Rebuild beside the live database to the very positions it has, and compare row by row.

    While a projector runs its published copy is compared. Raises HistoryGapError, CopyMissingError.
    """
    with tempfile.TemporaryDirectory(prefix="remit-rebuild-") as folder:
        stored, rebuilt = Path(folder, "stored.duckdb"), Path(folder, "rebuilt.duckdb")
        compared = _snapshot(files, stored)
        with open_copy(stored) as copy:
            targets = copy.freshness().positions
            records = build(log, rebuilt, targets, accept_gaps=accept_gaps)
            copy.attach(rebuilt, "rebuilt")
            return Verdict(str(compared), records, digest(copy), tuple(compare(copy, "rebuilt")))


def build(log: Log, path: Path, targets: Mapping[Partition, int] | None = None, *, accept_gaps: bool = False) -> int:
    """Make a database at `path` (no file there yet) of all records below `targets`, by default the log's ends now."""
    reader = log.reader()
    try:
        begun = positions.start(reader, {}, log.partitions, accept_gaps=accept_gaps)
        pins = reader.ends(begun.positions) if targets is None else _reachable(reader, targets)
        with Store(path) as store:
            store.record_gaps(begun.gaps)
            _fill(reader, store, begun.positions, pins, log.partitions)
            store.checkpoint()
            return sum(each.records for each in store.progress.values())
    finally:
        reader.close()


def _fill(
    reader: Reader, store: Store, start: Mapping[Partition, int], pins: Mapping[Partition, int], count: int
) -> None:
    gathered: list[Recorded] = []
    at = dict(start)
    for records in replay(reader, start, pins, timeout=TIMEOUT_S):
        gathered += (record for record in records if record.offset < pins[record.source])
        at = {partition: min(reader.position(partition), pin) for partition, pin in pins.items()}
        if len(gathered) >= LIMIT:
            _commit(store, gathered, at, count)
            gathered = []
    _commit(store, gathered, pins, count)


def _commit(store: Store, records: list[Recorded], at: Mapping[Partition, int], count: int) -> None:
    store.commit(batch_of(store, records, count), at)


def _reachable(reader: Reader, targets: Mapping[Partition, int]) -> Mapping[Partition, int]:
    ends = reader.ends(targets)
    if short := [partition for partition, target in targets.items() if ends[partition] < target]:
        where = f"{min(short).topic}[{min(short).number}]"
        raise RefusedError(f"{where} ends before the database's position: not the log it was made from")
    return targets


def _snapshot(files: ViewFiles, target: Path) -> Path:
    """Copy the live database while nobody writes to it, or else the published one; returns which."""
    if files.database.exists() and _copied(files, target):
        return files.database
    with open_copy(files.published):
        copy_by_child(files.published, target)
    return files.published


def _copied(files: ViewFiles, target: Path) -> bool:
    try:
        with only_one(files.lock):
            copy_by_child(files.database, target)
            if _wal(files.database).exists():
                copy_by_child(_wal(files.database), _wal(target))
    except RefusedError:
        return False
    return True


def _wal(path: Path) -> Path:
    """Where DuckDB keeps what it has not yet brought into the file."""
    return path.with_name(path.name + ".wal")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _wal(path).unlink(missing_ok=True)
