"""The result envelope: what a worker writes, its published schema, and what follows from its status."""

from remit.result.classify import classify
from remit.result.envelope import Envelope, read_envelope

__all__ = ["Envelope", "classify", "read_envelope"]
