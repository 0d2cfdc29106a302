"""kill -9 of supervisor and workers, at named points of a workflow, on a real broker."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.crash.rig import Rig, executable, kill

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

# Each task waits until a file of its name appears, so that a test decides how long a task runs.
GATED = """#!/bin/sh
set -eu
task=$(sed -n 's/^ "task_id": "\\(.*\\)",*$/\\1/p' "$REMIT_DISPATCH")
while [ ! -e "$GATES/$task" ]; do sleep 0.05; done
echo "$task is done" >"$REMIT_OUT/report.txt"
echo '{"tokens_in": 10, "tokens_out": 0, "tool_calls": 1}' >"$REMIT_USAGE"
"""
WORKFLOW = """
schema_version: workflow-v1
workflow_id: {id}
owner: user:priya
objective: Do one thing after the other
definition_of_done: [both are done]
limits: {{deadline_seconds: 600, max_tokens: 4000, max_tool_calls: 40, max_cost_gbp: "1.00", max_attempts: 2}}
checks:
  both are done:
    - {{id: first, kind: document, task: a, output: report}}
    - {{id: second, kind: document, task: b, output: report}}
tasks:
  a: {{task_type: shell, outputs: {{report: document}}}}
  b: {{task_type: shell, depends_on: [a], inputs: {{before: "task://a/report"}}, outputs: {{report: document}}}}
"""
POINTS: tuple[tuple[str, str | None, dict[str, str]], ...] = (
    ("submitted", None, {}),
    ("offered", "dispatched", {"task_id": "a"}),
    ("running", "claimed", {"task_id": "a"}),
    ("awaiting_review", "inspection_requested", {"task_id": "a"}),
    ("between the tasks", "result_accepted", {"task_id": "a"}),
)


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    """A folder whose files let tasks end."""
    folder = tmp_path / "gates"
    folder.mkdir()
    return folder


def _submit(rig: Rig, workflow_id: str = "w1") -> None:
    file = rig.home / f"{workflow_id}.yaml"
    file.write_text(WORKFLOW.format(id=workflow_id), "utf-8")
    rig.run("submit", str(file))


def _worker(rig: Rig, gates: Path, worker_id: str = "shell-1") -> subprocess.Popen[bytes]:
    return rig.worker(worker_id, executable(rig.home / "gated.sh", GATED), GATES=str(gates))


def _outcome(rig: Rig, workflow_id: str) -> dict[str, object]:
    """Terminal states, the verdict for each requirement, and how many attempts each task took."""
    accepted = rig.await_kind(workflow_id, "workflow_accepted")
    assert accepted.gate is not None
    history = rig.history(workflow_id)
    assert [each.sequence for each in history] == list(range(1, len(history) + 1))
    return {
        "status": accepted.workflow_status.value,
        "held": [(each.requirement_id, each.held) for each in accepted.gate.requirements],
        "attempts": [(each.task_id, each.attempt) for each in history if each.kind.value == "claimed"],
    }


@pytest.mark.parametrize(("point", "kind", "fields"), POINTS, ids=[point for point, _, _ in POINTS])
def test_a_supervisor_killed_anywhere_loses_and_doubles_nothing(
    rig: Rig, gates: Path, point: str, kind: str | None, fields: dict[str, str]
) -> None:
    """Same terminal states, same verdicts, same attempt counts as without the kill."""
    first = rig.supervisor()
    rig.until(lambda: True if "serving shards" in rig.logs() else None, "a supervisor that serves")
    if kind is None:
        kill(first)  # nobody is there to see it come
        file = rig.home / "w1.yaml"
        file.write_text(WORKFLOW.format(id="w1"), "utf-8")
        rig.run("submit", str(file), "--timeout", "6", exit_code=3)
        _worker(rig, gates)
    else:
        if point != "offered":
            _worker(rig, gates)
        else:
            _offered_but_not_claimed(rig, gates)
        _submit(rig)
        if point in {"awaiting_review", "between the tasks"}:
            (gates / "a").touch()
        rig.await_kind("w1", kind, **fields)
        kill(first)
    rig.supervisor()
    if point == "offered":
        _worker(rig, gates)
    (gates / "a").touch()
    (gates / "b").touch()
    assert _outcome(rig, "w1") == {
        "status": "accepted",
        "held": [("both-are-done", True)],
        "attempts": [("a", 1), ("b", 1)],
    }


def _offered_but_not_claimed(rig: Rig, gates: Path) -> None:
    """A worker that registered and then hangs: it is offered the task and never claims it."""
    worker = _worker(rig, gates, "hung")
    rig.until(lambda: True if "takes offers" in rig.logs() else None, "a worker that is registered")
    os.kill(worker.pid, signal.SIGSTOP)


def test_a_killed_worker_is_charged_and_another_finishes_under_a_new_token(rig: Rig, gates: Path) -> None:
    """After kill -9 of one of two workers its lease ends, the attempt is charged, the other one finishes."""
    rig.supervisor()
    workers = {name: _worker(rig, gates, name) for name in ("shell-1", "shell-2")}
    _submit(rig)
    claimed = rig.await_kind("w1", "claimed", task_id="a")
    kill(workers[claimed.worker_id or ""])
    lost = rig.await_kind("w1", "lease_expired", task_id="a")
    (gates / "a").touch()
    (gates / "b").touch()
    assert _outcome(rig, "w1")["attempts"] == [("a", 1), ("a", 2), ("b", 1)]
    again = rig.await_kind("w1", "claimed", task_id="a", attempt=2)
    assert again.worker_id != claimed.worker_id
    assert (again.fencing_token or 0) > (claimed.fencing_token or 0)
    assert lost.settlement is not None
    assert lost.settlement.usage.estimated is False
