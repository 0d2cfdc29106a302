"""The broker's cache: which one fits, when it is made, and that no start depends on it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from remit import broker
from remit.broker import training, warm
from remit.broker.jars import CACHE_VARIABLE, cache_folder, pinned
from remit.broker.place import Place

RELEASE = 'JAVA_VERSION="25.0.2"\nMODULES="java.base"\n'


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of this test alone."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands that would have been started in the background."""
    commands: list[list[str]] = []
    monkeypatch.setattr(warm, "spawned", lambda command, _log: commands.append(list(command)))
    return commands


def java_of(folder: Path, release: str | None) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.touch()
    if release is not None:
        (folder / "release").write_text(release)
    return java


def test_a_cache_fits_one_java_one_list_of_jars_and_one_set_of_flags(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Change any of them, and the name is another; the same three give the same name."""
    java = java_of(tmp_path / "a", RELEASE)
    first = warm.warm_file(java, "/a.jar:/b.jar")
    assert first is not None
    assert first.parent == cache / "warm"
    assert first == warm.warm_file(java, "/a.jar:/b.jar")
    others = [
        warm.warm_file(java, "/b.jar:/a.jar"),
        warm.warm_file(java_of(tmp_path / "b", RELEASE.replace("25.0.2", "25.0.3")), "/a.jar:/b.jar"),
    ]
    monkeypatch.setattr("remit.broker.config.JVM_FLAGS", ("-Xmx1g",))
    others.append(warm.warm_file(java, "/a.jar:/b.jar"))
    assert len({first, *others}) == 4


@pytest.mark.parametrize("release", [None, RELEASE.replace("25.0.2", "17.0.15"), RELEASE.replace("25.0.2", "24.0.1")])
def test_an_older_java_has_none(tmp_path: Path, release: str | None, started: list[list[str]]) -> None:
    """Nothing is made for it, and it starts with no flag that it would not know."""
    file = warm.warm_file(java_of(tmp_path, release), "/a.jar")
    assert file is None
    warm.begin_training(file)
    assert started == []
    assert warm.warm_flags(file) == []


def test_it_is_made_once_and_after_a_failure_not_before_a_day(cache: Path, started: list[list[str]]) -> None:
    """Not with every start: a try costs seconds of both processors."""
    file = cache / "warm" / "kafka-x.aot"
    warm.begin_training(file)
    warm.begin_training(file)
    assert started == [[sys.executable, "-m", "remit.broker.training"]]
    yesterday = time.time() - 2 * warm.AGAIN_AFTER_S
    os.utime(warm.tried_file(file), (yesterday, yesterday))
    warm.begin_training(file)
    assert len(started) == 2
    file.touch()
    assert not warm.is_due(file)
    assert f"-XX:AOTCache={file}" in warm.warm_flags(file)


def test_a_cache_folder_that_cant_be_written_is_no_error(tmp_path: Path, started: list[list[str]]) -> None:
    """A cache brought along read-only: starts stay as slow as the first."""
    (tmp_path / "file").touch()
    warm.begin_training(tmp_path / "file" / "warm" / "kafka-x.aot")
    assert started == []


@pytest.fixture
def own_jars(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of this test alone that holds the jars of the usual one."""
    monkeypatch.delenv(CACHE_VARIABLE)
    usual = cache_folder()
    broker.jars.ensure_jars(lambda _line: None)
    for jar in pinned():
        (cache / jar.path).parent.mkdir(parents=True, exist_ok=True)
        os.link(usual / jar.path, cache / jar.path)
    monkeypatch.setenv(CACHE_VARIABLE, str(cache))
    return cache


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home folder whose broker is stopped at the end."""
    yield tmp_path / "home"
    broker.down(tmp_path / "home")


@pytest.mark.kafka
@pytest.mark.timeout(400)
def test_the_cache_is_made_is_used_and_a_damaged_one_is_passed_over(
    own_jars: Path, home: Path, started: list[list[str]]
) -> None:
    """A start asks for it and does not wait; the next one loads it; damage makes a start slow, not impossible."""
    broker.up(home)
    assert len(started) == 1
    assert broker.down(home)
    made = subprocess.run(started[0], cwd=home, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")
    (file,) = (own_jars / "warm").glob("*.aot")
    assert not (own_jars / "warm" / "home").exists()
    assert training.train() is False
    second = broker.up(home)
    assert f"-XX:AOTCache={file}" in psutil.Process(second.pid).cmdline()
    assert any(each.path == str(file) for each in psutil.Process(second.pid).memory_maps())
    assert broker.down(home)
    content = bytearray(file.read_bytes())
    content[len(content) // 3 : len(content) // 3 + 50_000] = b"\xff" * 50_000
    file.write_bytes(content)
    third = broker.up(home)
    assert psutil.pid_exists(third.pid)
    assert "fatal error" not in Place(home).log.read_text("utf-8")
    assert len(started) == 1
