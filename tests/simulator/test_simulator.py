"""The simulator: no law breaks in a short run, each planted bug is caught, and a seed is one history for ever."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from remit.cli.entry import run
from simulator import many, shrink, tell
from simulator.plan import drawn
from simulator.run import Outcome, play
from tests.simulator.plants import PLANTS

ROOT = Path(__file__).parents[2]
SHORT_RUN = range(40)
ENOUGH = 150
"""Seeds within which every plant must be caught; most are within the first ten."""


def test_no_law_breaks_in_a_short_run() -> None:
    """All laws hold over these seeds, and the histories are worth it: work is accepted, retried, lost and refused."""
    played = [many.play_seed(seed) for seed in SHORT_RUN]
    assert [each for each in played if each.law is not None] == []
    assert sum(each.accepted for each in played) > len(SHORT_RUN) / 2
    assert sum(each.transitions for each in played) > 20 * len(SHORT_RUN)


def caught() -> Outcome | None:
    """The first seed that breaks a law."""
    outcomes = (play(drawn(seed)) for seed in range(ENOUGH))
    return next((each for each in outcomes if each.law is not None), None)


@pytest.mark.parametrize("name", PLANTS)
def test_every_planted_bug_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one of its guards the supervisor breaks the law behind it, within a fixed number of seeds."""
    plant, law = PLANTS[name]
    plant(monkeypatch)
    found = caught()
    assert found is not None, "the bug went unnoticed"
    assert (found.law or "").startswith(law), (found.law, found.found)


def test_a_broken_law_is_told_with_its_smallest_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be left out is; what is told names the law, the seed, what it takes and what happened."""
    PLANTS["no_fencing"][0](monkeypatch)
    failed = caught()
    assert failed is not None
    smallest = shrink.shrink(failed)
    assert smallest.law == failed.law
    assert len(smallest.plan.faults) < max(2, len(failed.plan.faults))
    lines = list(tell.told(failed, smallest))
    assert lines[0] == f"seed {failed.plan.seed} breaks law 10 (fenced)"
    assert lines[-1] == f"again: remit simulate --seed {failed.plan.seed}"
    assert any("result_accepted" in line for line in lines)


def test_the_command_refuses_a_broken_law(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1, and the message is the broken law's; replaying the seed that it names says the same."""
    PLANTS["no_offsets"][0](monkeypatch)
    assert run(["simulate", "--seeds", "3", "--processes", "1"]) == 1
    first = capsys.readouterr().err
    assert "seed 0 breaks law 0" in first
    assert run(["simulate", "--seed", "0"]) == 1
    assert "seed 0 breaks law 0" in capsys.readouterr().err


@pytest.mark.parametrize("seed", [2, 7])
def test_a_seed_is_the_same_history_in_every_process(seed: int) -> None:
    """The same records at the same places with the same times, whatever order a process' sets have."""
    told = {_replayed(seed, hashing) for hashing in ("1", "2")}
    assert len(told) == 1
    assert play(drawn(seed), digest=True).digest == told.pop()


def _replayed(seed: int, hashing: str) -> str:
    argv = [sys.executable, "-m", "remit.cli", "simulate", "--seed", str(seed), "--json"]
    paths = os.pathsep.join(sys.path)
    environment = os.environ | {"PYTHONHASHSEED": hashing, "PYTHONPATH": paths}
    ran = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=100)
    digest: str = json.loads(ran.stdout)["digest"]
    return digest


def test_several_processes_share_the_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    """All are played, each once, however many processes there are."""
    assert run(["simulate", "--seeds", "10", "--start", "1000", "--processes", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["seeds"], told["transitions"] > 0) == (10, True)
