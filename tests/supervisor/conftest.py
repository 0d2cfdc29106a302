"""What the supervisor's tests begin with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.contract import revision_lines
from remit.contract.rules import requirements
from tests.supervisor.lab import Lab
from tests.supervisor.world import World


@pytest.fixture
def lab() -> Lab:
    """A submitted workflow and a worker for each of its tasks."""
    bench = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers", "t2": "testers", "r1": "reviewers"}.items():
        bench.register(worker_id, pool)
    bench.submit()
    return bench


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A log, a supervisor and no worker yet."""
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def older_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contracts as a build took them whose gate did not yet ask which revision a final check can see."""
    monkeypatch.setattr(requirements, "last_maker", revision_lines.seen_by)
