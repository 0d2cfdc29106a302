"""Any text, bytes or JSON value through the redaction: twice equals once, in a time that the length bounds."""

import json
from random import Random
from typing import Any

from remit.redaction import Redactor, finds, redact, redact_value

from ..making import bombs, odd, raw, texts, trees
from ..target import LawBrokenError, Target

_WORDS = (
    *(
        "password",
        "passwd: ",
        "secret=",
        "token",
        "api_key",
        "Authorization: Bearer ",
        "cookie",
        "Set-Cookie: a=b; ",
        "sk-",
    ),
    *(
        "ghp_" + "a1B2" * 9,
        "AKIA" + "A1" * 8,
        "eyJhbGciOi.eyJzdWIi.abc_-1",
        "xoxb-1234567890",
        "://u:p@",
        "https://a:b@c",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----",
        "-----begin ",
        "?sig=",
        "&key=",
        "--password ",
        "hunter2",
    ),
    *(
        " = ",
        ": ",
        ":=",
        "=>",
        "'",
        '"',
        '\\"',
        "`",
        "[",
        "{",
        "(",
        ",",
        "\n",
        "\\n",
        " ",
        "\t",
        "[redacted]",
        "[redacted",
        "]",
    ),
    *(
        "tokens_in: 5",
        "fencing_token=7",
        "pwd=/home",
        "PASSWORD",
        "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44",
        "x" * 60,
        "a1" * 30,
        "=" * 9,
        ".",
        "-",
        "_",
    ),
)
_KNOWN = Redactor(("hunter2", "s3cr3t value", 'é"\\\n'))
_HOSTILE = (
    *("a", "-", "=", ":", "'", '"', "\\", " ", "\t", "[", "(", "://", "eyJ", "password", "token=", "k_live_", "x@"),
)
_TREES = tuple(
    map(
        json.dumps,
        ({"password": "a", "n": [["token", "b"], {"x": "sk-" + "a" * 20}]}, [{"api_key": {"a": [1, "b"]}}, "x"]),
    )
)


def _text(dice: Random) -> str:
    match dice.randrange(16):
        case 0:
            return dice.choice(_HOSTILE) * dice.choice((100, 3_000, 30_000))
        case 1:
            pieces = dice.choice(_WORDS) + dice.choice(_HOSTILE)
            return pieces * dice.choice((50, 2_000))
        case 2:
            return bombs.document(dice)[:60_000]
        case 3:
            return trees.as_json(dice, trees.mutated(dice, dice.choice(_TREES), _TREES))
        case 4:
            return texts.mutated(dice, "".join(dice.choice(_WORDS) for _ in range(12)))
    return "".join(dice.choice(_WORDS) if dice.randrange(5) else odd.text(dice) for _ in range(dice.randint(1, 14)))


def _once(given: str) -> bool:
    """Redacting twice equals redacting once, and nothing is found any more."""
    clean = redact(given)
    if redact(clean) != clean:
        raise LawBrokenError("redacting twice is not redacting once")
    if _is_utf8(given) and not _is_utf8(clean):
        raise LawBrokenError("what is left of it is no text any more")
    if finds(clean):
        raise LawBrokenError("a rule still finds something")
    _KNOWN.shapes(clean)
    return clean != given


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _data(dice: Random) -> bytes:
    return raw.mutated(dice, _text(dice)[:2_000].encode(errors="surrogatepass"))


def _once_data(given: bytes) -> bool:
    clean = _KNOWN.data(given)
    if _KNOWN.data(clean) != clean:
        raise LawBrokenError("redacting bytes twice is not redacting them once")
    return clean != given


def _value(dice: Random) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value with texts and keys that look like secrets."""
    return {_text(dice)[:200]: _text(dice)[:500], "n": odd.value(dice), "l": [_text(dice)[:100], _text(dice)[:100]]}


def _once_value(given: Any) -> bool:  # noqa: ANN401 - any JSON value
    clean = redact_value(given)
    if repr(redact_value(clean)) != repr(clean):  # NaN is not equal to itself
        raise LawBrokenError("redacting a value twice is not redacting it once")
    return repr(clean) != repr(given)


TARGETS = (
    Target("redaction.text", _text, _once),
    Target("redaction.bytes", _data, _once_data),
    Target("redaction.value", _value, _once_value),
)
