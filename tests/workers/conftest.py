"""The rig for each test."""

from pathlib import Path

import pytest

from tests.workers.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    """A log in memory and a store in a folder of this test."""
    return Rig(tmp_path)
