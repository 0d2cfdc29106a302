"""How rows of each table come together: keys, and which columns move together. Pure; the projector's rooms import it.

A keyed table's row is built from several transitions, each with a part of its columns. The same rule joins parts
inside a batch (here) and a part with the stored row (the upsert that `store` makes of the same data).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from . import sql

Values = Mapping[str, Any]

PROJECTION_VERSION = 1
"""Raised whenever a table's columns or the meaning of one change."""


class Row(NamedTuple):
    """A whole row, every column in the table's order, or a part of a keyed table's.

    A part leaves out what it doesn't say; a null is said only of a group's columns, which are said all together.
    """

    table: str
    values: Values


@dataclass(frozen=True)
class Keyed:
    """A table with one row per key.

    A column takes the newest value that is said; one of `first` keeps its first; the columns of a group are replaced
    together, nulls included, with the group's guard, which is never null then.
    """

    key: tuple[str, ...]
    first: frozenset[str] = frozenset()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def name(self) -> Callable[[Values], tuple[Any, ...]]:
        """What takes the key out of a row or a part."""
        if len(self.key) > 1:
            return itemgetter(*self.key)
        return lambda values: (values[self.key[0]],)

    def guard_of(self, column: str) -> str | None:
        """The guard of the group that a column belongs to."""
        return next((guard for guard, columns in self.groups.items() if column in columns), None)


_BUDGET = frozenset({"max_cost_gbp", "max_tokens", "max_tool_calls"})
_CONTRACT = _BUDGET | {
    "contract_version",
    "workflow_type",
    "owner",
    "objective",
    "data_classification",
    "contract_sha256",
    "content_digest",
    "proposed_by",
    "approved_by",
    "deadline_at",
}
_TASK_CONTRACT = _BUDGET | {
    "contract_version",
    "ordinal",
    "task_type",
    "capability",
    "pool",
    "objective",
    "risk_class",
    "depends_on",
    "max_attempts",
    "deadline_seconds",
}
_TASK_STATUS = frozenset({"sequence", "status", "round", "reason", "waits_for", "since"})
_REQUIREMENT = frozenset({"contract_version", "text", "source", "mandatory", "security", "checks", "tasks"})
_GATE = frozenset({"judged_at", "held"})

KEYED: Mapping[str, Keyed] = {
    "streams": Keyed(("stream",)),
    "workflows": Keyed(
        ("tenant_id", "workflow_id"),
        first=frozenset({"submitted_at", "submitter", "accepted_at", "settled_at"}),
        groups={"contract_version": _CONTRACT},
    ),
    "tasks": Keyed(
        ("tenant_id", "workflow_id", "task_id"),
        groups={"contract_version": _TASK_CONTRACT, "sequence": _TASK_STATUS},
    ),
    "attempts": Keyed(("attempt_id",)),
    "requirements": Keyed(
        ("tenant_id", "workflow_id", "requirement_id"),
        groups={"contract_version": _REQUIREMENT, "judged_at": _GATE},
    ),
}
"""Tables whose rows are joined from parts."""

ONCE: Mapping[str, tuple[str, ...]] = {
    "decisions": ("tenant_id", "workflow_id", "event_id"),
    "policies": ("policy_sha256",),
    "dead_letters": ("source_topic", "source_partition", "source_offset"),
}
"""Tables whose rows are whole at once: the first of a key is kept, a repeat is the same event again."""

APPENDED: Mapping[str, tuple[str, ...]] = {
    "transitions": ("stream", "sequence"),
    "task_changes": ("tenant_id", "workflow_id", "sequence", "task_id"),
    "evidence": ("tenant_id", "workflow_id", "sequence", "ordinal"),
    "routes": ("tenant_id", "workflow_id", "sequence", "ordinal"),
    "costs": ("tenant_id", "workflow_id", "sequence"),
    "skipped": ("topic", "partition", "offset"),
    "gaps": ("topic", "partition"),
}
"""Tables that only grow, and what names a row of theirs: the fold's guard lets each in once."""

IDENTITY: Mapping[str, tuple[str, ...]] = {
    **{name: keyed.key for name, keyed in KEYED.items()},
    **ONCE,
    **APPENDED,
    "offsets": ("topic", "partition"),
    "meta": (),
}
"""What names a row, for every table."""


_BLANK: Mapping[str, dict[str, Any]] = {table: dict.fromkeys(sql.columns_of(table)) for table in KEYED}


class Gathered:
    """The rows of a batch by table, in which no key of a keyed table repeats; each row has every column in order.

    One multi-row upsert must never see a key twice: the database would keep the first and drop the later silently.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._appended: dict[str, list[Values]] = {table: [] for table in APPENDED}
        self._once: dict[str, dict[tuple[Any, ...], Values]] = {table: {} for table in ONCE}
        self._keyed: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {table: {} for table in KEYED}

    def add(self, table: str, values: Values) -> None:
        """Take one more row, or join a part with what there is of its row."""
        if (appended := self._appended.get(table)) is not None:
            appended.append(values)
        elif (rows := self._keyed.get(table)) is not None:
            keyed = KEYED[table]
            key = keyed.name(values)
            if (row := rows.get(key)) is None:
                row = rows[key] = _BLANK[table].copy()
            join(keyed, row, values)
        else:
            self._once[table].setdefault(tuple(values[column] for column in ONCE[table]), values)

    def by_table(self) -> dict[str, list[Values]]:
        """All rows of the tables that have any."""
        once = {table: list(rows.values()) for table, rows in self._once.items()}
        keyed = {table: list[Values](rows.values()) for table, rows in self._keyed.items()}
        return {table: rows for table, rows in {**self._appended, **once, **keyed}.items() if rows}


def join(keyed: Keyed, row: dict[str, Any], part: Values) -> None:
    """Bring a later part into a row that has every column."""
    if keyed.first and not keyed.first.isdisjoint(part):
        part = {**part, **{column: row[column] for column in keyed.first if row[column] is not None}}
    row.update(part)


def said(values: Values) -> dict[str, Any]:
    """A part without what it doesn't say."""
    return {column: value for column, value in values.items() if value is not None}
