"""What the watcher asks of a child, and what it hears: JSON lines, and a page of memory that outlives the child."""

import mmap
import struct
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

_PAGE = struct.Struct("<QQQQdQ")


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Run inputs of a target from number `first` on: `inputs` of them, else for `seconds` and at least `least`."""

    target: str
    seed: int
    first: int = 0
    inputs: int | None = None
    seconds: float = 0.0
    least: int = 0


class Crash(msgspec.Struct, frozen=True, kw_only=True):
    """An exception that no caller expects: of which input, of what type, where."""

    number: int
    what: str
    trace: str


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a child: a crash, or that the order has ended, and the status or signal where it died of one."""

    crash: Crash | None = None
    ended: bool = False
    died_of: int | None = None


@dataclass(frozen=True)
class Finding:
    """A crash, a hang or a killed process, with all that it takes to see it again."""

    target: str
    seed: int
    number: int
    what: str
    trace: str = ""

    def replay(self, module: str) -> str:
        """The command that shows it again."""
        other = "" if module == TARGETS else f" --targets {module}"
        return f"python -m fuzz{other} --target {self.target} --seed {self.seed} --only {self.number}"


@dataclass
class Tally:
    """What a target's inputs came to."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0  # seconds of processor time
    peak: int = 0  # bytes of memory that the process came to hold
    findings: list[Finding] = field(default_factory=list)

    def add(self, page: "Page") -> None:
        """Count what a child did, whether it lives or not."""
        self.inputs += page.inputs
        self.accepted += page.accepted
        self.refused += page.refused
        self.slowest = max(self.slowest, page.slowest)
        self.peak = max(self.peak, page.peak)


class Page:
    """A child's counters in a file that both sides map: what a killed child can't say any more."""

    def __init__(self, path: Path) -> None:
        """Map the file, made if need be; all counters are 0 in a new one."""
        if not path.exists():
            path.write_bytes(bytes(_PAGE.size))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _PAGE.size)
        self.number = self.inputs = self.accepted = self.refused = self.peak = 0
        self.slowest = 0.0

    def clear(self) -> None:
        """Begin at 0."""
        self.number = self.inputs = self.accepted = self.refused = self.peak = 0
        self.slowest = 0.0
        self.store()

    def store(self) -> None:
        """Let the other side see it."""
        counts = (self.number, self.inputs, self.accepted, self.refused, self.slowest, self.peak)
        _PAGE.pack_into(self._memory, 0, *counts)

    def load(self) -> "Page":
        """Take what the other side stored."""
        self.number, self.inputs, self.accepted, self.refused, self.slowest, self.peak = _PAGE.unpack_from(self._memory)
        return self


TARGETS = "fuzz.targets"
"""The module whose TARGETS are fuzzed unless another is named."""
