"""Which fault comes when: a pure function of the seed, so that a seed replays its schedule."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

SESSION_S = 6
"""Session timeout of the supervisors here: what the broker allows at least."""
LEASE_S = 4
GAP_S = 1.5
SETTLED_IN_S = 4.0
BROKER_EVERY_S = 100.0
BROKER_OUT_S = 20.0
"""How long a killed broker of one node is away at most, most of it waiting for its own old session."""


class Act(StrEnum):
    """What is done to an actor."""

    KILL = "kill"  # SIGKILL, started again after `lasts`
    STOP = "stop"  # SIGSTOP, SIGCONT after `lasts`
    LEAVE = "leave"  # SIGTERM, started again after `lasts`
    RENAME = "rename"  # SIGKILL, started again at once under another name
    TWIN = "twin"  # a second process of the same name, for so long
    VANISH = "vanish"  # the artefact store's folder is renamed away, and back after `lasts`


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: `at` and `lasts` in seconds, `at` from the beginning of the run."""

    at: float
    act: Act
    target: str
    lasts: float


@dataclass(frozen=True, slots=True)
class Order:
    """What a supervisor does to itself at the nth passage of a named point: SIGKILL, or SIGSTOP for `lasts` seconds."""

    point: str
    passage: int
    act: Act
    lasts: float

    def text(self) -> str:
        """As the environment carries it."""
        return f"{self.point}:{self.passage}:{self.act}"


POINTS = ("before_flush", "before_offsets", "before_commit", "after_commit", "before_serving")
"""Of a step: records written, flushed, offsets sent, committed. Of a takeover: state replayed, nothing served yet."""
SHORT, LONG = (0.5, 3.0), (SESSION_S + 1.5, SESSION_S + 6.0)
DOWN = ((0.0, 0.0), (0.0, 0.0), LONG)
KINDS: tuple[tuple[int, Act, str, tuple[tuple[float, float], ...]], ...] = (
    (8, Act.KILL, "supervisor", DOWN),
    (7, Act.STOP, "supervisor", (SHORT, LONG, LONG)),
    (3, Act.LEAVE, "supervisor", ((0.0, 0.0), LONG)),
    (3, Act.RENAME, "supervisor", ((0.0, 0.0),)),
    (2, Act.TWIN, "supervisor", ((4.0, 9.0),)),
    (28, Act.KILL, "worker", ((0.0, 0.0), (1.0, 4.0))),
    (9, Act.STOP, "worker", ((0.5, 2.0), (LEASE_S + 1.0, LEASE_S + 5.0))),
    (3, Act.LEAVE, "worker", ((0.0, 2.0),)),
    (18, Act.KILL, "projector", ((0.0, 2.0),)),
    (3, Act.STOP, "projector", ((1.0, 6.0),)),
    (2, Act.STOP, "broker", ((0.5, 4.0),)),
    (3, Act.VANISH, "store", ((1.0, 6.0),)),
)


def schedule(seed: int, seconds: float, supervisors: int, workers: int) -> tuple[Fault, ...]:
    """All faults of a run, in order; the broker is killed in runs that are long enough to get over it."""
    found = [*_mixed(seed, seconds, {"supervisor": supervisors, "worker": workers}), *_broker(seed, seconds)]
    return tuple(sorted(found, key=lambda fault: fault.at))


def _mixed(seed: int, seconds: float, counts: dict[str, int]) -> Iterator[Fault]:
    dice = random.Random(f"{seed}/faults")  # noqa: S311 - a schedule, not a secret
    at = SETTLED_IN_S
    while (at := at + dice.expovariate(1 / GAP_S)) < seconds:
        _, act, kind, spans = dice.choices(KINDS, [each[0] for each in KINDS])[0]
        number = dice.randint(1, counts.get(kind, 1))
        target = f"{kind}-{number}" if kind in counts else kind
        yield Fault(round(at, 3), act, target, round(dice.uniform(*dice.choice(spans)), 3))


def _broker(seed: int, seconds: float) -> Iterator[Fault]:
    dice = random.Random(f"{seed}/broker")  # noqa: S311 - a schedule, not a secret
    at = BROKER_EVERY_S * dice.uniform(0.3, 0.6)
    while at < seconds - BROKER_OUT_S:
        yield Fault(round(at, 3), Act.KILL, "broker", round(dice.choice([0.0, 2.0, 8.0]), 3))
        at += BROKER_EVERY_S * dice.uniform(0.8, 1.2)


def order(seed: int, target: str, life: int) -> Order | None:
    """What the supervisor of that life does to itself; about a third of the lives do nothing."""
    dice = random.Random(f"{seed}/{target}/{life}")  # noqa: S311 - a schedule, not a secret
    if dice.random() < 1 / 3:
        return None
    point = POINTS[(life + dice.randrange(2)) % len(POINTS)]
    passage = 1 if point == "before_serving" else round(10 ** dice.uniform(0.3, 2.6))
    stops = dice.random() < 1 / 3
    lasts = dice.uniform(*dice.choice((SHORT, LONG)))
    return Order(point, passage, Act.STOP if stops else Act.KILL, round(lasts, 3) if stops else 0.0)
