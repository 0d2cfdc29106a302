"""Remit: a supervisor and many workers, and nothing counts as done until it is verified."""

__version__ = "0.1.0"
