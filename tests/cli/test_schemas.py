"""`remit schemas`: what it prints, its exit codes, and that the example reads from what it serves."""

import ast
import http.client
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from remit.cli import schemas as command
from remit.cli.entry import run
from remit.codec.catalogue import catalogue, folder

EXAMPLE = Path(__file__).parents[2] / "examples" / "read_transitions.py"


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the schemas that the command takes for its own."""
    own = tmp_path / "schemas_avro"
    shutil.copytree(folder(), own)
    monkeypatch.setattr(command, "folder", lambda: own)
    return own


def change(path: Path, *, default: bool) -> None:
    """Add a field to a schema."""
    schema = json.loads(path.read_text("utf-8"))
    field: dict[str, Any] = {"name": "mood", "type": ["null", "string"], "doc": "how it felt"}
    schema["fields"].append(field | ({"default": None} if default else {}))
    path.write_text(json.dumps(schema), "utf-8")


def test_list_names_every_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each topic; the same as JSON."""
    assert run(["schemas", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(catalogue().topics)
    assert run(["schemas", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["topic"] for row in rows] == list(catalogue().topics)
    assert rows[0]["id"] == catalogue().newest(rows[0]["topic"]).id


@pytest.mark.parametrize("name", ["leases", "dispatches.coders", str(catalogue().newest("results").id)])
def test_show_explains_each_field(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By topic, by a pool's topic or by id: every field with its doc; as JSON the schema itself."""
    assert run(["schemas", "show", name, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema"] == catalogue().schema(catalogue().entry(shown["id"]))
    assert run(["schemas", "show", name]) == 0
    text = capsys.readouterr().out
    assert all(field["name"] in text and field["doc"] in text for field in shown["schema"]["fields"])


def test_show_of_an_unknown_name_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, with the names."""
    assert run(["schemas", "show", "nowhere"]) == 2
    assert "contracts, dispatches, leases" in capsys.readouterr().err


def test_check_is_content_with_what_is_committed(capsys: pytest.CaptureFixture[str]) -> None:
    """OK, exit 0."""
    assert run(["schemas", "check"]) == 0
    assert capsys.readouterr().out.startswith("OK: ")


def test_check_names_each_violation(own_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """AVRO-1: a field added without default is named, exit 1; register refuses it and writes nothing."""
    change(own_folder / "leases.avsc", default=False)
    before = (own_folder / "catalogue.json").read_bytes()
    ids = [entry.id for entry in catalogue().entries if entry.topic == "leases"]
    violations = [f"leases: mood: added without a default (against id {schema_id})" for schema_id in ids]
    assert run(["schemas", "check"]) == 1
    assert capsys.readouterr().out.splitlines() == violations
    assert run(["schemas", "register"]) == 1
    assert capsys.readouterr().err.splitlines() == violations
    assert (own_folder / "catalogue.json").read_bytes() == before


def test_register_gives_a_changed_schema_a_new_id(own_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once: the second time there is nothing to do."""
    change(own_folder / "leases.avsc", default=True)
    assert run(["schemas", "check"]) == 0
    assert "leases: not registered as it stands" in capsys.readouterr().err
    assert run(["schemas", "register"]) == 0
    assert capsys.readouterr().out == f"registered leases as {catalogue().entries[-1].id + 1}\n"
    assert run(["schemas", "register"]) == 0
    assert capsys.readouterr().out == "Nothing changed since the last registration.\n"


def test_serve_ends_quietly_on_interrupt() -> None:
    """It says where it listens, answers, and Ctrl-C ends it with 0."""
    call = [sys.executable, "-c", "from remit.cli import main; main()", "schemas", "serve", "--port", "0"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.request("GET", "/schemas/types")
        assert json.load(connection.getresponse()) == ["AVRO"]
        connection.close()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, "")


def test_the_example_uses_nothing_of_ours() -> None:
    """Some 15 lines, and no import but confluent_kafka and the standard library."""
    tree = ast.parse(EXAMPLE.read_text("utf-8"))
    modules = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert all(module and module.startswith("confluent_kafka") for module in modules)
    lines = [line for line in EXAMPLE.read_text("utf-8").splitlines()[1:] if line.strip()]
    assert len(lines) <= 16
