"""The spine on a real broker with real processes: a contract becomes an accepted workflow that `remit show` shows."""

import json
import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.crash.rig import REMIT, Rig

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
WORKFLOW = """
schema_version: workflow-v1
workflow_id: spine-1
owner: user:priya
objective: Two tasks, one after the other
definition_of_done: [it is reported]
checks: {it is reported: [{id: told, kind: document, task: second, output: report}]}
tasks:
  first: {task_type: shell, outputs: {report: document}}
  second: {task_type: shell, depends_on: [first], inputs: {before: "task://first/report"}, outputs: {report: document}}
"""
WORKER = """#!/bin/sh
cp "$REMIT_DISPATCH" "$REMIT_OUT/report"
echo '{"tokens_in": 10, "tokens_out": 5, "tool_calls": 0}' >"$REMIT_USAGE"
"""


@pytest.fixture
def served(rig: Rig) -> Rig:
    """A supervisor and a worker of the pool `shell` at work; the workflow file lies in the home."""
    (rig.home / "workflow.yaml").write_text(WORKFLOW)
    rig.serve(WORKER)
    return rig


def test_two_tasks_are_accepted_and_shown(served: Rig) -> None:
    """STATE-5, CLI-1: submitted, waited for, shown, listed, watched; again it is a duplicate, changed it is refused."""
    answer = json.loads(served.run("submit", "workflow.yaml", "--wait", "--json"))
    assert (answer["outcome"], answer["workflow"]["status"]) == ("accepted", "accepted")
    shown = served.show("spine-1")
    assert [(task["task_id"], task["status"], task["worker_id"]) for task in shown["tasks"]] == [
        ("first", "completed", "shell-1"),
        ("second", "completed", "shell-1"),
    ]
    assert [each["held"] for each in shown["requirements"]] == [True]
    assert shown["spent"]["tokens"] == 30
    kinds = [each["kind"] for each in json.loads(served.run("history", "spine-1", "--json"))]
    assert (kinds[0], kinds[-1]) == ("contract_accepted", "workflow_accepted")
    watched = served.run("watch", "spine-1", "--json").splitlines()
    assert [json.loads(line)["kind"] for line in watched] == kinds
    assert served.run("submit", "workflow.yaml") == "spine-1 was submitted already\n"
    (served.home / "workflow.yaml").write_text(WORKFLOW.replace("Two tasks", "Three tasks"))
    served.run("submit", "workflow.yaml", exit_code=1)
    served.run("cancel", "spine-1", "--reason", "too late", exit_code=1)
    assert served.show("spine-1")["version"] == shown["version"]


def test_two_shells_at_once_make_one_workflow(served: Rig) -> None:
    """STATE-5: both exit 0, one of them as a duplicate; each task is dispatched once."""
    call = [str(REMIT), "submit", "workflow.yaml", "--json"]
    shells = [subprocess.Popen(call, env=served.env, cwd=served.home, stdout=subprocess.PIPE) for _ in range(2)]
    answers = [json.loads(shell.communicate(timeout=60)[0]) for shell in shells]
    assert [shell.returncode for shell in shells] == [0, 0]
    assert sorted(each["outcome"] for each in answers) == ["accepted", "duplicate"]
    served.await_kind("spine-1", "workflow_accepted")
    kinds = [(each.kind.value, each.task_id) for each in served.history("spine-1")]
    assert [each for each in kinds if each[0] in {"contract_accepted", "dispatched"}] == [
        ("contract_accepted", None),
        ("dispatched", "first"),
        ("dispatched", "second"),
    ]


def test_a_reader_that_goes_away_is_no_error(served: Rig) -> None:
    """CLI-1: `remit history W | head -1` ends quietly."""
    served.run("submit", "workflow.yaml", "--wait")
    call = [str(REMIT), "history", "spine-1", "--json"]
    with subprocess.Popen(call, env=served.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_broker_that_is_down_is_unconfirmed(rig: Rig) -> None:
    """KOPS-6: each writing command ends with exit 3 within its time, and its message names what to ask by."""
    (rig.home / "workflow.yaml").write_text(WORKFLOW)
    rig.env["KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:1"
    for words in (
        ("submit", "workflow.yaml", "--timeout", "2"),
        ("cancel", "spine-1", "--reason", "x", "--timeout", "2"),
    ):
        answer = json.loads(rig.run(*words, "--json", exit_code=3))
        assert answer["outcome"] == "unconfirmed"
        assert "remit show spine-1" in answer["message"]


def test_cancel_stops_what_runs(served: Rig) -> None:
    """FLOW-4 (c): exit 0 once the cancelling transition was read; the command's process group is gone."""
    (served.home / "worker.sh").write_text("#!/bin/sh\nsleep 300 &\nwait\n")
    served.run("submit", "workflow.yaml")
    served.until(lambda: True if _sleeping(served) else None, "a command at work")
    served.run("cancel", "spine-1", "--reason", "not needed")
    shown = served.show("spine-1")
    assert (shown["status"], shown["reasons"][0]) == ("stopped", "cancelled")
    served.until(lambda: None if _sleeping(served) else True, "the end of the cancelled command")


def _sleeping(rig: Rig) -> bool:
    """Whether a `sleep 300` of this test's home still runs."""
    for process in psutil.process_iter(["cmdline"]):
        try:
            mine = process.info["cmdline"] == ["sleep", "300"] and process.environ().get("REMIT_DISPATCH", "")
        except psutil.Error:
            continue
        if mine and str(rig.home) in mine:
            return True
    return False


def test_dev_runs_everything_and_stops_it(rig: Rig) -> None:
    """One foreground; a workflow without an agent is accepted in it; Ctrl-C ends it with 0 and leaves no child."""
    dev = rig.start("dev")
    rig.until(lambda: True if "serving shards" in rig.logs() else None, "a supervisor that serves")
    children = psutil.Process(dev.pid).children()
    assert len(children) == 9
    rig.run("submit", str(ROOT / "examples/pipeline/workflow.yaml"), "--wait")
    assert "shell-" in rig.logs()
    os.kill(dev.pid, signal.SIGINT)
    assert dev.wait(60) == 0
    assert [each for each in children if each.is_running()] == []


def test_the_demo_shows_it_all(tmp_path: Path) -> None:
    """A home and a broker of its own; the defect is found, mended and verified; nothing runs on afterwards."""
    env = {name: value for name, value in os.environ.items() if name != "KAFKA_BOOTSTRAP_SERVERS"}
    env["REMIT_HOME"] = str(tmp_path / "home")
    ran = subprocess.run([str(REMIT), "demo"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("test_no_expired_token_accepted") >= 3
    assert "development_acceptance: approved\ndeployment_authorisation: pending human approval" in ran.stdout
    assert "cost per verified completion  £0." in ran.stdout
    assert "deployment_authorisation: waits for user:priya" in ran.stdout
    left = [each for each in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(each.info["cmdline"] or ())]
    assert left == []
