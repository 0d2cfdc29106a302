"""What a run came to, as text; and a finding's input as a file."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from .orders import Finding, Tally
from .target import Target, dice

_MIB = 1 << 20
_COLUMNS = "{:<24}{:>10}{:>10}{:>10}{:>10}{:>9}{:>9}"


def lines(tallies: Mapping[str, Tally], least: Mapping[str, int]) -> Iterator[str]:
    """The table: one line for each target, with the `least` that it must have, and the sum."""
    yield _COLUMNS.format("target", "inputs", "least", "accepted", "refused", "slowest", "findings")
    for name, each in tallies.items():
        slowest = f"{each.slowest * 1000:.0f} ms"
        yield _line(name, each, f"{least[name]:,}", slowest)
    whole = Tally(
        inputs=sum(each.inputs for each in tallies.values()),
        accepted=sum(each.accepted for each in tallies.values()),
        refused=sum(each.refused for each in tallies.values()),
        findings=[finding for each in tallies.values() for finding in each.findings],
    )
    yield _line("all", whole, f"{sum(least.values()):,}", "")
    yield f"most memory: {max(each.peak for each in tallies.values()) // _MIB} MiB"


def _line(name: str, tally: Tally, least: str, slowest: str) -> str:
    counts = (f"{tally.inputs:,}", least, f"{tally.accepted:,}", f"{tally.refused:,}")
    return _COLUMNS.format(name, *counts, slowest, len(tally.findings))


def kept(finding: Finding, target: Target, folder: Path) -> Path:
    """Write the input of a finding, made anew, beside its trace; where it lies."""
    path = folder / f"{finding.target}-{finding.number}.input"
    try:
        path.write_bytes(as_bytes(target.make(dice(finding.seed, finding.target, finding.number))))
    except Exception as error:  # noqa: BLE001 - the fault is in the making itself: the trace says where
        path.write_text(f"it can't even be made: {type(error).__name__}", encoding="utf-8")
    if finding.trace:
        path.with_suffix(".trace").write_text(finding.trace, encoding="utf-8", errors="backslashreplace")
    return path


def as_bytes(given: object) -> bytes:
    """An input as a file: itself where it is bytes or text, else as Python writes it."""
    if isinstance(given, bytes):
        return given
    text = given if isinstance(given, str) else repr(given)
    return text.encode(errors="surrogatepass")
