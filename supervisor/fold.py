"""The guarded fold: a sequence is accepted once, in log order; an older writer is ignored; a fork freezes. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from remit.events.transitions import Transition

from .evolve import evolve
from .state import State


class Verdict(StrEnum):
    """What became of a transition that was read."""

    FOLDED = "folded"
    IGNORED = "ignored"  # of an older generation, behind a newer one
    CONFLICT = "history_conflict"  # a repeat or a gap: the workflow is frozen


@dataclass(frozen=True, slots=True)
class Folded:
    """The state after reading one transition, and what became of it."""

    state: State
    verdict: Verdict


def fold(state: State, transition: Transition) -> Folded:
    """Fold one transition as it lies in the log."""
    if transition.writer.generation < state.generation:
        return Folded(state, Verdict.IGNORED)
    if transition.sequence != state.sequence + 1:
        return Folded(state, Verdict.CONFLICT)
    return Folded(evolve(state, transition), Verdict.FOLDED)
