"""A broken law in words: which one, by which seed, what it takes, and what happened. Pure."""

from collections.abc import Iterator

from .run import Outcome

LAST = 60
"""Events that are told at most."""


def told(failed: Outcome, smallest: Outcome) -> Iterator[str]:
    """Lines for people."""
    yield f"seed {failed.plan.seed} breaks law {failed.law}"
    yield f"  {smallest.found}"
    yield "what it takes:"
    yield from _plan(smallest)
    yield "what happened:"
    yield from _events(smallest, LAST)
    yield f"again: remit simulate --seed {failed.plan.seed}"


def story(outcome: Outcome) -> Iterator[str]:
    """Lines for people: a whole history."""
    yield from _plan(outcome)
    yield from _events(outcome, len(outcome.story))


def _plan(outcome: Outcome) -> Iterator[str]:
    plan = outcome.plan
    yield f"  supervisors {', '.join(plan.supervisors)}"
    yield from (f"  {each}" for each in (*plan.hands, *plan.submissions, *plan.faults))


def _events(outcome: Outcome, most: int) -> Iterator[str]:
    if len(outcome.story) > most:
        yield f"  ({len(outcome.story) - most} earlier events)"
    for each in outcome.story[-most:]:
        yield f"  {each.at:7.2f} s  {each.what:10}  {each.who:12}  {each.words}".rstrip()
