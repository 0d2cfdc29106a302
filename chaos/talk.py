"""What the actors' logs said: an alarm or a trace is a violation, whatever came of it."""

from collections import Counter
from pathlib import Path

MARKS = ("ALARM", "Traceback", "CRITICAL")


def alarms(folder: Path) -> list[str]:
    """Lines that bear a mark, each once with how often it came; the time in front of it doesn't count."""
    found: Counter[str] = Counter()
    for file in sorted(folder.glob("*.log")):
        for line in file.read_text("utf-8", errors="replace").splitlines():
            if any(mark in line for mark in MARKS):
                found[f"{file.stem}: {line.partition(' ')[2][:200]}"] += 1
    return [f"{line} ({count} times)" for line, count in found.most_common()]
