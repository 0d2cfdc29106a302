"""What a demo of a guard is: a name, what it tries, a run, and the facts that show that the guard held. Pure data."""

from collections.abc import Callable
from dataclasses import dataclass

from .arena import Arena


@dataclass(frozen=True)
class Fact:
    """One thing that must be so if the guard held."""

    text: str
    holds: bool


@dataclass(frozen=True)
class Guard:
    """One demo."""

    name: str
    tries: str  # what goes wrong, for people
    stopped_by: str  # which guard is there for it
    run: Callable[[Arena], list[Fact]]
