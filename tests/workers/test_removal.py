"""What a command left is removed, whatever it did to keep it; nothing that it points at is."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workers.attempts import Attempts
from workers.job import Ground
from workers.removal import remove

NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of a user who is not root, to whom rights are all one, and this test as that user."""
    with tempfile.TemporaryDirectory() as name:
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(name, NOBODY, -1)
            os.seteuid(NOBODY)
        try:
            yield Path(name)
        finally:
            if is_root:
                os.seteuid(0)
            subprocess.run(["chmod", "-R", "u+rwx", name], check=False)  # noqa: S607


@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_read_only_folders_are_removed(place: Path, mode: int) -> None:
    """As the module cache of Go has them: nothing in them can be unlinked as they are."""
    inner = place / "ground" / "home" / "pkg"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"x")
    for folder in (inner, inner.parent):
        folder.chmod(mode)
    remove(place / "ground")
    assert list(place.iterdir()) == []


def test_grounds_of_earlier_processes_are_cleared_too(place: Path) -> None:
    """A worker that starts meets what one before it left read-only."""
    (place / "attempts" / "a").mkdir(parents=True)
    (place / "attempts" / "a" / "file").write_bytes(b"x")
    (place / "attempts" / "a").chmod(0o555)
    unused: Any = None
    Attempts(place / "attempts", unused, unused, unused, unused).clear()
    assert list(place.iterdir()) == []


def test_a_ground_is_made_ready_again_under_read_only_folders(place: Path) -> None:
    """What the first submission said goes, what the command worked on stays."""
    ground = Ground(place / "ground")
    ground.make()
    ground.result.mkdir()
    (ground.result / "file").write_bytes(b"x")
    ground.usage.write_bytes(b"{}")
    (ground.out / "report").write_bytes(b"x")
    for folder in (ground.result, ground.out):
        folder.chmod(0o555)
    ground.make_ready_again()
    assert list(ground.out.iterdir()) == [ground.out / "report"]
    assert ground.observed.is_dir()


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """Folders in folders, deeper than this interpreter recurses meanwhile."""
    (tmp_path / "ground").mkdir()
    at = os.open(tmp_path / "ground", os.O_RDONLY)
    for _ in range(400):
        os.mkdir("x", dir_fd=at)
        above, at = at, os.open("x", os.O_RDONLY, dir_fd=at)
        os.close(above)
    os.close(at)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    yield tmp_path / "ground"
    sys.setrecursionlimit(limit)


def test_folders_in_folders_by_the_thousand_are_removed(deep: Path) -> None:
    """A thread that removes them ends by no error of the interpreter's."""
    remove(deep)
    assert not deep.exists()


def test_no_link_is_followed(tmp_path: Path) -> None:
    """Neither one that stands for the whole, nor one in it."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").write_bytes(b"x")
    (tmp_path / "theirs").chmod(0o555)
    (tmp_path / "ground").mkdir()
    for link in (tmp_path / "link", tmp_path / "ground" / "link"):
        link.symlink_to(tmp_path / "theirs")
    remove(tmp_path / "link")
    remove(tmp_path / "ground")
    remove(tmp_path / "nothing")
    assert [each.name for each in tmp_path.iterdir()] == ["theirs"]
    assert (tmp_path / "theirs").stat().st_mode & 0o777 == 0o555
    assert (tmp_path / "theirs" / "file").exists()


def test_what_stays_is_said(place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A warning names it, and the worker goes on."""
    monkeypatch.setenv("PATH", str(place))
    (place / "ground" / "inner").mkdir(parents=True)
    (place / "ground").chmod(0o555)
    remove(place / "ground")
    assert f"can't be removed, and stays: {place / 'ground'}" in caplog.text
