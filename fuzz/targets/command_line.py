"""Command lines, as the terminal hands them over; no cluster is there, so what is right is refused for that."""

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import PropertyMock, patch

import click

from remit.cli.entry import remit
from remit.cli.invocation import Invocation
from remit.cli.worker import _check_command, _handler
from remit.errors import LogError

from ..making import documents, odd, texts
from ..target import Target

_FILE = "FILE"  # stands for a right workflow file
_LINES: tuple[tuple[str, ...], ...] = (
    ("check", _FILE, "--at", "2026-07-01T00:00:00Z"),
    ("check", _FILE, "--json"),
    ("check", _FILE, "--policy", _FILE),
    ("policy", "check", _FILE),
    ("policy", "apply", _FILE),
    ("submit", _FILE, "--id", "w1", "--timeout", "5", "--wait"),
    ("cancel", "w1", "--reason", "no need", "--task", "a", "--timeout", "2.5", "--tenant", "default"),
    ("show", "w1", "--tenant", "default", "--json"),
    ("history", "w1"),
    ("watch", "w1", "--json"),
    ("query", "SELECT 1", "--json"),
    ("list", "--status", "running"),
    ("metrics",),
    ("artefact", "get", "artefact://sha256/" + "ab" * 32),
    ("--bootstrap", "127.0.0.1:1", "show", "w1"),
    ("worker", "run", "--pool", "shell", "--exec", "true --x 'a b'", "--slots", "2", "--id", "w1"),
)
_COMMANDS = ("true --flag 'a b'", "python3", "./work.sh -x", "/bin/true", "'a b' c")
_MODULES = ("handlers:work", "work.py:handle", "json:dumps", "a.b:c")


def _arguments(dice: Random) -> tuple[str, ...]:
    """A right line with some words changed, dropped or added."""
    words = list(dice.choice(_LINES))
    for _ in range(dice.choice((1, 1, 2, 3))):
        at = dice.randrange(len(words))
        match dice.randrange(4):
            case 0:
                words[at] = odd.text(dice)
            case 1:
                words[at] = texts.mutated(dice, words[at], most=1)
            case 2:
                words.insert(at, odd.text(dice))
            case 3 if len(words) > 1:
                del words[at]
    return tuple(word.replace("\x00", "") for word in words)  # the system lets no NUL into an argument


@cache
def _place() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="remit-fuzz-"))
    (folder / "workflow.yaml").write_text(documents.workflow_texts()[-1], encoding="utf-8")
    return folder


@contextlib.contextmanager
def _without_a_cluster() -> Iterator[None]:
    """Nothing is started, and nothing of this machine is read or written but a folder of our own."""
    nobody = PropertyMock(side_effect=LogError("no cluster is there"))
    quiet = {"REMIT_HOME": str(_place()), "PATH": os.defpath}
    with (
        patch.object(Invocation, "connected", nobody),
        patch.object(Invocation, "log", nobody),
        patch.dict(os.environ, quiet, clear=True),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.chdir(_place()),
    ):
        yield


def _run(given: tuple[str, ...]) -> bool:
    """As `remit.cli.entry` runs it, but that nothing unexpected is caught."""
    words = [str(_place() / "workflow.yaml") if word == _FILE else word for word in given]
    if words[0] not in _SAFE:
        return False
    with _without_a_cluster():
        try:
            remit.main(words, prog_name="remit", standalone_mode=False)
        except (click.ClickException, click.Abort) as error:
            str(error).encode(errors="surrogateescape")
            return False
    return True


_SAFE = frozenset(words[0] for words in _LINES)
"""First words that start no process of their own, whatever follows."""


def _handler_words(dice: Random) -> tuple[str | None, str | None]:
    right = dice.choice(_COMMANDS), dice.choice(_MODULES)
    command, module = (texts.mutated(dice, word) if dice.randrange(3) else odd.text(dice) for word in right)
    chosen = dice.randrange(4)
    return (command.replace("\x00", "") if chosen else None), (None if chosen else module.replace("\x00", ""))


def _handled(given: tuple[str | None, str | None]) -> bool:
    """The words of `remit worker run` that name its handler; no module of ours is named, so none is run."""
    with _without_a_cluster():
        found = _handler(*given, {"capabilities": (), "tools": ()})
        if "argv" in found:
            _check_command(found["argv"])
    return True


TARGETS = (
    Target("command.line", _arguments, _run),
    Target("command.handler", _handler_words, _handled),
)
