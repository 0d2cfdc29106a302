"""What is to happen in one history, drawn from its seed: data that can be taken apart to find what it takes. Pure."""

from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from .shapes import SHAPES
from .ways import WAYS

TROUBLED_S = 90.0
"""Seconds from the start in which faults begin; after that all is well again, and everything must come to rest."""


class Point(StrEnum):
    """Where in its step a supervisor may be killed or stopped."""

    POLL = "poll"  # before it reads
    ENDS = "ends"  # while it asks how far the log goes: in a takeover, or before a timer fires
    BEFORE = "before"  # all is decided, nothing written
    OPEN = "open"  # all is written, the transaction is open
    ON_ITS_WAY = "on its way"  # as before, and the commit reaches the broker after the process is gone
    AFTER = "after"  # it is committed, and nothing else was done


@dataclass(frozen=True, slots=True)
class Submission:
    """A workflow that a client submits; `flaw` names what is wrong with it, or how it comes again."""

    at: float
    workflow_id: str
    tenant_id: str
    shape: str
    flaw: str = ""

    def __str__(self) -> str:
        """One line for people."""
        flaw = f", {self.flaw}" if self.flaw else ""
        return f"{self.at:5.1f} s: {self.tenant_id}/{self.workflow_id} is submitted: {self.shape}{flaw}"


