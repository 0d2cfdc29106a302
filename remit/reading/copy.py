"""The read edge: opens a published copy read-only and answers SQL. Anyone may import it; nothing here ever writes.

One `Copy` is one connection for one caller: a connection shared by threads gives empty and mixed-up answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import duckdb

from remit.errors import InvalidInputError, RefusedError
from remit.log.protocols import Partition


class CopyMissingError(RefusedError):
    """Nothing was published yet."""


class CopyLockedError(RefusedError):
    """The file is open for writing in another process."""


class QueryError(InvalidInputError):
    """The database refused the caller's SQL; the message is the database's."""


class Answer(NamedTuple):
    """What a query gave."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a copy knows of: positions are the first offsets not yet read."""

    newest_event_at: datetime | None
    records: int
    skipped: int
    positions: Mapping[Partition, int]


class Column(NamedTuple):
    """A column, and what it means."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view, and what it means."""

    name: str
    kind: str  # table or view
    comment: str
    columns: tuple[Column, ...]


class Copy:
    """A database opened read-only, in UTC whatever the machine's zone; a context manager, for one thread."""

    def __init__(self, path: Path) -> None:
        """Open it; CopyMissingError, CopyLockedError."""
        self.path = path
        self._connection = _connected(path)
        self._connection.execute("SET TimeZone = 'UTC'")

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def query(self, text: str, values: Sequence[Any] = ()) -> Answer:
        """Answer one query; QueryError says what the database did not like."""
        try:
            result = self._connection.execute(text, list(values))
            columns = tuple(column[0] for column in result.description or ())
            return Answer(columns, result.fetchall())
        except duckdb.Error as error:
            message = str(error)
        raise QueryError(message)

    def freshness(self) -> Freshness:
        """How much of the log the copy has seen."""
        newest = self.query("SELECT newest_event_at FROM meta").rows[0][0]
        rows = self.query("SELECT topic, partition, next_offset, records, skipped FROM offsets ORDER BY ALL").rows
        positions = {Partition(topic, number): at for topic, number, at, _, _ in rows}
        return Freshness(newest, sum(row[3] for row in rows), sum(row[4] for row in rows), positions)

    def relations(self) -> tuple[Relation, ...]:
        """All tables and views with their comments, views first."""
        found = self.query(
            """SELECT view_name AS name, 'view' AS kind, comment FROM duckdb_views() WHERE NOT internal
            UNION ALL SELECT table_name, 'table', comment FROM duckdb_tables() WHERE NOT internal
            ORDER BY kind DESC, name"""
        ).rows
        columns = self.query(
            """SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal
            ORDER BY table_name, column_index"""
        ).rows
        return tuple(
            Relation(
                name, kind, comment or "", tuple(Column(c, t, says or "") for n, c, t, says in columns if n == name)
            )
            for name, kind, comment in found
        )

    def attach(self, path: Path, name: str) -> None:
        """Make another database readable under `name`, read-only."""
        quoted = str(path).replace("'", "''")
        self._connection.execute(f"ATTACH '{quoted}' AS {name} (READ_ONLY)")

    def close(self) -> None:
        """Let go of the file; idempotent."""
        self._connection.close()


def open_copy(path: Path) -> Copy:
    """A new connection to the copy at `path`."""
    return Copy(path)


def _connected(path: Path) -> duckdb.DuckDBPyConnection:
    if not path.exists():
        raise CopyMissingError(f"no views are published at {path} yet; start the projector: remit projector run")
    try:
        return duckdb.connect(str(path), read_only=True)
    except duckdb.IOException as error:
        if "lock" in str(error).lower():
            raise CopyLockedError(f"{path} is open for writing in another process") from None
        raise RefusedError(f"{path} can't be opened as a DuckDB database") from None
