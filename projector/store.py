"""The projector's own DuckDB file: rows and positions in one transaction, never one without the other.

The only module of the role that opens DuckDB. One writer, one connection, one thread. Nothing else of the process may
ever open the file: closing any descriptor of it would drop the lock that keeps other processes out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa

from remit.errors import RefusedError
from remit.log.protocols import Partition

from . import sql
from .fold import Batch, Facts, Place, Progress, Stream
from .statements import makings, merge
from .tables import KEYED, PROJECTION_VERSION, Keyed, Values

_STREAM_COLUMNS = ", ".join(Stream._fields)
REMEMBERED = 100_000
"""Guards of streams kept in memory; beyond that they are read anew."""


_TYPES = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "TIMESTAMPTZ": pa.timestamp("us", "UTC")}
"""Arrow's types for those of the tables whose rows are made here or in the fold."""


class StoreBusyError(RefusedError):
    """Another process has the database open."""


class StoreVersionError(RefusedError):
    """The database was made by another version of the projection."""


class Store:
    """An open database; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it with empty tables; StoreBusyError, StoreVersionError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._connection = _connected(path)
        try:
            self._prepare()
            self._progress = self._read_progress()
            self._streams: dict[str, Stream] = {}
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    @property
    def progress(self) -> Mapping[Partition, Progress]:
        """How far each partition was read, as committed."""
        return self._progress

    def facts(self, streams: Iterable[str]) -> Facts:
        """What the fold must know of these streams."""
        if unknown := [name for name in streams if name not in self._streams]:
            self._streams |= self._read_streams(unknown)
        return Facts(self._progress, self._streams)

    def ids(self, places: Iterable[Place]) -> dict[Place, str | None]:
        """Event ids of the transitions that are stored there, for each place; None where there is none."""
        wanted = dict.fromkeys(places)
        query = """SELECT stream, sequence, event_id FROM transitions
            JOIN (SELECT unnest(?) AS stream, unnest(?) AS sequence) AS wanted USING (stream, sequence)"""
        columns = [[name for name, _ in wanted], [sequence for _, sequence in wanted]]
        rows = self._connection.execute(query, columns).fetchall()
        return {**wanted, **{(name, sequence): event_id for name, sequence, event_id in rows}}

    def commit(self, batch: Batch, positions: Mapping[Partition, int]) -> bool:
        """Write the batch's rows and the positions to go on from, in one transaction; whether anything changed."""
        progress = _moved(batch.progress, positions)
        changed = {key: each for key, each in progress.items() if self._progress.get(key) != each}
        if not changed:
            return False
        self._connection.execute("BEGIN")
        try:
            for topic, events in batch.incoming.items():
                self._make_rows(topic, events)
            for table, rows in batch.rows.items():
                self._write(table, rows)
            self._write_progress(changed)
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._progress = progress
        self._remember(batch.streams)
        return True

    def record_gaps(self, gaps: Iterable[Values]) -> None:
        """Keep, for ever, that history is missing and an operator accepted it."""
        self._write("gaps", list(gaps))

    def checkpoint(self) -> None:
        """Bring all that is committed into the one file, so that a copy of it is whole."""
        self._connection.execute("CHECKPOINT")

    def close(self) -> None:
        """Let go of the file; idempotent."""
        self._connection.close()

    def _prepare(self) -> None:
        self._connection.execute("SET TimeZone = 'UTC'")
        # Batches are small: a second thread costs more than it saves, and the other core has work.
        self._connection.execute("SET threads = 1")
        self._connection.execute(sql.macro())
        if (version := self._version()) is None:
            version = self._make()
        if version != PROJECTION_VERSION:
            raise StoreVersionError(f"{self.path} was made by another version; run: remit rebuild")

    def _version(self) -> int | None:
        try:
            row = self._connection.execute("SELECT projection_version FROM meta").fetchone()
        except duckdb.CatalogException:
            return None
        return row[0] if row else 0

    def _make(self) -> int:
        self._connection.execute("BEGIN")
        for statement in sql.statements():
            self._connection.execute(statement)
        self._connection.execute("INSERT INTO meta VALUES (?, NULL)", [PROJECTION_VERSION])
        self._connection.execute("COMMIT")
        return PROJECTION_VERSION

    def _read_progress(self) -> dict[Partition, Progress]:
        query = "SELECT topic, partition, next_offset, records, skipped, newest_at FROM offsets"
        rows = self._connection.execute(query).fetchall()
        return {Partition(topic, number): Progress(*rest) for topic, number, *rest in rows}

    def _remember(self, streams: Mapping[str, Stream]) -> None:
        if len(self._streams) > REMEMBERED:
            self._streams = {}
        self._streams.update(streams)

    def _read_streams(self, names: Iterable[str]) -> dict[str, Stream]:
        query = f"SELECT stream, {_STREAM_COLUMNS} FROM streams WHERE stream IN (SELECT unnest(?))"  # noqa: S608 - own names
        rows = self._connection.execute(query, [list(names)]).fetchall()
        return {name: Stream(*rest) for name, *rest in rows}

    def _make_rows(self, topic: str, events: pa.Table) -> None:
        with self._incoming(events):
            for columns, statement in _MAKINGS[topic]:
                if not columns or any(_has_values(events.column(each)) for each in columns):
                    self._connection.execute(statement)

    def _write(self, table: str, rows: Sequence[Values]) -> None:
        """Insert through Arrow, which is a hundred times faster than row by row; a keyed table's rows are joined."""
        if rows:
            with self._incoming(pa.Table.from_pylist(rows, _schema(table))):
                self._connection.execute(_INSERTS.get(table) or f"INSERT INTO {table} BY NAME FROM incoming")

    @contextmanager
    def _incoming(self, rows: pa.Table) -> Iterator[None]:
        self._connection.register("incoming", rows)
        yield
        # Not after a failure: the transaction takes no more then, and its error is the one to be seen.
        self._connection.unregister("incoming")

    def _write_progress(self, changed: Mapping[Partition, Progress]) -> None:
        self._write("offsets", [_offset_row(*each) for each in changed.items()])
        newest = [each.newest_at for each in changed.values() if each.newest_at]
        if newest:
            self._connection.execute("UPDATE meta SET newest_event_at = greatest(newest_event_at, ?)", [max(newest)])


