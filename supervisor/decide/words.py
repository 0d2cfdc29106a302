"""People's and workers' words as a transition may hold them. Pure."""

from remit.redaction import redact

LONGEST = 4096  # characters


def in_words(said: str | None) -> str | None:
    """Redacted, and no longer than people read; None where nothing was said."""
    return redact(said)[:LONGEST] if said else None
