"""Targets with faults on purpose: what the harness must find. Children import it by name."""

import itertools
import os
from random import Random
from unittest.mock import patch

from fuzz.target import LawBrokenError, Target
from remit.contract import references
from remit.errors import CodecError

BAD = 3
"""The one of twelve inputs that breaks."""


def _number(dice: Random) -> int:
    return dice.randrange(12)


def _crash(given: int) -> bool:
    """The product as it is, but that one of its functions was broken."""
    with patch.object(references, "_external", side_effect=KeyError):
        return references.parse_reference("other:x" if given == BAD else "input://x") is not None


def _hang(given: int) -> bool:
    """In C, where no handler of Python's would ever be called."""
    return given != BAD or all(itertools.repeat(object()))


def _die(given: int) -> bool:
    if given == BAD:
        os.abort()
    return True


def _swell(given: int) -> bool:
    return given != BAD or bool(bytearray(1 << 34))


def _recurse(given: int) -> bool:
    return given != BAD or _recurse(given)


def _break(given: int) -> bool:
    if given == BAD:
        raise LawBrokenError("twice is not once")
    return True


def _mumble(given: int) -> bool:
    raise CodecError("" if given == BAD else "somewhere")


TARGETS = (
    Target("crash", _number, _crash),
    Target("hang", _number, _hang),
    Target("die", _number, _die),
    Target("swell", _number, _swell),
    Target("recurse", _number, _recurse),
    Target("break", _number, _break),
    Target("mumble", _number, _mumble),
)
