"""What an examination finds. Pure; `remit.doctor` and the command line import it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and how it is mended."""

    check: str
    """Which check found it; the name under which docs/operations.md explains it."""
    subject: str
    """What it is about: a topic, a partition, a broker, a folder."""
    says: str
    """What is the matter, with the values found and required."""
    mend: str
    """The command that mends it, or why none does and what does."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """The same values for programs."""

    def __str__(self) -> str:
        """One line."""
        return f"{self.subject}: {self.says}"


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A check that could not be made: neither well nor ill."""

    check: str
    why: str
