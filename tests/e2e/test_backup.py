"""Backup and restore as docs/operations.md tells it, on an embedded broker with real processes."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit import broker
from tests.crash.rig import Rig, quick_policy

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]
WORKFLOW = """
schema_version: workflow-v1
workflow_id: {id}
owner: user:priya
objective: Report once
definition_of_done: [it is reported]
checks: {{it is reported: [{{id: told, kind: document, task: only, output: report}}]}}
tasks: {{only: {{task_type: shell, outputs: {{report: document}}}}}}
"""
WORKER = """#!/bin/sh
echo done >"$REMIT_OUT/report"
echo '{"tokens_in": 10, "tokens_out": 5, "tool_calls": 0}' >"$REMIT_USAGE"
"""


class Home(Rig):
    """A home folder with its own embedded broker."""

    def __init__(self, folder: Path) -> None:
        """Start its broker, or find it running; nothing is created."""
        folder.mkdir(exist_ok=True)
        self.home = folder
        self.env = {**os.environ, "REMIT_HOME": str(folder / ".remit")}
        self.env.pop("KAFKA_BOOTSTRAP_SERVERS", None)
        self._running = []
        self.run("up")

    def submit(self, workflow_id: str) -> dict[str, object]:
        """Submit and wait; what the command says."""
        (self.home / f"{workflow_id}.yaml").write_text(WORKFLOW.format(id=workflow_id))
        answer: dict[str, object] = json.loads(self.run("submit", f"{workflow_id}.yaml", "--wait", "--json"))
        return answer

    def logs(self) -> str:
        """The end of every process's output."""
        return "\n".join(f"== {file.name}\n{file.read_text()[-3000:]}" for file in sorted(self.home.glob("*.log")))

    def told(self) -> str:
        """Nothing: these commands have their own output."""
        return ""

    def leave(self) -> None:
        """Stop the processes, then the broker."""
        for process in self._running:
            process.terminate()
            process.wait(30)
        self.run("down")


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Two folders for homes; their brokers are stopped at the end."""
    folders = (tmp_path / "old", tmp_path / "new")
    yield folders
    for each in folders:
        broker.down(each / ".remit")


def test_a_restored_home_goes_on_where_the_backup_was_made(homes: tuple[Path, Path]) -> None:
    """Log, artefacts and views copied into another folder: same views, same workflows, a submission is a duplicate."""
    old = Home(homes[0])
    old.run("topics", "create")
    old.apply(quick_policy())
    old.serve(WORKER)
    old.submit("w1")
    old.run("rebuild")
    shown = old.show("w1")
    old.leave()
    homes[1].mkdir()
    shutil.copytree(homes[0] / ".remit", homes[1] / ".remit")
    shutil.rmtree(homes[0])

    new = Home(homes[1])
    new.run("rebuild", "--check")
    assert new.show("w1") == shown
    new.serve(WORKER)
    assert new.submit("w1")["outcome"] == "duplicate"
    assert new.submit("w2")["outcome"] == "accepted"
    new.leave()
