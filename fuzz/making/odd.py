"""What tends to break readers: texts, numbers and JSON values that are rare in what people write."""

from random import Random
from typing import Any

TEXTS = (
    *("", " ", "\t", "\n", "\r\n", "\x00", "\x1b[31m", "\x7f", "\x85", "\u2028", "\ufeff", "\ufffe", "\u200b"),
    *("\u202eevil", "e\u0301", "\u00e9", "\u0130", "\u1e9e", "\ufb03", "\U0001d54f", "\U0001f469\u200d\U0001f52c"),
    *("\uff50\uff41\uff53\uff53", "\u0661\u0662", "\u00b2", "\ufdfa" * 30, "a" * 129, "A" * 4097, "\u00e9" * 9000),
    *("null", "~", "true", "No", "NaN", ".nan", "Infinity", "-Infinity", "-.inf", "1e309", "-0", "0x1F", "0o17", "1_0"),
    *("9" * 63, "9" * 64, "9" * 65, "9" * 5000, "0." + "0" * 50 + "1", "1E+99", "1e-99", "sNaN", "1e999999999", "0.25"),
    *(
        "<<",
        "&a",
        "*a",
        "!!python/object/apply:os.system",
        "%YAML 1.1",
        "---",
        "...",
        "? a",
        "- - -",
        "{{",
        "]]",
        "|",
        ">",
    ),
    *("../..", "..", ".", "/", "//", "-rf", "~/x", "${HOME}", "$(id)", "`id`", "%s%n", "{0}", "{report}", "C:\\x"),
    *(
        "a/../b",
        ".git",
        ".git/config",
        "**",
        "src/**",
        "[",
        "[!",
        "[]",
        "*" * 60,
        "a*" * 40 + "b",
        "(a+)+$",
        "\\",
        "'",
        '"',
    ),
    *(
        "task://a/b",
        "task://",
        "task://code/revision",
        "input://repo",
        "repo://svc@main",
        "repo://svc@commit:" + "0f" * 20,
    ),
    *("artefact://sha256/" + "ab" * 32, "artefact://sha256/zz", "artefact://a", "file:///etc/passwd", "file://../x"),
    *("read-write:*", "read-write:feature", "read-write:-x", "read-only", "execute", "none", "user:priya", "default"),
    *("2026-07-19T12:00:00Z", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"),
    *("2026-07-19", "2026-07-19T25:00:00Z", "2026-07-19T12:00:60Z", "2026-07-19T12:00:00+99:99", "P1D", "5 min"),
)
HALVES = ("\ud800", "\udfff", "a\udc80b")
"""Half surrogate pairs: a str may hold them, UTF-8 may not."""
NUMBERS: tuple[int | float, ...] = (
    *(0, -1, 1, 2, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1, 10**18, 10**30),
    *(10**62, -(10**62), 0.1, -0.0, 1.5, 5e-324, 1e300, -1e300, 1e15, float("nan"), float("inf"), float("-inf")),
)


def text(dice: Random) -> str:
    """A text that UTF-8 can hold: odd, or joined from odd ones, or random characters."""
    match dice.randrange(8):
        case 0:
            return "".join(map(chr, (dice.randrange(0x20, 0x300) for _ in range(dice.randrange(20)))))
        case 1:
            return dice.choice(TEXTS) + dice.choice(TEXTS)
    return dice.choice(TEXTS)


def value(dice: Random, depth: int = 2) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value, NaN, huge numbers and half surrogate pairs among them."""
    match dice.randrange(12 if depth else 9):
        case 0 | 1 | 2:
            return dice.choice(NUMBERS)
        case 3:
            return dice.choice((None, True, False, [], {}))
        case 4:
            return dice.choice(HALVES)
        case 9 | 10:
            return [value(dice, depth - 1) for _ in range(dice.randrange(4))]
        case 11:
            return {text(dice): value(dice, depth - 1) for _ in range(dice.randrange(4))}
    return text(dice)
