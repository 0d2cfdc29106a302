"""The statements that write: rows made of what comes in, and parts joined with stored rows. Pure; `store` imports it.

A keyed table's row is built from several transitions, each with a part of its columns: the parts of a batch are joined
by an aggregate, their row with the stored one by a MERGE, both by the rule that stands in `tables.Keyed`. So no MERGE
ever sees a key twice.
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
        return merge(table, KEYED[table], _joined(table, KEYED[table], select))
    return f"INSERT INTO {table} BY NAME {select}" + (" ON CONFLICT DO NOTHING" if table in ONCE else "")


def merge(table: str, keyed: Keyed, select: str) -> str:
    """Whole rows or joined parts, each key once, into a table."""
    same = " AND ".join(f"{table}.{column} = part.{column}" for column in keyed.key)
    sets = ", ".join(f"{column} = {_newer(table, keyed, column)}" for column in _others(table, keyed))
    return (
        f"MERGE INTO {table} USING ({select}) AS part ON ({same}) "
        f"WHEN MATCHED THEN UPDATE SET {sets} WHEN NOT MATCHED THEN INSERT BY NAME"
    )


def _newer(table: str, keyed: Keyed, column: str) -> str:
    if column in keyed.first:
        return f"coalesce({table}.{column}, part.{column})"
    if guard := keyed.guard_of(column):
        return f"CASE WHEN part.{guard} IS NOT NULL THEN part.{column} ELSE {table}.{column} END"
    return f"coalesce(part.{column}, {table}.{column})"


def _joined(table: str, keyed: Keyed, select: str) -> str:
    """One row per key; a group's columns travel as one value, taken or left together."""
    key, columns = ", ".join(keyed.key), _others(table, keyed)
    groups = [_group(guard, [each for each in columns if each in keyed.groups[guard]]) for guard in keyed.groups]
    single = [f"{_newest(keyed, each)} AS {each}" for each in columns if not keyed.guard_of(each)]
    found = (f"of_{guard}.{each}" if (guard := keyed.guard_of(each)) else each for each in columns)
    parts = f"SELECT {key}, {', '.join([*groups, *single])} FROM ({select}) GROUP BY ALL"  # noqa: S608 - own names
    return f"SELECT {key}, {', '.join(found)} FROM ({parts})"  # noqa: S608 - own names


def _group(guard: str, columns: Iterable[str]) -> str:
    packed = ", ".join(f"{each}: {each}" for each in columns)
    return f"arg_max({{{packed}}}, place) FILTER ({guard} IS NOT NULL) AS of_{guard}"


def _newest(keyed: Keyed, column: str) -> str:
    return f"{'arg_min' if column in keyed.first else 'arg_max'}({column}, place)"


def _others(table: str, keyed: Keyed) -> list[str]:
    return [column for column in sql.columns_of(table) if column not in keyed.key]
