"""The command line of a run: `python -m chaos --seconds 300 --seed 7`. Exit 1 if an invariant does not hold."""

import random
import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import click

from .plants import PLANTS
from .run import Outcome, Run, Wanted
from .summary import found_out, lines


@click.command()
@click.option("--seconds", type=click.FloatRange(5), default=300.0, show_default=True, help="How long faults are done.")
@click.option("--seed", type=int, help="Of schedule and workload. Default: a fresh one, printed.")
@click.option("--supervisors", type=click.IntRange(1, 8), default=3, show_default=True)
@click.option("--workers", type=click.IntRange(1, 16), default=3, show_default=True)
@click.option("--rate", type=click.FloatRange(0.1), default=8.0, show_default=True, help="Workflows a second.")
@click.option("--open", "open_at_once", type=click.IntRange(1), default=150, show_default=True, help="Not ended.")
@click.option("--plant", type=click.Choice(sorted(PLANTS)), help="Take a guard away; exit 0 if an invariant saw it.")
@click.option("--keep", is_flag=True, help="Leave the folder with logs and data, also when all holds.")
def main(seed: int | None, keep: bool, plant: str | None, **flags: float) -> None:
    """Kill, stop and restart everything at random while many workflows run; then check what must hold."""
    wanted = Wanted(seed if seed is not None else random.SystemRandom().randrange(10**6), plant=plant, **flags)  # type: ignore[arg-type]
    click.echo(f"seed {wanted.seed}: {wanted.seconds:g} s, {wanted.supervisors} supervisors, {wanted.workers} workers")
    home = Path(tempfile.mkdtemp(prefix="remit-chaos-"))
    outcome = go(wanted, home)
    for line in lines(wanted, outcome):
        click.echo(line)
    good = found_out(wanted, outcome) if plant else outcome.held
    if good and not keep:
        shutil.rmtree(home, ignore_errors=True)
    else:
        click.echo(f"logs and data: {home}")
    sys.exit(0 if good else 1)


def go(wanted: Wanted, home: Path) -> Outcome:
    """Run it in that folder, telling how far it is."""
    with closing(Run(wanted, home, click.echo)) as run:
        return run.go()


if __name__ == "__main__":
    main()
