"""Writes docs/cli.md from the commands themselves: `python -m remit.cli.reference > docs/cli.md`.

A test holds them equal.
"""

import inspect
from collections.abc import Iterator

import click

from remit.cli.entry import remit

HEAD = """# The command line

Written by `python -m remit.cli.reference`; a test holds it equal to the commands.

## What holds for every command

| exit code | meaning |
|---|---|
| 0 | done; a writing command has read the transition that its event caused |
| 1 | refused: understood, and answered no; or what was asked for is unknown or not available |
| 2 | invalid: a file, a flag or a setting, one line per fault; nothing was written |
| 3 | unconfirmed: the outcome was not read in time; the message names the id to ask by, and asking again is safe |
| 70 | a fault of Remit's own; where it happened is in the log that the message names |
| 130 | interrupted with Ctrl-C |

With `--json` stdout holds exactly one JSON document (`remit watch`: one a line), also when the command is refused; all
else goes to stderr. Times in it are UTC; for people they are shown in UTC and in `REMIT_DISPLAY_ZONE`.

The cluster is the one that `--bootstrap` or `KAFKA_BOOTSTRAP_SERVERS` names, else the embedded broker of `REMIT_HOME`
(`.remit`), which a command that needs it starts. Its log gets the shipped development policy if it never had one.
"""


def reference() -> str:
    """The whole text."""
    sections = [_section(path, command) for path, command in _commands(("remit",), remit)]
    return "\n".join([HEAD, *sections])


def _commands(path: tuple[str, ...], group: click.Group) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands((*path, name), command)
        elif command is not None:
            yield (*path, name), command


def _section(path: tuple[str, ...], command: click.Command) -> str:
    words = [*path, *(_argument(each) for each in command.params if isinstance(each, click.Argument))]
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    parts = [f"## `{' '.join(words)}`", inspect.cleandoc(command.help or "")]
    if options:
        rows = [f"| {_names(each)} | {_escaped(_meaning(each))} |" for each in options]
        parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required else f"[{name}]"


def _names(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    return names if option.is_flag else f"{names} {_escaped(_value(option))}"


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "/".join(option.type.choices)
    return option.metavar or option.type.name.removesuffix(" range").upper()


def _meaning(option: click.Option) -> str:
    notes = ["required"] if option.required else []
    notes += [f"default {option.default}"] if option.show_default and option.default is not None else []
    return (option.help or "") + (f" ({', '.join(notes)})" if notes else "")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    click.echo(reference(), nl=False)
