"""How commands print: JSON on stdout for programs, text for people, progress on stderr. Every command may import it."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import click

json_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on stdout instead of text."
)
"""The flag that every reading command has; the command takes it as `as_json`."""


def print_json(value: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    """One JSON document on stdout; what JSON has no form for is written as its text."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def print_line(value: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    """One JSON document on one line of stdout, for commands that print one after another."""
    click.echo(json.dumps(value, ensure_ascii=False, default=str))


def say(text: str = "", *, err: bool = False) -> None:
    """Lines for people, safe for a terminal whatever they quote."""
    click.echo("\n".join(_one_line(line) for line in text.split("\n")), err=err)


def print_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
    """A table for people: plain, aligned, as wide as it needs to be."""
    cells = [tuple(columns), *(_cells(columns, row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _cells(columns: Sequence[str], row: Mapping[str, Any] | Sequence[Any]) -> tuple[str, ...]:
    values = [row.get(column) for column in columns] if isinstance(row, Mapping) else row
    return tuple("" if value is None else _one_line(str(value)) for value in values)


def _one_line(text: str) -> str:
    """Control characters out: text of a stranger must not steer a terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


class ProgressLine:
    """Shows one line at a time on stderr: rewritten in place on a terminal, a line per new task elsewhere."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._shown = ""

    def __enter__(self) -> Self:
        """Nothing to prepare."""
        return self

    def __call__(self, line: str) -> None:
        """Show `line`, of the form `task: how far`."""
        if sys.stderr.isatty():
            click.echo(f"\r{line.ljust(len(self._shown))}", err=True, nl=False)
        elif line.partition(":")[0] != self._shown.partition(":")[0]:
            click.echo(line, err=True)
        self._shown = line

    def __exit__(self, *_: object) -> None:
        """Clear the line, so that what follows starts on an empty one."""
        if sys.stderr.isatty() and self._shown:
            click.echo(f"\r{' ' * len(self._shown)}\r", err=True, nl=False)