@dataclass(frozen=True, slots=True)
class Hand:
    """A worker: how it meets its offers, one after another; `good` beyond the end."""

    worker_id: str
    pool: str
    slots: int
    ways: tuple[str, ...]

    def __str__(self) -> str:
        """One line for people."""
        return f"worker {self.worker_id} of {self.pool}, {self.slots} at once: {', '.join(self.ways) or 'good'}"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong: `kind` as in `faults.FAULTS`; `target` and `seconds` as the kind needs them."""

    at: float
    kind: str
    target: str = ""
    point: Point = Point.POLL
    seconds: float = 0.0

    def __str__(self) -> str:
        """One line for people."""
        where = f" at: {self.point.value}" if self.kind in POINTED else ""
        return f"{self.at:5.1f} s: {self.kind} {self.target}{where} ({self.seconds:.1f})"


@dataclass(frozen=True, slots=True)
class Plan:
    """One history."""

    seed: int
    verifying: bool  # whether verifiers run commands again from the start
    supervisors: tuple[str, ...]
    submissions: tuple[Submission, ...]
    hands: tuple[Hand, ...]
    faults: tuple[Fault, ...]

    def without(self, part: Submission | Fault) -> "Plan":
        """The plan without one of its parts."""
        return replace(
            self,
            submissions=tuple(each for each in self.submissions if each != part),
            faults=tuple(each for each in self.faults if each != part),
        )

    def with_hand(self, hand: Hand) -> "Plan":
        """The plan with one worker replaced."""
        return replace(self, hands=tuple(hand if each.worker_id == hand.worker_id else each for each in self.hands))


POINTED = frozenset({"kill", "freeze"})
OF_SUPERVISORS = (
    "kill",
    "kill",
    "kill",
    "freeze",
    "freeze",
    "abort",
    "rival",
    "expel",
    "hold",
    "hold",
    "hold",
    "skew",
    "crawl",
)
OF_THE_LOG = ("jump", "forget", "rewind", "rewind", "stray", "stray", "again", "again", "again", "garbage")
OF_WORKERS = ("die", "pause", "leave")
OF_PEOPLE = ("cancel", "resolve", "resolve", "amend", "amend", "decide", "receipt", "policy")
OF_THE_STORE = ("blind",)
KINDS = OF_SUPERVISORS * 2 + OF_THE_LOG * 2 + OF_WORKERS * 2 + OF_PEOPLE + OF_THE_STORE
POOLS = {"line": ("coders", "testers", "testers"), "branches": ("coders", "testers"), "draft": ("hands", "testers")}
FLAWS = ("",) * 8 + ("invalid", "secret", "twice", "other")
STUBBORN = 0.15
DULL = ("failed", "malformed", "cut off", "silent", "another subject", "defect")
"""Ways of a worker that never does anything else, as often as it is asked."""
SKEWS_S = (-60.0, -5.0, -1.0, 1.0, 3.0, 5.0, 60.0)


def dice(*names: object) -> Random:
    """Chance by name: the same in every process, whatever else is drawn."""
    return Random("/".join(map(str, names)))  # noqa: S311 - a history, not a secret


def drawn(seed: int) -> Plan:
    """The plan of a seed."""
    chance = dice("plan", seed)
    supervisors = chance.choice((("s1",), ("s1", "s2"), ("s1", "s2")))
    submissions = tuple(_submission(chance, number) for number in range(chance.choice((1, 2, 3, 4))))
    verifying = chance.random() < 0.15  # noqa: PLR2004 - it is slow
    hands = tuple(_hands(chance, submissions, verifying=verifying))
    faults = tuple(_fault(chance, supervisors, hands, submissions) for _ in range(chance.randint(3, 16)))
    return Plan(seed, verifying, supervisors, submissions, hands, tuple(sorted(faults, key=lambda each: each.at)))


def _submission(chance: Random, number: int) -> Submission:
    return Submission(
        at=_tenths(chance, 0.0, 50.0),
        workflow_id=f"w{number}",
        tenant_id=chance.choice(("default", "other")),
        shape=chance.choice(sorted(SHAPES)),
        flaw=chance.choice(FLAWS),
    )


def _hands(chance: Random, submissions: tuple[Submission, ...], *, verifying: bool) -> list[Hand]:
    needed = [pool for each in submissions for pool in POOLS.get(each.shape, ("hands", "hands"))]
    pools = list(dict.fromkeys(needed)) + chance.sample(needed, chance.randint(1, 2))
    if verifying or chance.random() < 0.3:  # noqa: PLR2004 - another policy may ask for them later
        pools += ["verifiers", "verifiers"]
    return [_hand(chance, f"{pool}-{number}", pool) for number, pool in enumerate(sorted(pools))]


def _hand(chance: Random, worker_id: str, pool: str) -> Hand:
    names = [name for name, way in WAYS.items() if not way.pools or pool in way.pools]
    odd = chance.choices(names, [WAYS[name].weight for name in names], k=chance.randint(0, 10))
    if chance.random() < STUBBORN:
        return Hand(worker_id, pool, chance.randint(1, 3), (chance.choice(DULL),) * 8)
    ways = tuple(each if chance.random() < 0.6 else "good" for each in odd)  # noqa: PLR2004
    return Hand(worker_id, pool, chance.randint(1, 3), ways)


def _fault(
    chance: Random, supervisors: tuple[str, ...], hands: tuple[Hand, ...], submissions: tuple[Submission, ...]
) -> Fault:
    kind = chance.choice(KINDS)
    target, at = "", _tenths(chance, 0.0, TROUBLED_S)
    if kind in OF_SUPERVISORS:
        target = chance.choice(supervisors)
    elif kind in OF_WORKERS:
        target = chance.choice(hands).worker_id
    elif kind in {"cancel", "resolve", "amend", "decide", "receipt", "stray"}:
        submission = chance.choice(submissions)
        target, at = submission.workflow_id, submission.at + _tenths(chance, 0.5, 30.0)
    point = chance.choice(list(Point))
    return Fault(at, kind, target, point, _seconds(chance, kind))


def _seconds(chance: Random, kind: str) -> float:
    """How long it lasts, by how much a clock is off, or how often it happens."""
    if kind in {"skew", "jump"}:
        return chance.choice(SKEWS_S)
    if kind in {"again", "garbage"}:
        return float(chance.randint(1, 12))
    if kind in {"hold", "crawl"}:
        return _tenths(chance, 5.0, 40.0)
    return _tenths(chance, 0.0, chance.choice((2.0, 8.0, 40.0)))


def _tenths(chance: Random, least: float, most: float) -> float:
    return round(chance.uniform(least, most), 1)
