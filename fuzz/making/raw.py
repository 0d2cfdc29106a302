"""Bytes that were right and are no longer: flips, cuts, splices, claims of a length that nothing has."""

from collections.abc import Callable
from random import Random

_MOST = 5
_CHUNK = 24
_SEVEN_BITS = 0x7F


def varint(number: int) -> bytes:
    """A number as Avro writes a long: zig-zag, seven bits a byte, least first; beyond 64 bits too."""
    left = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while left > _SEVEN_BITS:
        out.append(left & _SEVEN_BITS | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


CLAIMS = tuple(
    varint(sign * (2**power + more))
    for power in (0, 6, 7, 16, 31, 40, 62, 63, 70)
    for more in (-1, 0)
    for sign in (1, -1)
)
"""Lengths and counts that a decoder must not believe."""


def mutated(dice: Random, data: bytes, other: bytes = b"") -> bytes:
    """The bytes after a few changes; `other` is spliced in at times."""
    for _ in range(dice.randint(1, _MOST)):
        data = dice.choice(_CHANGES)(dice, data, other)
    return data


def _at(dice: Random, data: bytes) -> int:
    return dice.randrange(len(data) + 1)


def _flip(dice: Random, data: bytes, _: bytes) -> bytes:
    if not data:
        return data
    at = dice.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << dice.randrange(8),)) + data[at + 1 :]


def _set(dice: Random, data: bytes, _: bytes) -> bytes:
    at = _at(dice, data)
    return data[:at] + bytes((dice.choice((0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, dice.randrange(256))),)) + data[at + 1 :]


def _cut(dice: Random, data: bytes, _: bytes) -> bytes:
    return data[: _at(dice, data)]


def _drop(dice: Random, data: bytes, _: bytes) -> bytes:
    at = _at(dice, data)
    return data[:at] + data[at + dice.randrange(_CHUNK) :]


def _insert(dice: Random, data: bytes, _: bytes) -> bytes:
    at = _at(dice, data)
    return data[:at] + dice.randbytes(dice.randrange(_CHUNK)) + data[at:]


def _repeat(dice: Random, data: bytes, _: bytes) -> bytes:
    at = _at(dice, data)
    return data[:at] + data[at : at + dice.randrange(_CHUNK)] * dice.randrange(2, 9) + data[at:]


def _claim(dice: Random, data: bytes, _: bytes) -> bytes:
    """A huge number in place of a byte, which may have been a length."""
    at = _at(dice, data)
    return data[:at] + dice.choice(CLAIMS) + data[at + 1 :]


def _splice(dice: Random, data: bytes, other: bytes) -> bytes:
    return data[: _at(dice, data)] + other[_at(dice, other) :]


def _trail(dice: Random, data: bytes, other: bytes) -> bytes:
    return data + (other if dice.randrange(2) else dice.randbytes(dice.randrange(1, _CHUNK)))


_CHANGES: tuple[Callable[[Random, bytes, bytes], bytes], ...] = (
    *(_flip, _flip, _flip, _set, _set, _cut, _drop, _insert, _repeat, _claim, _claim, _splice, _trail),
)
