"""`remit init`: three files that are valid together, nothing overwritten, and commands that fit them."""

import os
import shlex
from pathlib import Path

import click
import pytest

from remit import documents
from remit.cli.entry import remit, run
from remit.cli.init import FILES, TASK_ID, WORKFLOW_ID
from remit.contract.gate import normalise
from remit.policy import load
from tests.supervisor.world import START


def test_the_files_are_valid_together(tmp_path: Path) -> None:
    """The workflow passes the gate of the policy beside it; the worker may be run."""
    assert run(["init", str(tmp_path / "new")]) == 0
    folder = tmp_path / "new"
    assert sorted(each.name for each in folder.iterdir()) == sorted(FILES)
    policy = load.parse(load.read(folder / "policy.yaml"))
    workflow = normalise(documents.read(folder / "workflow.yaml"), policy, now=START)
    assert (workflow.workflow_id, TASK_ID in workflow.tasks) == (WORKFLOW_ID, True)
    assert os.access(folder / "worker.sh", os.X_OK)


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of the three is there: exit 1, and none of the others is written."""
    (tmp_path / "workflow.yaml").write_text("mine")
    assert run(["init", str(tmp_path)]) == 1
    assert "workflow.yaml in" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["workflow.yaml"]
    assert (tmp_path / "workflow.yaml").read_text() == "mine"


def test_a_link_that_leads_nowhere_is_there_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 before anything is written, to where it leads least of all."""
    (tmp_path / "worker.sh").symlink_to("nowhere")
    assert run(["init", str(tmp_path)]) == 1
    assert "worker.sh in" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["worker.sh"]


@pytest.mark.parametrize("name", ["file/folder", "link", "x" * 300])
def test_a_folder_that_can_t_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Exit 1 with what the system says, no fault of ours: a file in its way, a link that leads nowhere, a long name."""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    assert run(["init", str(tmp_path / name)]) == 1
    assert f"{tmp_path / name} can't be written: " in capsys.readouterr().err


def test_every_command_that_it_prints_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the folder itself no `cd` is needed; each line is a command of this build with options that it has."""
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert len(lines) == 5
    for line in lines:
        program, name, *words = shlex.split(line)
        command = remit.get_command(click.Context(remit), name)
        assert program == "remit"
        assert command is not None
        command.make_context(name, words)


def test_dev_names_what_is_wrong_with_its_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A worker without a pool, a policy with faults: exit 2, and nothing is started."""
    assert run(["dev", "--worker", "./worker.sh"]) == 2
    assert "--worker must be POOL=CMD" in capsys.readouterr().err
    (tmp_path / "policy.yaml").write_text("schema_version: policy-v1")
    assert run(["dev", "--policy", str(tmp_path / "policy.yaml")]) == 2
    assert "POLICY_INVALID" in capsys.readouterr().err
