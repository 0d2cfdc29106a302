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
    UNFOLDABLE = "unfoldable"  # it can't be folded: the workflow is frozen
    SKIPPED = "skipped"  # its checkpoint has it


@dataclass(frozen=True, slots=True)
class Folded:
    """The state after reading one transition, and what became of it."""

    state: State
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Cursor:
    """Walks through the transitions that a checkpoint already has, under the same guard as the fold."""

    end: int  # offset of the first transition that it doesn't have
    until: int  # sequence of the last one that it has
    generation: int  # of the shard, where the walk begins
    sequence: int | None = None  # last one walked through

    def skip(self, transition: Transition) -> "tuple[Verdict, Cursor]":
        """Pass one of them by: what was made of it, and where the walk stands."""
        before = transition.sequence - 1 if self.sequence is None else self.sequence
        verdict = _judge(before, self.generation, transition)
        if verdict is not Verdict.FOLDED:
            return verdict, self
        return Verdict.SKIPPED, Cursor(self.end, self.until, transition.writer.generation, transition.sequence)

    @property
    def stopped_short(self) -> bool:
        """Whether the last one walked through isn't the last that the checkpoint has."""
        return self.sequence not in {None, self.until}


def fold(state: State, transition: Transition) -> Folded:
    """Fold one transition as it lies in the log."""
    verdict = _judge(state.sequence, state.generation, transition)
    return Folded(evolve(state, transition) if verdict is Verdict.FOLDED else state, verdict)


def _judge(sequence: int, generation: int, transition: Transition) -> Verdict:
    if transition.writer.generation < generation:
        return Verdict.IGNORED
    return Verdict.FOLDED if transition.sequence == sequence + 1 else Verdict.CONFLICT
