"""The table that a run ends with, and the file it leaves. Pure but for that file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LATEST = Path(__file__).with_name("latest.json")
REACHES = {"pipeline": 0.5, "pipeline_16": 0.6, "solo": 0.6, "logic": 0.6, "replay": 0.6, "projection": 0.7}
DURABILITY = {
    "acks": "all",
    "replicas": 1,
    "fsync": "none per batch: Kafka's default leaves it to the operating system (flush.messages is not set)",
    "transactions": "on, on both sides",
}


def ratios(found: dict[str, dict[str, Any]]) -> dict[str, float]:
    """The ratio of each key that was measured."""
    return {key: round(float(found[key]["ratio"]), 3) for key in REACHES if key in found}


def lines(found: dict[str, dict[str, Any]]) -> list[str]:
    """One line per ratio: product, floor, ratio, reach, and whether it is reached."""
    head = f"{'ratio':<12} {'product':>11} {'floor':>11} {'unit':<14} {'ratio':>6} {'reach':>6}  reached"
    ratios_ = [_line(key, found[key], reach) for key, reach in REACHES.items() if key in found]
    return [*([head] if ratios_ else []), *ratios_, *_also(found)]


def _also(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What has no floor: the logic's profile, figures by the number of supervisors and of workflows."""
    if "profile" in found:
        yield "profile      of the supervisor's processor time: " + "; ".join(
            f"{part} {share:.0%}" for part, share in found["profile"].items()
        )
    if "supervisors" in found:
        rates = found["supervisors"]["workflows_per_s"]
        yield "supervisors  " + ", ".join(f"{number}: {rate:,.1f} workflows/s" for number, rate in rates.items())
    if "growth" in found:
        yield from _growth(found["growth"])


def _growth(grown: dict[str, Any]) -> Iterator[str]:
    events, size = grown["events_per_workflow"], grown["bytes_per_workflow"]
    yield f"growth       {events:.1f} events, {size:,} bytes with keys and headers, per workflow of four tasks"
    for workflows, ms in grown["processor_ms_per_workflow"].items():
        yield f"             {workflows:>9,} workflows: {ms} ms of processor time each, in memory"
    for kind in ("open", "closed"):
        for workflows, one in grown[kind].items():
            restart, memory = one["restart_s"], one["memory_bytes_per_workflow"]
            yield (
                f"             {workflows:>9,} {kind:<6} workflows: {memory:,} bytes of memory each; first decision"
                f" {restart['from_checkpoints']} s after a start, without checkpoints {restart['from_zero']} s"
            )


def _line(key: str, one: dict[str, Any], reach: float) -> str:
    said = "yes" if one["ratio"] >= reach else "no"
    figures = f"{one['product']:>11,.1f} {one['floor']:>11,.1f} {one['unit']:<14}"
    return f"{key:<12} {figures} {one['ratio']:>6.2f} {reach:>6.2f}  {said}{_beside(one)}"


def _beside(one: dict[str, Any]) -> str:
    same = f"; {one['ratio_same_events']:.2f} of the floor with the same events" if "ratio_same_events" in one else ""
    stalls = sum(one.get("stalls", {}).get("product", ()))
    return f"{same}; {stalls} results or leases were lost and retried" if stalls else same


def write(found: dict[str, dict[str, Any]], about: dict[str, Any], file: Path = LATEST) -> None:
    """Write all figures, each with the run that it is of, and `ratios` by key; parts that were not measured stay."""
    stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    figures = stored.get("figures", {}) | {key: one | {"run": about} for key, one in found.items()}
    reached = {key: ratio >= REACHES[key] for key, ratio in ratios(figures).items()}
    document = {"ratios": ratios(figures), "reached": reached, "durability": DURABILITY, "figures": figures}
    file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
