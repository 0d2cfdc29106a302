"""The statements that write: rows made of what comes in, and parts joined with stored rows. Pure; `store` imports it.

A keyed table's row is built from several transitions, each with a part of its columns: the parts of a batch are joined
by an aggregate, their row with the stored one by an upsert, both by the rule that stands in `tables.Keyed`. So no
upsert ever sees a key twice: the database would keep the first row and drop the later ones silently.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from . import sql
from .tables import KEYED, ONCE, Keyed


class Making(NamedTuple):
    """Fills a table from `incoming`; without a value in one of `columns`, if any, there is nothing to fill."""

    columns: tuple[str, ...]
    statement: str


def makings() -> Mapping[str, tuple[Making, ...]]:
    """By topic, in the order in which they stand in rows.sql."""
    found: dict[str, tuple[Making, ...]] = {}
    for each in sql.selects():
        making = Making(each.columns, _insert(each.table, each.statement))
        for topic in each.topics:
            found[topic] = (*found.get(topic, ()), making)
    return found


def _insert(table: str, select: str) -> str:
    if table in KEYED:
        return upsert(table, KEYED[table], _joined_parts(table, KEYED[table], select))
    return f"INSERT INTO {table} BY NAME {select}" + (" ON CONFLICT DO NOTHING" if table in ONCE else "")


def upsert(table: str, keyed: Keyed, select: str) -> str:
    """Whole rows or joined parts, each key once, into a table."""
    sets = ", ".join(f"{column} = {_newer(table, keyed, column)}" for column in _others(table, keyed))
    return f"INSERT INTO {table} BY NAME {select} ON CONFLICT ({', '.join(keyed.key)}) DO UPDATE SET {sets}"


def _newer(table: str, keyed: Keyed, column: str) -> str:
    if column in keyed.first:
        return f"coalesce({table}.{column}, excluded.{column})"
    if guard := keyed.guard_of(column):
        return f"CASE WHEN excluded.{guard} IS NOT NULL THEN excluded.{column} ELSE {table}.{column} END"
    return f"coalesce(excluded.{column}, {table}.{column})"


def _joined_parts(table: str, keyed: Keyed, select: str) -> str:
    joined = ", ".join(f"{_newest(keyed, column)} AS {column}" for column in _others(table, keyed))
    return f"SELECT {', '.join(keyed.key)}, {joined} FROM ({select}) GROUP BY ALL"  # noqa: S608 - own names


def _newest(keyed: Keyed, column: str) -> str:
    if column in keyed.first:
        return f"arg_min({column}, place)"
    if guard := keyed.guard_of(column):
        return f"arg_max_null({column}, place) FILTER ({guard} IS NOT NULL)"
    return f"arg_max({column}, place)"


def _others(table: str, keyed: Keyed) -> Iterable[str]:
    return (column for column in sql.columns_of(table) if column not in keyed.key)
