"""kill -9 of a supervisor at each named point of its step and of its takeover, one life after the other."""

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from chaos.points import VARIABLE
from remit.artefacts import ArtefactStore
from remit.client import submission
from remit.documents import read
from remit.events.envelope import message
from remit.topics import Topic
from tests.crash.rig import PATIENCE_S, Rig
from tests.crash.test_killed import WORKFLOW

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(180)]

ROOT = Path(__file__).parents[2]
POINTS = ("before_flush", "before_offsets", "before_commit", "after_commit", "before_serving")
LEFT_OPEN = {"before_offsets", "before_commit"}
"""Points that leave a transaction open, which holds up readers until its timeout or the next life ends it."""


def lived(rig: Rig, point: str) -> int:
    """How a supervisor ended that was ordered to die the first time that it passes this point."""
    words = [sys.executable, "-m", "chaos.supervisor", "--name", "s1"]
    env = {**rig.env, VARIABLE: f"{point}:1:kill", "PYTHONPATH": str(ROOT)}
    with (rig.home / f"life-{point}.log").open("wb") as file:
        return subprocess.run(
            words, env=env, cwd=ROOT, stdout=file, stderr=file, timeout=PATIENCE_S, check=False
        ).returncode


def _write(rig: Rig, file: Path) -> None:
    """Lay the submission on the log; nobody is there to answer it."""
    rules = submission.newest_policy(rig.log, "w1")
    event = submission.prepare(read(file), "w1", rules, ArtefactStore(str(rig.home / "artefacts")), file.parent)
    with closing(rig.log.writer()) as writer:
        writer.append([message(event, Topic.CONTRACTS)])


def test_a_supervisor_killed_at_each_point_of_its_step_loses_and_doubles_nothing(rig: Rig) -> None:
    """Before its records are flushed, before its offsets, before and after its commit, and before it serves."""
    file = rig.home / "w1.yaml"
    file.write_text(WORKFLOW.format(id="w1"), "utf-8")
    _write(rig, file)
    seen = {}
    for point in POINTS:
        assert lived(rig, point) == -signal.SIGKILL, rig.logs()
        if point not in LEFT_OPEN:
            seen[point] = [each.kind.value for each in rig.history("w1")]
    assert seen == {"before_flush": [], "after_commit": ["contract_accepted"], "before_serving": ["contract_accepted"]}
    rig.supervisor()
    assert rig.run("submit", str(file)) == "w1 was submitted already\n"
    assert [(each.sequence, each.kind.value) for each in rig.history("w1")] == [
        (1, "contract_accepted"),
        (2, "duplicate"),
    ]
