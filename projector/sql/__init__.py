"""The tables and views, and their comments: SQL files read through `importlib.resources`. Pure; `store` imports it."""

import re
from collections.abc import Iterator
from importlib import resources

_STATEMENT = re.compile(r"(?:^-- (?P<says>[^\n]*)\n)?^CREATE (?P<kind>TABLE|VIEW) (?P<name>\w+)", re.MULTILINE)
_COLUMN = re.compile(r"^    (?P<code>\S[^\n]*?) *-- (?P<says>[^\n]+)$", re.MULTILINE)


def statements() -> Iterator[str]:
    """Every statement that makes an empty database, comments on each table, view and column included."""
    for file in ("tables.sql", "views.sql"):
        text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
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
    text = resources.files(__package__).joinpath("tables.sql").read_text(encoding="utf-8")
    body = re.search(rf"^CREATE TABLE {table} \((.*?)^\);", text, re.MULTILINE | re.DOTALL)
    if body is None:
        raise KeyError(table)
    lines = (match["code"].rstrip(",").split(maxsplit=1) for match in _COLUMN.finditer(body[1]))
    return {name.strip('"'): kind for name, kind in lines}
