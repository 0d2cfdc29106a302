"""What is fuzzed: a way to make an input out of dice, and a way to judge one. Pure; the whole room imports it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any

from remit.errors import CodecError, FaultyDocumentError, RemitError

LEAST = 2_000
MEMORY = 1 << 30
WHOLE_S = 120.0
"""A run of so many seconds must have the least of each target, a shorter one its part of it."""
_LONGEST_LINE = 2_000  # characters: a line that people are to read
_LONGEST_TEXT = 256 * 1024  # of all lines together


class LawBrokenError(Exception):
    """Nothing was raised, and yet a law of the target does not hold; the message says which."""


class Outcome(Enum):
    """What became of an input; anything else is a finding."""

    ACCEPTED = "accepted"
    REFUSED = "refused"


@dataclass(frozen=True)
class Target:
    """One decoder or reader: `make` takes nothing but the dice, so that an input is known by seed and number.

    `judge` returns whether it took the input; an error of our own tree is a refusal, any other exception a finding.
    """

    name: str
    make: Callable[[Random], Any]
    judge: Callable[[Any], bool]
    least: int = LEAST  # inputs that a run of `WHOLE_S` must have, however little of it the target gets
    memory: int = MEMORY  # bytes of addresses beyond what its process holds before it begins


def dice(seed: int, target: str, number: int) -> Random:
    """The dice of one input; the same in every process."""
    return Random(f"{seed}/{target}/{number}")  # noqa: S311 - bad input, not a secret


def outcome(target: Target, given: object) -> Outcome:
    """Judge one input; whatever the target raises beside our own errors passes through."""
    try:
        is_taken = target.judge(given)
    except RemitError as error:
        refuse_dumb(error)
        return Outcome.REFUSED
    return Outcome.ACCEPTED if is_taken else Outcome.REFUSED


def refuse_dumb(error: RemitError) -> None:
    """A refusal must say where, in lines that a terminal can show; LawBrokenError otherwise."""
    is_told_by_us = isinstance(error, FaultyDocumentError | CodecError)
    lines: Sequence[str] = error.faults if isinstance(error, FaultyDocumentError) else [str(error)]
    if not lines or not all(line.strip() for line in lines):
        raise LawBrokenError(f"{type(error).__name__} says nothing") from error
    if not is_told_by_us:  # a command's error may name what was typed; whoever prints it makes it fit to be shown
        return
    if max(map(len, lines)) > _LONGEST_LINE or sum(map(len, lines)) > _LONGEST_TEXT:
        raise LawBrokenError(f"{type(error).__name__} says more than anybody can read") from error
    if not all(line.isprintable() for line in lines):
        raise LawBrokenError(f"{type(error).__name__} holds what no terminal can show") from error
