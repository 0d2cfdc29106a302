"""How fast workflows go through the pipeline: product and floor in turn on one broker, with three kinds of load."""

import statistics
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import sides
from benchmarks.driver import Run
from benchmarks.sides import Drive

Side = Callable[[Path], AbstractContextManager[Drive]]


class Loads(NamedTuple):
    """How many workflows of each kind of load."""

    queued: int = 1000
    sixteen: int = 300
    solo: int = 40


class Runs(NamedTuple):
    """One round of one side."""

    queued: Run
    sixteen: Run
    solo: Run


def measure(bootstrap: str, loads: Loads, rounds: int = 2) -> dict[str, Any]:
    """Floor (19 and 29 events) and product in turn, so many rounds; medians and ratios."""
    every: dict[str, Side] = {
        "floor": lambda folder: sides.floor(bootstrap, folder, full=False),
        "product": lambda folder: sides.product(bootstrap, folder),
        "floor_same_events": lambda folder: sides.floor(bootstrap, folder, full=True),
    }
    found: dict[str, list[Runs]] = {name: [] for name in every}
    for _ in range(rounds):
        for name, side in every.items():
            found[name].append(one_round(side, loads))
    return {"loads": loads._asdict(), **{kind: _compared(found, kind) for kind in Runs._fields}}


def supervisors(bootstrap: str, workflows: int, rounds: int = 2) -> dict[str, Any]:
    """Workflows/s with 1, 2 and 4 supervisors, all queued at once."""
    found: dict[int, list[float]] = {1: [], 2: [], 4: []}
    for _ in range(rounds):
        for number, rates in found.items():
            with (
                tempfile.TemporaryDirectory() as folder,
                sides.product(bootstrap, Path(folder), supervisors=number) as drive,
            ):
                rates.append(round(drive(workflows, workflows).rate, 1))
    return {"workflows_per_s": {number: statistics.median(rates) for number, rates in found.items()}, "rounds": found}


def one_round(side: Side, loads: Loads) -> Runs:
    """All three loads on one side, whose processes live just as long."""
    with tempfile.TemporaryDirectory() as folder, side(Path(folder)) as drive:
        return Runs(drive(loads.queued, loads.queued), drive(loads.sixteen, 16), drive(loads.solo, 1))


def _compared(found: dict[str, list[Runs]], kind: str) -> dict[str, Any]:
    sides_ = {name: [getattr(each, kind) for each in runs] for name, runs in found.items()}
    rates = {name: statistics.median(each.rate for each in runs) for name, runs in sides_.items()}
    p50s = {name: statistics.median(each.p50 for each in runs) for name, runs in sides_.items()}
    fast = {name: 1 / p50s[name] if kind == "solo" else rates[name] for name in sides_}
    return {
        "workflows_per_s": {name: [round(each.rate, 1) for each in runs] for name, runs in sides_.items()},
        "p50_ms": {name: [round(each.p50 * 1000, 1) for each in runs] for name, runs in sides_.items()},
        "p95_ms": {name: [round(each.p95 * 1000, 1) for each in runs] for name, runs in sides_.items()},
        "stalls": {name: [each.stalls for each in runs] for name, runs in sides_.items()},
        "product": p50s["product"] * 1000 if kind == "solo" else rates["product"],
        "floor": p50s["floor"] * 1000 if kind == "solo" else rates["floor"],
        "unit": "ms p50" if kind == "solo" else "workflows/s",
        "ratio": fast["product"] / fast["floor"],
        "ratio_same_events": fast["product"] / fast["floor_same_events"],
    }
