"""`remit simulate`: seeded histories of the real supervisor and projector, under faults, held to the laws."""

import time

import click

from remit.cli.output import json_option, print_json, say
from remit.errors import RefusedError
from remit.roles import role


@click.command()
@click.option("--seeds", default=100, show_default=True, type=click.IntRange(1), help="How many histories.")
@click.option("--start", default=0, show_default=True, type=click.IntRange(0), help="The first one's seed.")
@click.option("--seed", type=click.IntRange(0), help="Replay exactly this one, and tell what happens in it.")
@click.option(
    "--processes", type=click.IntRange(1), help="How many at once. By default as many as there are processors."
)
@json_option
def simulate(seeds: int, start: int, seed: int | None, processes: int | None, *, as_json: bool) -> None:
    """Play seeded histories in memory: crashes, zombies, delays, clocks that are off, workers that lie, hang or die.

    No broker is needed and no file is kept. A seed is one history, the same on every machine; each step of it is held
    to the laws of docs/simulation.md. Exit 1 if a law breaks: the law, the seed and the smallest history found.
    """
    if seed is not None:
        _replay(seed, as_json=as_json)
        return
    begun = time.monotonic()
    transitions, accepted, count = 0, 0, 0
    for played in role("simulator.many").play_all(range(start, start + seeds), processes, _progress):
        if played.law is not None:
            _refuse(played.seed)
        count, transitions, accepted = count + 1, transitions + played.transitions, accepted + played.accepted
    seconds = round(time.monotonic() - begun, 1)
    if as_json:
        print_json({"seeds": count, "transitions": transitions, "accepted": accepted, "seconds": seconds})
    else:
        say(f"{count} histories, {transitions} transitions, {accepted} workflows accepted: no law broken, {seconds} s")


def _progress(seed: int) -> None:
    say(f"up to seed {seed}", err=True)


def _replay(seed: int, *, as_json: bool) -> None:
    many, run, plan = (role(f"simulator.{each}") for each in ("many", "run", "plan"))
    outcome = run.play(plan.drawn(seed), views=many.is_viewed(seed), digest=True)
    if outcome.law is not None:
        _refuse(seed)
    if as_json:
        told = {"seed": seed, "transitions": outcome.transitions, "accepted": outcome.accepted}
        print_json(told | {"digest": outcome.digest, "virtual_seconds": outcome.seconds})
        return
    for line in role("simulator.tell").story(outcome):
        say(line)
    say(f"seed {seed}: no law broken, digest {outcome.digest}")


def _refuse(seed: int) -> None:
    """Find the smallest history that breaks the same law, and tell it."""
    many, run, plan = (role(f"simulator.{each}") for each in ("many", "run", "plan"))
    failed = run.play(plan.drawn(seed), views=many.is_viewed(seed))
    smallest = role("simulator.shrink").shrink(failed, lambda smaller: run.play(smaller, views=many.is_viewed(seed)))
    raise RefusedError("\n".join(role("simulator.tell").told(failed, smallest)))
