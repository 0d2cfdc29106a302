"""Run the benchmarks, print the table, write `latest.json`: `python -m benchmarks [--scale 0.1] [NAME ...]`.

A broker of its own is started and stopped; each part starts and stops its own processes.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import growth, logic, machine, pipeline, profile, replay, table
from remit import broker

Figures = dict[str, Any]
PARTS = ("logic", "profile", "replay", "projection", "pipeline", "supervisors", "growth")


def main() -> None:
    """Measure what was asked for."""
    given = _given()
    load = machine.load()
    if machine.is_busy(load):
        _say(f"the machine is busy (load {load:.1f}): ratios may hold, absolute figures don't")
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        home = Path(folder)
        try:
            found = _measured(given.parts, given.scale, given.rounds, home)
        finally:
            broker.down(home)
    about = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "scale": given.scale, "machine": machine.line()}
    about["busy"] = machine.is_busy(load)
    about["load"] = {"before": load, "after": machine.load()}
    for line in table.lines(found):
        _say(line)
    _say(f"durability: acks=all, 1 replica, fsync {table.DURABILITY['fsync']}")
    _say(f"machine: {machine.line()}; load {load:.1f} before, {machine.load():.1f} after; scale {given.scale}")
    table.write(found, about, given.out)


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--scale", type=float, default=1.0, help="1 is 1,000 workflows and 1,000,000 transitions")
    parser.add_argument("--rounds", type=int, default=3, help="of each side, in turn")
    parser.add_argument("--out", type=Path, default=table.LATEST, help="where the figures are written")
    given = parser.parse_args()
    if unknown := [each for each in given.parts if each not in PARTS]:
        parser.error(f"no such part: {unknown[0]}")
    return given


def _measured(parts: list[str], scale: float, rounds: int, home: Path) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    for part in parts or PARTS:
        _say(f"{part} ...")
        found |= MEASURES[part](scale, rounds, home)
    return found


def _logic(scale: float, rounds: int, _: Path) -> dict[str, Figures]:
    return {"logic": logic.measure(_at_least(20, 500 * scale), rounds)}


def _profile(scale: float, _: int, __: Path) -> dict[str, Figures]:
    return {"profile": profile.shares(_at_least(50, 500 * scale))}


def _replay(scale: float, rounds: int, home: Path) -> dict[str, Figures]:
    return {"replay": replay.measure(broker.up(home).bootstrap, _at_least(2_000, 1_000_000 * scale), rounds)}


def _projection(scale: float, rounds: int, _: Path) -> dict[str, Figures]:
    measured = import_module("benchmarks.projection").measure(events=_at_least(2_000, 200_000 * scale), rounds=rounds)
    medians = {name: measured[name]["median"] for name in ("product", "floor", "ratio")}
    return {"projection": {**measured, **medians, "spread": measured["ratio"], "unit": "events/s"}}


def _pipeline(scale: float, rounds: int, home: Path) -> dict[str, Figures]:
    loads = pipeline.Loads(_at_least(32, 1000 * scale), _at_least(32, 300 * scale), _at_least(10, 40 * scale))
    measured = pipeline.measure(broker.up(home).bootstrap, loads, rounds)
    return {"pipeline": measured["queued"], "pipeline_16": measured["sixteen"], "solo": measured["solo"]}


def _supervisors(scale: float, rounds: int, home: Path) -> dict[str, Figures]:
    return {"supervisors": pipeline.supervisors(broker.up(home).bootstrap, _at_least(32, 1000 * scale), rounds)}


def _growth(scale: float, _: int, home: Path) -> dict[str, Figures]:
    sizes = [_at_least(20, workflows * scale) for workflows in (1_000, 10_000, 100_000)]
    return {"growth": growth.measure(broker.up(home).bootstrap, sizes)}


MEASURES: dict[str, Callable[[float, int, Path], dict[str, Figures]]] = {
    "logic": _logic,
    "profile": _profile,
    "replay": _replay,
    "projection": _projection,
    "pipeline": _pipeline,
    "supervisors": _supervisors,
    "growth": _growth,
}


def _at_least(least: int, wanted: float) -> int:
    return max(least, int(wanted))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
