"""Instants carry their zone: one without would be taken for this machine's local time. Pure; anyone may import it."""

from datetime import datetime


def aware(at: datetime, name: str) -> datetime:
    """The instant itself; ValueError, naming the argument, for one without a zone."""
    if at.utcoffset() is None:
        raise ValueError(f"{name} must be an aware datetime")
    return at