def _connected(path: Path) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(str(path))
    except duckdb.IOException as error:
        if "lock" in str(error).lower():
            raise StoreBusyError(f"{path} is open in another process, such as a running projector") from None
        raise RefusedError(f"{path} can't be opened as a DuckDB database") from None


@cache
def _schema(table: str) -> pa.Schema:
    return pa.schema([pa.field(column, _TYPES[kind]) for column, kind in sql.types_of(table).items()])


def _has_values(column: "pa.ChunkedArray[Any]") -> bool:
    return column.null_count < len(column)


def _moved(progress: Mapping[Partition, Progress], positions: Mapping[Partition, int]) -> dict[Partition, Progress]:
    """Positions are the reader's, so that commit markers and aborted records behind the last record are passed too."""
    out = dict(progress)
    for partition, position in positions.items():
        before = out.get(partition, Progress())
        at = max(position, before.next_offset)
        out[partition] = Progress(at, before.records, before.skipped, before.newest_at)
    return out


def _offset_row(partition: Partition, progress: Progress) -> dict[str, Any]:
    return {
        "topic": partition.topic,
        "partition": partition.number,
        "next_offset": progress.next_offset,
        "records": progress.records,
        "skipped": progress.skipped,
        "newest_at": progress.newest_at,
    }


_KEYED = {"streams": KEYED["streams"], "offsets": Keyed(("topic", "partition"))}
_INSERTS = {table: merge(table, keyed, "FROM incoming") for table, keyed in _KEYED.items()}
_MAKINGS = makings()
