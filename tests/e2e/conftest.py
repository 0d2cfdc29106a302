"""The fault tests' rig, as a fixture."""

from tests.crash.rig import rig

__all__ = ["rig"]
