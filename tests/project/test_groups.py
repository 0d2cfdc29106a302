"""Tests that look at one run stay in one process, or the run is made again in each."""

import os

import pytest

pytestmark = pytest.mark.xdist_group("groups")


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process has all tests")
def test_groups_are_kept(request: pytest.FixtureRequest) -> None:
    """A release of pytest may ignore them without a word, as 9.2 does with pytest-xdist 3.8."""
    assert request.node.nodeid.endswith("@groups")
