"""Texts that were right and are no longer: by character, by line, by token."""

from collections.abc import Callable
from random import Random

from . import odd

_MOST = 4


def mutated(dice: Random, text: str, most: int = _MOST) -> str:
    """The text after a few changes."""
    for _ in range(dice.randint(1, most)):
        text = dice.choice(_CHANGES)(dice, text)
    return text


def as_bytes(dice: Random, text: str) -> bytes:
    """The text as a file: UTF-8 nearly always, now and then in another encoding or with broken bytes."""
    match dice.randrange(24):
        case 0:
            return text.encode(dice.choice(("utf-16", "utf-32", "utf-7", "utf-16-le")), errors="replace")
        case 1:
            return b"\xef\xbb\xbf" + text.encode(errors="surrogatepass")
        case 2:
            data = text.encode(errors="surrogatepass")
            at = dice.randrange(len(data) + 1)
            return data[:at] + dice.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf8", b"\x00")) + data[at:]
    return text.encode(errors="surrogatepass" if dice.randrange(2) else "replace")


def _span(dice: Random, text: str, most: int = 40) -> tuple[int, int]:
    at = dice.randrange(len(text) + 1)
    return at, at + dice.randrange(most)


def _insert(dice: Random, text: str) -> str:
    at, _ = _span(dice, text)
    return text[:at] + odd.text(dice) + text[at:]


def _replace(dice: Random, text: str) -> str:
    at, end = _span(dice, text)
    return text[:at] + odd.text(dice) + text[end:]


def _drop(dice: Random, text: str) -> str:
    at, end = _span(dice, text)
    return text[:at] + text[end:]


def _cut(dice: Random, text: str) -> str:
    return text[: _span(dice, text)[0]]


def _repeat(dice: Random, text: str) -> str:
    at, end = _span(dice, text)
    return text[:at] + text[at:end] * dice.choice((2, 2, 3, 40)) + text[end:]


def _line(dice: Random, text: str) -> str:
    """A line stands twice: in a mapping, a key does."""
    lines = text.splitlines(keepends=True)
    if lines:
        at = dice.randrange(len(lines))
        lines.insert(dice.choice((at, at, dice.randrange(len(lines)))), lines[at])
    return "".join(lines)


def _swap(dice: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
        lines[at], lines[to] = lines[to], lines[at]
    return "".join(lines)


def _indent(dice: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        at = dice.randrange(len(lines))
        lines[at] = dice.choice((" ", "  ", "\t", "- ", "? ", "&a ", "!x ", "#")) + lines[at]
    return "".join(lines)


_CHANGES: tuple[Callable[[Random, str], str], ...] = (
    *(_insert, _insert, _replace, _replace, _drop, _cut, _repeat, _line, _line, _swap, _indent),
)
