"""What targets write in this process goes into a folder of the tests; other rooms' tests keep theirs."""

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("fuzz"))
    yield
    tempfile.tempdir = before
