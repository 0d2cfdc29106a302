"""kill -9 at any moment: rows and positions are one, so nothing is lost and nothing doubled."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from tests.projector.driving import differences, project, rebuilt
from tests.projector.histories import mixed_log

SEEDS = 4
KILLS = int(os.environ.get("REMIT_TEST_KILLS", "2"))
"""The case asks for 200; the default suite makes do with a few."""


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Killed again and again at random statements and started anew, it ends equal to a clean rebuild (DUCK-4)."""
    path, draw = tmp_path / "killed.duckdb", random.Random(20261129)  # noqa: S311 - not for secrets
    killed = 0
    while killed < KILLS:
        statement = draw.randrange(1, 40) if path.exists() else draw.randrange(440, 520)
        code = _run(path, statement)
        if code == 0:
            path.unlink()  # it got to the end: begin again, until there were enough kills
        else:
            assert code == -signal.SIGKILL
            killed += 1
    assert _run(path, 10**9) == 0
    log = mixed_log(range(SEEDS))
    assert differences(path, rebuilt(log, tmp_path)) == []
    project(log, path)
    assert differences(path, rebuilt(log, tmp_path)) == []


def _run(path: Path, statement: int) -> int:
    script = Path(__file__).with_name("crashing.py")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(script), str(path), str(SEEDS), str(statement)],
        env=os.environ | {"PYTHONPATH": str(root)},
        stderr=subprocess.PIPE,
        check=False,
        cwd=root,
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr.decode()
    return done.returncode
