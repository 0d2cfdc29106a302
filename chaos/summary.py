"""What a run came to, as text."""

from collections.abc import Iterator

from .plants import PLANTS
from .run import KILLS, WORKFLOWS, Outcome, Wanted

SHOWN = 8
"""Violations of one invariant that are printed."""


def lines(wanted: Wanted, outcome: Outcome) -> Iterator[str]:
    """The summary; the seed stands last, as it stood first."""
    yield ""
    for name, figure in outcome.figures.items():
        yield f"{name:<28}{figure:>10,.0f}"
    yield f"{'kills':<28}{outcome.kills:>10}"
    yield f"{'stops':<28}{outcome.stops:>10}"
    for what, count in sorted(outcome.counts.items()):
        yield f"  {what:<40}{count:>6}"
    yield "workflows"
    for what, count in outcome.workflows.most_common():
        yield f"  {what:<40}{count:>6}"
    yield "invariants"
    for name, found in outcome.violations.items():
        yield f"  {name:<40}{'OK' if not found else f'{len(found)} VIOLATIONS':>6}"
        yield from (f"    {each}" for each in found[:SHOWN])
    amount = f"{outcome.kills} kills over {outcome.workflows.total()} workflows"
    yield f"at least {KILLS} over {WORKFLOWS}: {'reached' if outcome.reached else 'NOT reached'}, {amount}"
    if wanted.plant:
        yield f"the plant {wanted.plant} was {'found' if found_out(wanted, outcome) else 'NOT found'}"
    yield f"{'all hold' if outcome.held else 'BROKEN'}: replay with --seed {wanted.seed} --seconds {wanted.seconds:g}"


def found_out(wanted: Wanted, outcome: Outcome) -> bool:
    """Whether the invariant that must see the plant saw it."""
    return wanted.plant is not None and bool(outcome.violations.get(PLANTS[wanted.plant].seen_by))
