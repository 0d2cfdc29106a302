"""Runs one guard's demo and says what was tried and what stopped it. Only `remit demo` imports it."""

import importlib
from collections.abc import Callable

from remit.cli.output import say
from remit.errors import RefusedError
from remit.settings import Settings

from .arena import arena
from .guard import Guard

NAMES = ("zombie-worker", "stuck-worker", "malformed", "fork-bomb", "liar", "budget-race")


def guard_of(name: str) -> Guard:
    """The demo of that name."""
    module = importlib.import_module(f"remit.cli.guards.{name.replace('-', '_')}")
    found: Guard = module.GUARD
    return found


def show(name: str, connected: Settings, stopped: Callable[[], bool]) -> None:
    """Run it; RefusedError that names what did not hold."""
    guard = guard_of(name)
    say(f"tried:      {guard.tries}\nstopped by: {guard.stopped_by}\n")
    with arena(connected, stopped) as ground:
        facts = guard.run(ground)
    say("")
    for each in facts:
        say(f"{'held' if each.holds else 'BROKEN'}: {each.text}")
    if broken := [each.text for each in facts if not each.holds]:
        raise RefusedError(f"the guard did not hold: {'; '.join(broken)}")
