"""The command line over the log in memory: a world whose log every command gets, and short ways to run them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from remit.cli.entry import run
from remit.cli.invocation import Invocation
from tests.supervisor.world import World


class Terminal:
    """Runs commands over one world, and keeps what they printed."""

    def __init__(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """Over the world's log."""
        self.world = world
        self._capsys = capsys
        self.out = self.err = ""

    def run(self, *words: str) -> int:
        """The exit code; `out` and `err` are what this command printed."""
        self._capsys.readouterr()
        code = run(list(words))
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *words: str, code: int = 0) -> Any:
        """The one document that the command prints on stdout."""
        assert self.run(*words, "--json") == code, self.err
        return json.loads(self.out)

    def file(self, document: dict[str, Any], name: str = "workflow.json") -> str:
        """The path of a file with that document."""
        path = self.world.folder / name
        path.write_text(json.dumps(document))
        return str(path)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Terminal:
    """Every command gets the world's log; whoever looks for a cluster gets none."""
    monkeypatch.setenv("REMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "nowhere.invalid:1")
    monkeypatch.setenv("REMIT_DISPLAY_ZONE", "Europe/Paris")
    world = World(tmp_path)
    created: list[str] = []

    def create(_: Invocation, topics: Sequence[str]) -> None:
        created.extend(topics)

    monkeypatch.setattr(Invocation, "log", world.log)
    monkeypatch.setattr(Invocation, "create_topics", create)
    return Terminal(world, capsys)
