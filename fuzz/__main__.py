"""The command line of a run: `python -m fuzz --seconds 120 --seed 7`. Exit 1 with findings.

One input again: `python -m fuzz --target T --seed N --only K`.
"""

import random
import sys
import tempfile
from collections.abc import Mapping
from math import ceil
from pathlib import Path

import click

from .orders import TARGETS, Finding, Order, Tally
from .table import kept, lines
from .target import WHOLE_S, Target
from .watch import fuzz_all, targets_of


@click.command()
@click.option("--seconds", type=click.FloatRange(0), default=120.0, show_default=True, help="For all targets together.")
@click.option("--seed", type=int, help="Of every input. Default: a fresh one, printed.")
@click.option("--target", "names", multiple=True, metavar="TARGET", help="Only this one; may be given more than once.")
@click.option("--inputs", type=click.IntRange(1), help="So many of each target, instead of a time.")
@click.option("--only", type=click.IntRange(0), help="The one input of that number.")
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True, help="Children at once.")
@click.option("--targets", "module", default=TARGETS, show_default=True, help="The module that names the targets.")
def main(
    *,
    seconds: float,
    seed: int | None,
    names: tuple[str, ...],
    inputs: int | None,
    only: int | None,
    processes: int,
    module: str,
) -> None:
    """Hand bad input to every decoder and reader: each must take it or refuse it, in bounded time and memory."""
    targets = targets_of(module)
    if unknown := [name for name in names if name not in targets]:
        raise click.UsageError(f"no such target: {unknown[0]}; there are {', '.join(targets)}")
    chosen = {name: targets[name] for name in names or targets}
    seed = seed if seed is not None else random.SystemRandom().randrange(10**6)
    click.echo(f"seed {seed}: {len(chosen)} targets")
    share = seconds * processes / len(chosen)
    part = min(1.0, seconds / WHOLE_S)
    wanted = 1 if only is not None else inputs
    orders = [
        Order(target=name, seed=seed, first=only or 0, inputs=wanted, seconds=share, least=ceil(each.least * part))
        for name, each in chosen.items()
    ]
    tallies = fuzz_all(orders, processes, module)
    for line in lines(tallies, {order.target: order.inputs or order.least for order in orders}):
        click.echo(line)
    findings = _tell(tallies, chosen, module, shows_trace=only is not None)
    click.echo(f"{f'{findings} FINDINGS' if findings else 'no crash, no hang'}: replay with --seed {seed}")
    sys.exit(1 if findings else 0)


def _tell(tallies: Mapping[str, Tally], targets: Mapping[str, Target], module: str, *, shows_trace: bool) -> int:
    findings = [finding for each in tallies.values() for finding in each.findings]
    if findings:
        folder = Path(tempfile.mkdtemp(prefix="remit-fuzz-"))
        for finding in findings:
            _tell_one(finding, targets[finding.target], folder, module)
            if shows_trace:
                click.echo(finding.trace)
    return len(findings)


def _tell_one(finding: Finding, target: Target, folder: Path, module: str) -> None:
    click.echo(f"\n{finding.target}: {finding.what}")
    click.echo(f"  input: {kept(finding, target, folder)}")
    click.echo(f"  again: {finding.replay(module)}")


if __name__ == "__main__":
    main()
