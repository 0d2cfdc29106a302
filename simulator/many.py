"""Plays many seeds in several processes, each seed in one. The command line and the tests import it."""

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from .plan import drawn
from .run import play

PART = 20
"""Seeds that one process plays at a time."""
VIEWED = 50
"""Every so many seeds the projection is played too: a database costs more than the rest of a history."""


@dataclass(frozen=True, slots=True)
class Played:
    """One seed's outcome, without its story: whoever wants that plays the seed again."""

    seed: int
    law: str | None
    transitions: int
    accepted: int
    seconds: float  # of virtual time


def play_seed(seed: int) -> Played:
    """Play one seed as `remit simulate` does."""
    outcome = play(drawn(seed), views=is_viewed(seed))
    return Played(seed, outcome.law, outcome.transitions, outcome.accepted, outcome.seconds)


def is_viewed(seed: int) -> bool:
    """Whether the seed's history is projected as well."""
    return seed % VIEWED == 0


def play_part(seeds: Sequence[int]) -> list[Played]:
    """Play some seeds, up to the first that breaks a law."""
    found: list[Played] = []
    for seed in seeds:
        found.append(play_seed(seed))
        if found[-1].law is not None:
            break
    return found


def play_all(
    seeds: range, processes: int | None = None, tell: Callable[[int], None] = lambda _: None
) -> Iterator[Played]:
    """Play all seeds in as many processes as there are processors; ends with the first part that breaks a law."""
    parts = _parts(seeds)
    if len(seeds) <= PART or processes == 1:
        for part in parts:
            found = play_part(part)
            yield from found
            tell(part[-1])
            if found[-1].law is not None:
                return
        return
    # Spawned, not forked: whoever calls may have threads.
    context = get_context("spawn")
    count = processes or os.cpu_count()
    with ProcessPoolExecutor(count, context, initializer=_begin, initargs=(sys.path,)) as pool:
        for part, found in zip(_parts(seeds), pool.map(play_part, parts), strict=True):
            yield from found
            tell(part[-1])
            if found[-1].law is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                return


def _begin(path: list[str]) -> None:
    sys.path[:] = path
    gc.freeze()  # as the supervisor's own process does: what stays is not walked through again and again
    gc.set_threshold(200_000, 20, 100)


def _parts(seeds: range) -> Iterator[range]:
    return (seeds[start : start + PART] for start in range(0, len(seeds), PART))
