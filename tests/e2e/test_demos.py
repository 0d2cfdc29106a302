"""Each guard's demo is a real run on a broker: exit 0, what was tried, what held."""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.cli.guards import shown
from remit.cli.guards.guard import Fact, Guard
from remit.errors import RefusedError
from remit.settings import load
from tests.crash.rig import REMIT

QUICK = ("zombie-worker", "fork-bomb", "budget-race")
SHOWN = shown.NAMES if os.environ.get("REMIT_TEST_DEMOS") == "all" else QUICK
"""Half of them by default, for the time that the others wait; `REMIT_TEST_DEMOS=all` runs each."""


@pytest.mark.kafka
@pytest.mark.parametrize("name", SHOWN)
def test_the_guard_holds(name: str, kafka: str, tmp_path: Path) -> None:
    """LEASE-4, BUDGET-4, BUDGET-1 (all: LEASE-8, RETRY-3, VALID-7) on real processes: it is stopped, exit 0."""
    env = {**os.environ, "KAFKA_BOOTSTRAP_SERVERS": kafka, "REMIT_HOME": str(tmp_path / "home")}
    ran = subprocess.run([str(REMIT), "demo", name], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith(f"tried:      {shown.guard_of(name).tries}")
    assert ran.stdout.count("\nheld: ") >= 3
    assert "BROKEN" not in ran.stdout


def test_a_guard_that_does_not_hold_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fact is named, and the command refuses: exit 1."""

    @contextmanager
    def nowhere(*_: object) -> Any:
        yield None

    def run(_: object) -> list[Fact]:
        return [Fact("one thing", holds=True), Fact("another", holds=False)]

    monkeypatch.setattr(shown, "arena", nowhere)
    monkeypatch.setattr(shown, "guard_of", lambda name: Guard(name, "a thing", "nothing", run))
    with pytest.raises(RefusedError, match="the guard did not hold: another"):
        shown.show("any", load(home=tmp_path), lambda: False)
    assert "held: one thing\nBROKEN: another" in capsys.readouterr().out
