"""The repository and the workflow file that a run of the example starts from."""

import fnmatch
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from tests.example.example_bench import Bench, git

pytestmark = pytest.mark.xdist_group("example")  # the suite is run once for each tree


def test_the_base_commit_is_the_same_everywhere(
    bench: Bench, maker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the place, nor the user's git settings, nor the environment change the commit."""
    (tmp_path / ".gitconfig").write_text("[user]\nname=x\n[commit]\ngpgsign=true\n[core]\nautocrlf=true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert maker.make_repository(tmp_path / "again") == bench.base


def test_a_second_preparation_keeps_what_was_made(maker: ModuleType, tmp_path: Path) -> None:
    """Running the example twice in one folder keeps its branches and finds the same base."""
    first = maker.prepare(tmp_path)
    repository = Path(first.repository)
    git(repository, "branch", "feature/password-reset")
    second = maker.prepare(tmp_path, "password-reset-2")
    assert (second.commit, second.repository) == (first.commit, first.repository)
    assert "feature/password-reset" in git(repository, "branch")
    assert git(repository, "cat-file", "-t", second.commit) == "commit"


def test_only_source_is_committed(bench: Bench) -> None:
    """No cache, database or report slips into the base commit."""
    names = git(bench.repository, "ls-tree", "-r", "--name-only", bench.base).splitlines()
    assert "accounts/views.py" in names
    assert not [name for name in names if name.endswith((".pyc", ".sqlite3", ".xml")) or "cache" in name]


def test_the_workflow_starts_at_the_commit(maker: ModuleType, tmp_path: Path) -> None:
    """The rendered file names the commit and the id, and the threat model lies beside it."""
    made = maker.prepare(tmp_path, "reset-7")
    workflow = yaml.safe_load(Path(made.workflow).read_text())
    assert workflow["workflow_id"] == "reset-7"
    assert workflow["inputs"]["repository_ref"] == f"repo://accounts-service@commit:{made.commit}"
    assert (tmp_path / "threat-model.md").is_file()


def test_each_check_names_cases_that_exist(bench: Bench, maker: ModuleType) -> None:
    """Every glob in the workflow file matches a test of the base commit."""
    checks = yaml.safe_load(maker.render_workflow(bench.base))["checks"]
    globs = [glob for listed in checks.values() for check in listed for glob in check.get("cases", ())]
    assert globs
    for glob in globs:
        assert fnmatch.filter(bench.suite(bench.base).cases, glob), glob
