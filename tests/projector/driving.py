"""Moves that the projector's tests make: fill a database in batches of a size, compare two, ask one."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from projector.batches import batch_of
from projector.compare import Difference, compare, digest
from projector.positions import start
from projector.rebuild import build
from projector.store import Store
from remit.log.protocols import Log, Partition, Reader
from remit.reading import open_copy


def project(log: Log, path: Path, size: int = 1000) -> None:
    """Project all that the log holds in batches of at most `size` records."""
    reader = log.reader()
    with Store(path) as store:
        stored = {partition: each.next_offset for partition, each in store.progress.items()}
        begun = start(reader, stored, log.partitions)
        reader.assign(begun.positions)
        while take(reader, store, begun.positions, log.partitions, size):
            pass


def take(reader: Reader, store: Store, partitions: Iterable[Partition], count: int, size: int) -> bool:
    """One batch; whether there was one."""
    records = reader.poll(size, 0.0)
    store.commit(batch_of(store, records, count), {partition: reader.position(partition) for partition in partitions})
    return bool(records)


def differences(stored: Path, right: Path) -> list[Difference]:
    """How one database differs from another, the table of positions and the digest included."""
    with open_copy(stored) as copy, open_copy(right) as other:
        if digest(copy) == digest(other):
            return []
        other.close()
        copy.attach(right, "other")
        found = list(compare(copy, "other"))
        assert found
        return found


def rebuilt(log: Log, folder: Path) -> Path:
    """A database built anew from the log, to the log's end, as the product does it."""
    path = Path(tempfile.mkdtemp(dir=folder), "rebuilt.duckdb")
    build(log, path)
    return path


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with open_copy(path) as copy:
        return copy.query(query).rows


def ask_one(path: Path, query: str) -> Mapping[str, Any]:
    """The one row of a query, by column."""
    with open_copy(path) as copy:
        answer = copy.query(query)
        (row,) = answer.rows
        return dict(zip(answer.columns, row, strict=True))
