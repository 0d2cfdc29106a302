"""Takes a plan that breaks a law apart: what can be left out while the same law still breaks is left out."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from .plan import Hand, Plan
from .run import Outcome, play

MOST = 250
"""Plays at most."""


def shrink(failed: Outcome, again: Callable[[Plan], Outcome] = play, *, most: int = MOST) -> Outcome:
    """The outcome of the smallest plan found that breaks the same law."""
    left = most
    smallest, going = failed, True
    while going and left > 0:
        going = False
        for plan in _smaller(smallest.plan):
            left -= 1
            outcome = again(plan)
            if outcome.law == failed.law:
                smallest, going = outcome, True
                break
            if left <= 0:
                break
    return smallest


def _smaller(plan: Plan) -> Iterator[Plan]:
    """Plans that lack one thing, the largest things first."""
    if len(plan.submissions) > 1:
        yield from (plan.without(each) for each in plan.submissions)
    half = len(plan.faults) // 2
    if half > 1:
        yield replace(plan, faults=plan.faults[:half])
        yield replace(plan, faults=plan.faults[half:])
    yield from (plan.without(each) for each in reversed(plan.faults))
    yield from (plan.with_hand(each) for hand in plan.hands for each in _simpler(hand))
    yield from (
        replace(plan, submissions=tuple(replace(each, flaw="") if each is one else each for each in plan.submissions))
        for one in plan.submissions
        if one.flaw
    )


def _simpler(hand: Hand) -> Iterator[Hand]:
    """The worker that does one thing less."""
    if any(each != "good" for each in hand.ways):
        yield replace(hand, ways=())
        for number, way in enumerate(hand.ways):
            if way != "good":
                yield replace(hand, ways=(*hand.ways[:number], "good", *hand.ways[number + 1 :]))
