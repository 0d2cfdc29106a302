"""What the projector's tests share."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.reading import ViewFiles, view_files


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
