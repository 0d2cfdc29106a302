"""The laws of the design, as the simulator holds them: the bench is held to the same ones."""

from simulator.laws import bends, lowers, no_lost_work, reconciled, standing, step

__all__ = ["bends", "lowers", "no_lost_work", "reconciled", "standing", "step"]
