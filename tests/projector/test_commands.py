"""The reading commands over a published copy, and rebuild over a log: text for people, JSON for programs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from projector.rebuild import rebuild
from projector.store import Store
from remit.cli.entry import run
from remit.log.kafka.log import KafkaLog
from remit.log.memory import MemoryLog
from remit.reading import ViewFiles, view_files
from tests.projector.histories import History, message, policy, ticking

FRESH = "As of 2026-03-01 09:00:06 UTC: 7 records read."


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MemoryLog:
    """A log with one workflow, that commands find instead of a broker."""
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1")
    log = MemoryLog(clock=ticking())
    history = History().run("a")
    history.duplicate()
    log.writer().append([message(policy()), *(message(event) for event in history.events)])
    monkeypatch.setattr(KafkaLog, "from_settings", lambda _settings: log)
    return log


@pytest.fixture
def files(tmp_path: Path, log: MemoryLog) -> ViewFiles:
    """Views that are published."""
    files = view_files(tmp_path)
    rebuild(log, files)
    return files


@pytest.mark.usefixtures("files")
class TestReading:
    """query, metrics, views, list."""

    def test_query(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A table, and how fresh the copy is."""
        assert run(["query", "SELECT workflow_id, status FROM workflows"]) == 0
        assert capsys.readouterr().out.splitlines() == ["workflow_id  status", "w1           accepted", FRESH]

    def test_query_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        """JSON alone on stdout, money as text, freshness on stderr."""
        assert run(["query", "SELECT sum(cost_gbp) AS cost FROM costs", "--json"]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out) == [{"cost": "0.100000"}]
        assert err.strip() == FRESH

    def test_query_at_fault(self, capsys: pytest.CaptureFixture[str]) -> None:
        """SQL that can't be answered, or would write, ends with exit 2 and the database's words."""
        assert run(["query", "SELECT nothing FROM workflows"]) == 2
        assert "nothing" in capsys.readouterr().err
        assert run(["query", "DROP TABLE workflows"]) == 2
        assert "read-only" in capsys.readouterr().err

    def test_metrics(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Overall and by workflow type."""
        assert run(["metrics"]) == 0
        out = capsys.readouterr().out
        lines = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
        assert lines["all"] == ["default/demo"]
        assert lines["cost_per_verified_completion_gbp"] == ["0.100000", "0.100000"]
        assert lines["median_seconds"] == ["4.000", "4.000"]
        assert lines["accepted"] in (["1", "1"], ["1", "0.100000"])
        assert FRESH in out

    def test_metrics_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The same for programs."""
        assert run(["metrics", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["metrics"][0]["verified_completion_rate"] == "1.000000"
        assert shown["stop_reasons"] == [{"stop_reason": "accepted", "workflows": 1, "cost_gbp": "0.100000"}]

    def test_views(self, capsys: pytest.CaptureFixture[str], files: ViewFiles) -> None:
        """The copy's path, the one-liner, and every column's comment."""
        assert run(["views"]) == 0
        out = capsys.readouterr().out
        assert f"Open: duckdb -readonly {files.published}" in out
        assert "cost_per_verified_completion (view): What one verified completion costs" in out
        assert run(["views", "--json"]) == 0
        relations: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["relations"]
        assert all(column["comment"] for relation in relations for column in relation["columns"])

    def test_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        """One line per workflow; a status narrows it."""
        assert run(["list"]) == 0
        assert capsys.readouterr().out.splitlines()[1].split() == [
            *("default/w1", "accepted", "1/1", "0.100000", "user:priya", "accepted")
        ]
        assert run(["list", "--status", "running", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == []


def test_nothing_published(capsys: pytest.CaptureFixture[str], log: MemoryLog) -> None:  # noqa: ARG001 - sets the home
    """Without a copy, reading says what makes one and exits 1."""
    assert run(["list"]) == 1
    assert "remit projector run" in capsys.readouterr().err


class TestRebuild:
    """rebuild and rebuild --check."""

    def test_rebuild(self, capsys: pytest.CaptureFixture[str], log: MemoryLog, tmp_path: Path) -> None:  # noqa: ARG002
        """It says from how many records, and publishes."""
        assert run(["rebuild"]) == 0
        assert capsys.readouterr().out.startswith("Rebuilt from 7 records and published at ")
        assert view_files(tmp_path).published.exists()

    def test_check(self, capsys: pytest.CaptureFixture[str], files: ViewFiles) -> None:
        """Identical, with its digest; after one cell was changed exit 1, and table and row are named."""
        assert run(["rebuild", "--check"]) == 0
        assert capsys.readouterr().out.startswith(
            f"Identical: {files.database} and its rebuild from 7 records, digest "
        )
        with Store(files.database) as store:
            store._connection.execute("UPDATE attempts SET worker_id = 'another'")
        assert run(["rebuild", "--check", "--json"]) == 1
        shown = json.loads(capsys.readouterr().out)
        assert shown["identical"] is False
        assert [(each["table"], each["how"]) for each in shown["differences"]] == [("attempts", "differs in worker_id")]

    def test_gap(self, capsys: pytest.CaptureFixture[str], log: MemoryLog) -> None:
        """Missing history is refused with its coordinates; the flag accepts it (KOPS-1)."""
        first = next(p for p, end in log.reader().ends(_transitions(log)).items() if end)
        log.delete_before(first, 2)
        assert run(["rebuild"]) == 1
        assert "expected offset 0, the earliest available is 2" in capsys.readouterr().err
        assert run(["rebuild", "--accept-gap"]) == 0


def _transitions(log: MemoryLog) -> list[Any]:
    from remit.log.protocols import Partition  # noqa: PLC0415

    return [Partition("transitions", number) for number in range(log.partitions)]


@pytest.mark.kafka
def test_projector_run(kafka: str, prefix: str, tmp_path: Path) -> None:
    """The command projects a real broker's log, publishes, and ends cleanly on SIGTERM; a check then agrees."""
    variables = {
        "REMIT_HOME": str(tmp_path),
        "KAFKA_BOOTSTRAP_SERVERS": kafka,
        "REMIT_TOPIC_PREFIX": prefix,
        "REMIT_PARTITIONS": "4",
    }
    environment = os.environ | variables
    remit = [sys.executable, "-c", "from remit.cli import main; main()"]
    subprocess.run([*remit, "topics", "create"], env=environment, check=True, capture_output=True)
    log = KafkaLog(kafka, prefix, 4)
    writer = log.writer()
    writer.append([message(event) for event in History().run("a", "b").events])
    writer.close()
    with subprocess.Popen([*remit, "projector", "run"], env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("views at" in line for line in process.stderr)
        published = view_files(tmp_path).published
        while not _shows(published):
            assert process.poll() is None
        process.terminate()
        assert process.wait(60) == 0
    checked = subprocess.run(
        [*remit, "rebuild", "--check"], env=environment, check=False, capture_output=True, text=True
    )
    assert checked.stdout.startswith("Identical")
    assert checked.returncode == 0


def _shows(published: Path) -> bool:
    from tests.projector.driving import ask  # noqa: PLC0415

    return published.exists() and ask(published, "SELECT status FROM workflows") == [("accepted",)]
