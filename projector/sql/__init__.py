"""The tables, views and rows: SQL files, read through `importlib.resources`. Pure; the projector's rooms import it."""

import re
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

_STATEMENT = re.compile(r"(?:^-- (?P<says>[^\n]*)\n)?^CREATE (?P<kind>TABLE|VIEW) (?P<name>\w+)", re.MULTILINE)
_COLUMN = re.compile(r"^    (?P<code>\S[^\n]*?) *-- (?P<says>[^\n]+)$", re.MULTILINE)
_SELECT = re.compile(
    r"^-- FROM (?P<topics>.+) INTO (?P<table>\w+)(?: WHERE (?P<columns>.+))?\n(?P<code>[^;]+);", re.MULTILINE
)


class Select(NamedTuple):
    """One of rows.sql: the rows of a table that a topic's events make, where one of `columns` (if any) has a value."""

    topics: tuple[str, ...]
    table: str
    columns: tuple[str, ...]
    statement: str


def selects() -> Iterator[Select]:
    """Every SELECT of rows.sql, in order."""
    for match in _SELECT.finditer(_text("rows.sql")):
        columns = tuple(match["columns"].split(" OR ")) if match["columns"] else ()
        yield Select(tuple(match["topics"].split(", ")), match["table"], columns, match["code"])


def named() -> frozenset[str]:
    """Every name that rows.sql's statements use."""
    code = re.sub(r"--[^\n]*", "", _text("rows.sql"))
    return frozenset(re.findall(r"\w+", code))


def macro() -> str:
    """What must be made on a connection before rows.sql's statements are used there."""
    text = _text("rows.sql")
    begin = text.index("CREATE TEMP MACRO")
    return text[begin : text.index(";", begin)]


def _text(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")


def statements() -> Iterator[str]:
    """Every statement that makes an empty database, comments on each table, view and column included."""
    for file in ("tables.sql", "views.sql"):
        text = _text(file)
        yield text
        yield from comments(text)


def comments(text: str) -> Iterator[str]:
    """COMMENT statements for what a file makes, from the comments that stand in it."""
    found = list(_STATEMENT.finditer(text))
    for match, following in zip(found, [*found[1:], None], strict=True):
        yield f"COMMENT ON {match['kind']} {match['name']} IS {_quoted(match['says'] or '')};"
        body = text[match.end() : following.start() if following else len(text)]
        for column in _COLUMN.finditer(body):
            name = _name(column["code"], is_table=match["kind"] == "TABLE")
            yield f"COMMENT ON COLUMN {match['name']}.{name} IS {_quoted(column['says'])};"


def _name(code: str, *, is_table: bool) -> str:
    """The column that a line speaks of: a table's first word, a view's last."""
    return code.split(maxsplit=1)[0] if is_table else re.split(r"[\s.]+", code.rstrip(","))[-1]


def _quoted(text: str) -> str:
    return "'" + text.strip().replace("'", "''") + "'"


def columns_of(table: str) -> list[str]:
    """Column names of a table, in order."""
    return list(types_of(table))


def types_of(table: str) -> dict[str, str]:
    """Columns of a table and their types as they stand in its statement, in order."""
    text = _text("tables.sql")
    body = re.search(rf"^CREATE TABLE {table} \((.*?)^\);", text, re.MULTILINE | re.DOTALL)
    if body is None:
        raise KeyError(table)
    lines = (match["code"].rstrip(",").split(maxsplit=1) for match in _COLUMN.finditer(body[1]))
    return {name.strip('"'): kind for name, kind in lines}
