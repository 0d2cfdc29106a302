"""The rig for each test."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    """A log in memory and a store in a folder of this test."""
    return Rig(tmp_path)
