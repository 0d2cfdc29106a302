"""What the projector's tests share."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from projector import store
from remit.reading import ViewFiles, view_files


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database, made once by the product's own code."""
    path = tmp_path_factory.mktemp("template") / "empty.duckdb"
    with store.Store(path) as made:
        made.checkpoint()
    return path


@pytest.fixture(autouse=True)
def quick_start(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new database begins as a copy of the template: making hundreds of tables anew would take most of the time."""
    real = store._connected

    def connected(path: Path) -> duckdb.DuckDBPyConnection:
        if not path.exists():
            shutil.copyfile(template, path)
        return real(path)

    monkeypatch.setattr(store, "_connected", connected)


@pytest.fixture
def files(tmp_path: Path) -> ViewFiles:
    """The projector's files in a folder of this test."""
    return view_files(tmp_path)


@pytest.fixture
def karachi() -> Iterator[None]:
    """This process on Karachi time."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Karachi"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()
