"""What the runner takes of a handler's .git: commits, whichever way they lie there, and nothing else of it."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.contract.normal import OutputKind
from remit.errors import WorkspaceError
from remit.events.inputs import ResultBody, ResultStatus
from tests.workers.rig import Rig, git, git_input, handout, offer_of, repository, script
from workers.commits import head_of
from workers.repository import Quarantine, Repository

MISSING = "1234567890" * 4


def worked(rig: Rig, tmp_path: Path, shell: str) -> ResultBody:
    """The result of a handler that runs this in the workspace of a task that makes a revision."""
    commit = repository(tmp_path / "origin", {"a.txt": "a\n"})
    argv = script(tmp_path, f"import subprocess\nsubprocess.run(['sh', '-euc', {shell!r}], check=True)\n")
    with rig.working(argv):
        given = offer_of(handout({"revision": OutputKind.REVISION}), (git_input(tmp_path / "origin", commit),))
        body = rig.result(rig.send(given)).result
    assert body is not None
    return body


def test_the_settings_of_a_workspace_run_nothing(rig: Rig, tmp_path: Path) -> None:
    """A promised object that git would fetch by a program of the handler's is a missing one, and the attempt fails."""
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n", encoding="utf-8")
    program.chmod(0o755)
    body = worked(
        rig,
        tmp_path,
        f"""
        git config core.repositoryformatversion 1
        git config extensions.partialClone origin
        git config remote.origin.promisor true
        git config protocol.ext.allow always
        git config remote.origin.url 'ext::{program}'
        git config core.alternateRefsCommand {program}
        git config uploadpack.packObjectsHook {program}
        echo {MISSING} > .git/HEAD
        """,
    )
    assert not ran.exists()
    assert body.status is ResultStatus.FAILED
    assert (body.message or "").startswith("git fetch: ")


@pytest.mark.parametrize(
    "shell",
    [
        "rm -rf .git; echo 'gitdir: {private}/.git' > .git",
        "rm -rf .git; ln -s {private}/.git .git",
        "echo {private}/.git > .git/commondir; echo {commit} > .git/HEAD",
        "echo {private}/.git/objects > .git/objects/info/alternates; echo {commit} > .git/HEAD",
        "rm -rf .git/objects; ln -s {private}/.git/objects .git/objects; echo {commit} > .git/HEAD",
        "for each in {private}/.git/objects/??; do ln -s $each .git/objects/; done; echo {commit} > .git/HEAD",
        "cp -rs {private}/.git/objects/?? .git/objects; echo {commit} > .git/HEAD",
        "ln -sf {private}/.git/refs/heads/main .git/HEAD",
        "ln -s {private}/.git/refs .git/refs/private; echo 'ref: refs/private/heads/main' > .git/HEAD",
    ],
)
def test_another_repository_is_not_taken_for_the_workspace_s(rig: Rig, tmp_path: Path, shell: str) -> None:
    """Whatever leads there, nothing of it is pushed or kept: the handler may not even see it."""
    private = tmp_path / "private"
    commit = repository(private, {"plan.txt": "private\n"})
    body = worked(rig, tmp_path, shell.format(private=private, commit=commit))
    assert body.status is ResultStatus.FAILED
    assert "private" not in (body.message or "")
    assert git(tmp_path / "origin", "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    for each in (tmp_path / "origin", *(tmp_path / "home" / "repositories").glob("*.git")):
        with pytest.raises(subprocess.CalledProcessError):
            git(each, "cat-file", "-e", commit)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A clone with one commit of its own, as a handler leaves it."""
    base = repository(tmp_path / "origin", {"a.txt": "a\n"})
    source = Repository(tmp_path / "copies", str(tmp_path / "origin"))
    source.fetch(base)
    source.check_out(base, tmp_path / "workspace")
    git(tmp_path / "workspace", "commit", "--quiet", "--allow-empty", "-m", "New")
    return tmp_path / "workspace"


def quarantined(workspace: Path) -> Quarantine:
    source = Repository(workspace.parent / "copies", str(workspace.parent / "origin"))
    return source.quarantine(
        workspace, git(workspace.parent / "origin", "rev-parse", "HEAD"), workspace.parent / "taken"
    )


def _on_a_branch(workspace: Path) -> None:
    git(workspace, "checkout", "--quiet", "-b", "deep/branch")


def _packed(workspace: Path) -> None:
    _on_a_branch(workspace)
    git(workspace, "gc", "--quiet")
    git(workspace, "repack", "-adq")
    assert not (workspace / ".git/refs/heads/deep/branch").exists()


def _through_a_name(workspace: Path) -> None:
    _on_a_branch(workspace)
    git(workspace, "symbolic-ref", "refs/heads/other", "refs/heads/deep/branch")
    git(workspace, "symbolic-ref", "HEAD", "refs/heads/other")


@pytest.mark.parametrize("left", [lambda _: None, _on_a_branch, _packed, _through_a_name])
def test_a_commit_is_found_however_it_lies(workspace: Path, left: Callable[[Path], None]) -> None:
    """Detached, on a branch, packed, or by way of another name."""
    left(workspace)
    head = git(workspace, "rev-parse", "HEAD")
    found = quarantined(workspace)
    assert found.head == head
    assert b"New" in found.history()


@pytest.mark.parametrize("links", [True, False])
def test_objects_are_taken_with_and_without_hard_links(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    """A file system that has none copies."""
    if not links:
        monkeypatch.setattr("os.link", _no_links)
    assert b"New" in quarantined(workspace).history()


def _no_links(*_: object, **__: object) -> None:
    raise PermissionError


def test_an_object_under_another_one_s_hash_is_none(workspace: Path) -> None:
    """Each hash is computed anew on the way, so that no commit is another than it is called."""
    head = git(workspace, "rev-parse", "HEAD")
    git(workspace, "commit", "--quiet", "--allow-empty", "--amend", "-m", "Forged")
    forged = git(workspace, "rev-parse", "HEAD")
    objects = workspace / ".git/objects"
    place = objects / head[:2] / head[2:]
    place.chmod(stat.S_IRUSR | stat.S_IWUSR)
    place.write_bytes((objects / forged[:2] / forged[2:]).read_bytes())
    (workspace / ".git/HEAD").write_text(head, encoding="ascii")
    with pytest.raises(WorkspaceError, match="git fetch"):
        quarantined(workspace)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ref: refs/heads/none",
        "ref: HEAD",
        "ref: refs/../HEAD",
        "ref: refs//x",
        "ref: refs/heads",
        "ref: a\0b",
        "12",
    ],
)
def test_a_head_that_names_no_commit_is_a_fault(workspace: Path, text: str) -> None:
    """Names outside `refs` are not looked up."""
    (workspace / ".git/HEAD").write_text(text, encoding="ascii")
    with pytest.raises(WorkspaceError, match="names no commit"):
        head_of(workspace)


def test_a_pipe_in_place_of_head_is_a_fault(workspace: Path) -> None:
    """The runner does not wait for who might write into it."""
    (workspace / ".git/HEAD").unlink()
    os.mkfifo(workspace / ".git/HEAD")
    with pytest.raises(WorkspaceError, match="no plain folder of plain files"):
        head_of(workspace)
