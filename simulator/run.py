"""Plays one plan, and says whether a law was broken. The command line, the shrinking and the tests import it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from . import faults
from .errors import LawBrokenError
from .ground import Told
from .plan import Plan
from .world import World


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a plan went: the law that broke, or none; what happened; the log's digest if it was asked for."""

    plan: Plan
    law: str | None
    found: str
    story: tuple[Told, ...]
    seconds: float  # of virtual time
    transitions: int
    accepted: int
    digest: str = ""


def play(plan: Plan, *, views: bool = False, digest: bool = False) -> Outcome:
    """Play a plan to its end; `views`: the projection too is held to its law."""
    with quietly():
        world = World(plan)
        faults.schedule(world)
        law, found = None, ""
        try:
            world.run()
            if views:
                from .views import check  # noqa: PLC0415 - most plays need no database

                check(world)
        except LawBrokenError as error:
            law, found = error.law, str(error)
        return Outcome(
            plan,
            law,
            found,
            tuple(world.ground.story),
            world.ground.timeline.now,
            sum(map(len, world.watch.history.values())),
            sum(each.status.value == "accepted" for each in world.watch.workflows()),
            world.ground.digest() if digest else "",
        )


@contextmanager
def quietly() -> Iterator[None]:
    """Keep the supervisor's log from the terminal: in a simulation its alarms are daily bread."""
    log = logging.getLogger("remit.supervisor")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
