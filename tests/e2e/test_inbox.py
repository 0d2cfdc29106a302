"""An escalation from its first look to its retry, on the real broker: inbox, explain, logs, resolve, budget."""

import json

import pytest

from tests.crash.rig import Rig

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(180)]
WORKFLOW = """
schema_version: workflow-v1
workflow_id: stuck-1
owner: user:priya
objective: One task that fails at first
definition_of_done: [it is reported]
checks: {it is reported: [{id: told, kind: document, task: only, output: report}]}
tasks:
  only: {task_type: shell, outputs: {report: document}}
"""
WORKER = """#!/bin/sh
echo '{"tokens_in": 10, "tokens_out": 5, "tool_calls": 0}' >"$REMIT_USAGE"
if grep -q '"attempt": 1,' "$REMIT_DISPATCH"; then
  echo "the disk is full"
  echo '{"status": "failed", "error_class": "PERMANENT_FAILED", "output": {}, "evidence": []}' >"$REMIT_RESULT"
else
  echo "all is well" | tee "$REMIT_OUT/report"
fi
"""


@pytest.fixture
def rig(rig: Rig) -> Rig:
    """A supervisor and a worker of the pool `shell` at work."""
    (rig.home / "workflow.yaml").write_text(WORKFLOW)
    rig.serve(WORKER)
    return rig


def test_what_is_stuck_is_found_understood_and_retried(rig: Rig) -> None:
    """The item names task and reason, its log says why, and after the retry the workflow is accepted and adds up."""
    rig.run("submit", "workflow.yaml", "--wait", exit_code=1)
    (item,) = json.loads(rig.run("inbox", "--json"))
    assert (item["task_id"], item["reason"], item["owner"]) == ("only", "permanent_failure", "user:priya")
    assert "remit resolve stuck-1/" in rig.run("inbox", item["item_id"])
    assert "the disk is full" in rig.run("logs", "stuck-1", "only")
    explained = json.loads(rig.run("explain", "stuck-1", "only", "--json"))
    assert (explained["cause"], explained["dispatches"][0]["worker_id"]) == ("a person's decision", "shell-1")
    rig.run("retry", "stuck-1", "only", "--reason", "space was made", "--minutes", "3")
    assert rig.run("logs", "stuck-1", "only", "-f").endswith("== round 1, attempt 2, shell-1: completed\nall is well\n")
    told = json.loads(rig.run("budget", "stuck-1", "--json"))
    assert [each["outcome"] for each in told["bookings"]] == ["failed", "completed"]
    assert told["reconciled"]["holds"]
    assert json.loads(rig.run("inbox", "--json")) == []
