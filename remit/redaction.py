"""Takes secrets out of whatever Remit is about to write: texts, bytes and JSON values. Pure; anyone may import it.

Redacting twice equals redacting once, and the structure around a secret stays valid. What it can't know are secrets
without a shape; a worker's own are named to it as `known` values. Personal data is not covered.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from remit.redaction_rules import MARK, RULES, TRIGGERS, WORD, WORD_RULES, Rule, is_count, vocabulary

_LEAST = 6  # characters of a known value; a shorter one stands in too many innocent words
_PASSES = 8  # until nothing changes; real text takes two
SHAPES = frozenset({"pem", "jwt", "provider"})
_SHORT = 256  # characters up to which a pattern is as quick as a look for its words
_NESTED = 8  # levels of JSON inside a string of JSON
_DEEPEST = 64  # levels of lists and mappings, as deep as any document of ours; deeper text is read as no JSON
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_HALF = re.compile("[\ud800-\udfff]")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET = vocabulary(
    "password passwd passphrase passcode pwd secret secrets credential credentials cookie cookies authorization "
    "apikey privatekey accesskey jwt otp pin sessionid pgpassword"
)
_KEYS = vocabulary("api secret access private signing encryption auth session master service account client")
_ABOUT = vocabulary(
    "type name count limit url uri path ttl length field fields expiry expires expired policy ref reference reset file "
    "rule rules required hint format version lifetime storage in out max min digest hash sha256 strength"
)
_LONGEST_PHRASE = 3  # words of a key with spaces that can still be a name


class Redactor:
    """The common rules, and values that are known to be secret."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """Know these values too, also in their URL, JSON and Base64 forms; those under 6 characters are left out."""
        forms = {form for value in known if len(value) >= _LEAST for form in _forms(value)}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        """The text without secrets; JSON text stays JSON."""
        return self._text(text, 0, set())

    def value(self, value: Any) -> Any:  # noqa: ANN401  (any JSON value, bytes and tuples too)
        """The value without secrets, at any depth, keys included."""
        return self._value(value, 0, set())

    def data(self, data: bytes) -> bytes:
        """The bytes without secrets; bytes that are no UTF-8 stay as they are."""
        return self.text(data.decode(errors="surrogateescape")).encode(errors="surrogateescape")

    def finds(self, text: str) -> list[str]:
        """Names of the rules that still find something, sorted; empty for redacted text."""
        found: set[str] = set()
        self._text(text, 0, found)
        return sorted(found)

    def shapes(self, text: str) -> list[str]:
        """Names of the rules whose shape alone tells a secret: keys of providers, PEM, JWT, known values; sorted.

        For source code, where a name such as `token = make_token()` is no secret.
        """
        known = ["known"] if self._known is not None and self._known.search(text) else []
        lowered = _lower(text)
        telling = (rule for rule in RULES if rule.name in SHAPES)
        return known + sorted(rule.name for rule in telling if _spans(rule, text if rule.keeps_case else lowered))

    def _text(self, text: str, level: int, found: set[str]) -> str:
        for _ in range(_PASSES):
            # Looked at anew after each pass: what was no JSON may be some without a secret that stood in it.
            if level < _NESTED and (parsed := _json(text)) is not None:
                value = self._value(parsed, level + 1, found)
                return text if value == parsed else _written(value)
            clean = self._pass(text, found)
            if clean == text:
                return text
            text = clean
        return MARK

    def _pass(self, text: str, found: set[str]) -> str:
        if self._known is not None:
            text = _replace(text, [match.span() for match in self._known.finditer(text)], "known", found)
        folded = _folded(text)
        lowered = _lower(folded)
        if not TRIGGERS.search(lowered):
            return text
        for rule in WORD_RULES if WORD.fullmatch(folded) else RULES:
            if rule.word not in lowered or (len(lowered) > _SHORT and not rule.is_named_in(lowered)):
                continue
            source = folded if rule.keeps_case else lowered
            if rule.pattern.search(source) and (spans := _spans(rule, source)):
                text = _replace(text, spans, rule.name, found)
                folded = _replace(folded, spans, rule.name, found)
                lowered = _replace(lowered, spans, rule.name, found)
        return text

    def _value(self, value: Any, level: int, found: set[str]) -> Any:  # noqa: ANN401  (any JSON value)
        match value:
            case str():
                return self._text(value, level, found)
            case bytes():
                return self.data(value)
            case Mapping():
                return self._mapping(value, level, found)
            case list() | tuple():
                return self._sequence(value, level, found)
        return value

    def _sequence(self, value: list[Any] | tuple[Any, ...], level: int, found: set[str]) -> Any:  # noqa: ANN401
        clean = [self._value(inner, level, found) for inner in value]
        if _is_pair(clean):
            clean[1] = _marked(clean[1], found)
        return type(value)(clean)

    def _mapping(self, value: Mapping[Any, Any], level: int, found: set[str]) -> dict[Any, Any]:
        clean: dict[Any, Any] = {}
        for key, inner in value.items():
            name = self._text(key, level, found) if isinstance(key, str) else key
            while name in clean:  # two secrets as keys: both entries stay
                name = f"{name}+"
            hidden = isinstance(name, str) and _hides(name, inner)  # as it will be read: a second look agrees
            clean[name] = _marked(inner, found) if hidden else self._value(inner, level, found)
        return clean


def is_secret_name(name: str) -> bool:
    """Whether a key, header or variable of that name holds a secret: `DB_PASSWORD`, `X-Api-Key`, not `max_tokens`."""
    words = [word.lower() for word in _WORDS.findall(_folded(name))]
    if not words or words[-1] in _ABOUT:
        return False
    if words[-1] == "key":
        return not _KEYS.isdisjoint(words[:-1])
    return words[-1] in {"token", "tokens"} or not _SECRET.isdisjoint(words)


_PLAIN = Redactor()


def redact(text: str) -> str:
    """The text without secrets, by the common rules alone."""
    return _PLAIN.text(text)


def redact_value(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """The JSON value without secrets, by the common rules alone."""
    return _PLAIN.value(value)


def finds(text: str) -> list[str]:
    """Names of the common rules that find a secret in the text; empty for redacted text."""
    return _PLAIN.finds(text)


def _hides(name: str, value: Any) -> bool:  # noqa: ANN401  (any JSON value)
    """Whether the value under that key is to be taken out. A key that is a phrase holds no more than one text."""
    if value is None or isinstance(value, bool) or not is_secret_name(name):
        return False
    if isinstance(value, int | float | str) and is_count(name.lower(), str(value)):
        return False
    if " " in name.strip():
        return isinstance(value, str) and len(name.split()) <= _LONGEST_PHRASE
    return True


def _marked(value: Any, found: set[str]) -> Any:  # noqa: ANN401  (any JSON value)
    """The same shape with every scalar taken out."""
    match value:
        case Mapping():
            return {key: _marked(inner, found) for key, inner in value.items()}
        case list() | tuple():
            return type(value)(_marked(inner, found) for inner in value)
        case None | bool() | "":
            return value
    if value in (MARK, MARK.encode()):
        return value
    found.add("name")
    return MARK.encode() if isinstance(value, bytes) else MARK


def _is_pair(value: list[Any]) -> bool:
    """Whether it is a header as a pair of texts."""
    match value:
        case [str() as name, str() | bytes()]:
            return " " not in name and is_secret_name(name)
    return False


def _written(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """JSON text of a value; half a surrogate pair, which UTF-8 can't hold, stays the escape that it was."""
    return _HALF.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _json(text: str) -> Any:  # noqa: ANN401  (any JSON value)
    """The list or mapping that the text is; None for anything else: keys that stand twice, nesting beyond bounds.

    Halves of surrogate pairs stand for bytes that are no text, so what holds some is no JSON.
    """
    if text.lstrip()[:1] not in ("{", "[") or _HALF.search(text):
        return None
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return found if _is_shallow(found) else None


def _is_shallow(value: Any) -> bool:  # noqa: ANN401  (any JSON value)
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for part in level:
            inner.extend(part.values() if isinstance(part, dict) else part)
        level = [part for part in inner if isinstance(part, dict | list)]
        if not level:
            return True
    return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _forms(value: str) -> set[str]:
    encoded = base64.b64encode(value.encode()).decode()
    return {value, quote(value, safe=""), json.dumps(value)[1:-1], encoded}


def _folded(text: str) -> str:
    """The text with full-width letters as plain ones, each in its place."""
    return text if text.isascii() else text.translate(_FULL_WIDTH)


def _lower(text: str) -> str:
    """The text in lower case and of the same length, so that places in it are places in `text`."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_LOWER)


def _spans(rule: Rule, text: str) -> list[tuple[int, int]]:
    return [match.span("s") for match in rule.pattern.finditer(text) if rule.accepts(match)]


def _replace(text: str, spans: list[tuple[int, int]], rule: str, found: set[str]) -> str:
    if not spans:
        return text
    found.add(rule)
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += (text[done:start], MARK)
        done = end
    return "".join((*parts, text[done:]))
