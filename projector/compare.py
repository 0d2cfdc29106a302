"""Are two databases the same? Table by table, row by row, and a digest that proves it. The rebuild imports it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from remit.ids import sha256
from remit.reading import Copy

from .tables import IDENTITY

MOST = 20
"""Differences named per table and side; one is enough to fail, twenty to see what it is."""

_TABLES = "SELECT table_name FROM duckdb_tables() WHERE database_name = {database} ORDER BY table_name"


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs: its table, what names it, and where; never its values."""

    table: str
    row: str
    how: str

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.table} {self.row}: {self.how}"


def digest(copy: Copy) -> str:
    """SHA-256 over all rows of all tables, whatever order they lie in."""
    lines = (f"{table} {found}" for table, found in sorted(_fingerprints(copy, "current_database()").items()))
    return sha256("\n".join(lines).encode())


def compare(copy: Copy, other: str) -> Iterator[Difference]:
    """Every difference between a database and the one attached to it as `other`, which counts as right.

    Tables with the same fingerprint are the same; the rows of the others are set against each other.
    """
    stored, right = _fingerprints(copy, "current_database()"), _fingerprints(copy, f"'{other}'", f"{other}.")
    for table in sorted({*stored, *right}):
        if table not in stored or table not in right:
            yield Difference(table, "", "the table is missing" if table in right else "there is no such table")
        elif stored[table] != right[table]:
            yield from _differences(copy, table, other)


def _fingerprints(copy: Copy, database: str, prefix: str = "") -> dict[str, str]:
    """Of each table its row count and sum of row hashes: independent of order, yet a doubled row shows."""
    queries = [
        f"""SELECT '{table}', count(*), sum(md5_number_lower(line)::HUGEINT), sum(md5_number_upper(line)::HUGEINT)
        FROM (SELECT to_json(each)::VARCHAR AS line FROM {prefix}{table} AS each)"""  # noqa: S608 - own names
        for table in _tables(copy, database)
    ]
    rows = copy.query(" UNION ALL ".join(queries)).rows
    return {table: f"{count} {low} {high}" for table, count, low, high in rows}


def _tables(copy: Copy, database: str) -> list[str]:
    return [name for (name,) in copy.query(_TABLES.format(database=database)).rows]


def _differences(copy: Copy, table: str, other: str) -> Iterator[Difference]:
    columns, surplus = _only_in(copy, table, f"{other}.{table}")
    _, lacking = _only_in(copy, f"{other}.{table}", table)
    names = IDENTITY.get(table, columns)
    here, there = _by_name(names, columns, surplus), _by_name(names, columns, lacking)
    for name in sorted(here.keys() | there.keys(), key=repr):
        yield Difference(table, _text(names, name), _how(columns, here.get(name), there.get(name)))


def _only_in(copy: Copy, one: str, two: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    # With ALL, so that a row that is there twice is found as well.
    return copy.query(f"FROM {one} EXCEPT ALL FROM {two} ORDER BY ALL LIMIT {MOST}")


def _by_name(
    names: Sequence[str], columns: Sequence[str], rows: Iterable[tuple[Any, ...]]
) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    places = [columns.index(name) for name in names]
    return {tuple(row[place] for place in places): row for row in rows}


def _how(columns: Sequence[str], here: tuple[Any, ...] | None, there: tuple[Any, ...] | None) -> str:
    if there is None:
        return "is not what the log says"
    if here is None:
        return "is missing"
    return f"differs in {', '.join(c for c, a, b in zip(columns, here, there, strict=True) if a != b)}"


def _text(names: Sequence[str], name: tuple[Any, ...]) -> str:
    return ", ".join(f"{column}={value}" for column, value in zip(names, name, strict=True)) or "(its one row)"
