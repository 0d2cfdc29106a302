"""The shapes that secrets have in text, one rule each, linear in its length. Pure; only `remit.redaction` imports it.

Each rule has literal words that must stand in the lower-cased text for its pattern to be tried at all, so text without
secrets costs next to nothing. A pattern's group `s` is what is taken out; the words around it stay, so that people
still see what stood there. Patterns never look for a run of characters from each of its own positions: they start at
a literal or at the edge of a run, which keeps hostile text linear.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from re import Match, Pattern

MARK = "[redacted]"


def vocabulary(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_EDGE = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"  # not inside a word, or behind an escaped line end
_PROVIDERS = (
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",  # AWS
    r"AIza[A-Za-z0-9_-]{20,}",  # Google
    r"ya29\.[A-Za-z0-9_-]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{16,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"glpat-[A-Za-z0-9_-]{16,}",  # GitLab
    r"xox[abeoprs]-[A-Za-z0-9-]{8,}",  # Slack
    r"xapp-[A-Za-z0-9-]{16,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",  # Stripe
    r"whsec_[A-Za-z0-9+/=]{16,}",
    r"sk-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic and those that follow them
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    r"SK[0-9a-f]{32}",  # Twilio
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"hf_[A-Za-z0-9]{20,}",  # Hugging Face
    r"do[opr]_v1_[a-f0-9]{32,}",  # DigitalOcean
    r"dapi[a-f0-9]{32}",  # Databricks
    r"shp(?:at|ca|pa|ss)_[a-f0-9]{32}",  # Shopify
    r"hv[bs]\.[A-Za-z0-9_-]{16,}",  # Vault
    r"AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}",  # Telegram
)
_PROVIDER_WORDS = (
    *("akia", "asia", "abia", "acca", "aiza", "ya29.", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "xox", "xapp-", "k_live_", "k_test_", "whsec_", "sk-", "sg.", "sk", "npm_", "pypi-", "hf_", "_v1_"),
    *("dapi", "shp", "hvs.", "hvb.", "age-secret-key-1", ":aa"),
)
_SECRET_WORDS = (
    *("passw", "passphrase", "passcode", "pwd", "secret", "token", "credential", "db_pass", "session"),
    *("key",),
)
_NAMES = (
    r"(?:pass(?:w(?:or)?d|phrase|code)|pwd|secret|token|credential|db_pass|private[_-]?key|encryption_key"
    r"|a(?:pi[_ -]?key|ccess[_-]?key|uth[_-]?key|ccount_?key)|s(?:igning_key|ession[_-]?(?:id|key)))"
)
_QUOTE = r"\\{0,8}[\"'`]"
_TAIL = r"[a-z0-9_-]{0,24}+"
_QUERY = r"key|sig|signature|code|auth|access|pass|pw|sid|jwt|x-amz-[a-z-]{1,24}|x-goog-[a-z-]{1,24}"
_SCHEMES = r"bearer|basic|digest|token|negotiate|apikey|hmac|aws4-hmac-sha256|key"
_SEPARATOR = r"[ \t]{0,4}+(?::=|=>|:(?!:)|=(?!=))[ \t]{0,4}+"
_HARMLESS = vocabulary(
    "none null nil true false str string bytes bool int integer text required optional any undefined empty unset "
    "missing invalid expired reset and or is the a an in not no expires object array"
)
_SOUND = 8  # characters from which a word amid prose is taken for a secret


@dataclass(frozen=True)
class Rule:
    """One shape: `words` of which one must be there, `pattern` with the group `s`, `accepts` to rule a match out.

    Patterns are tried on the lower-cased text, unless the shape `keeps_case`. `word` is the one that every match
    needs, empty where there are several.
    """

    name: str
    words: tuple[str, ...]
    pattern: Pattern[str]
    accepts: Callable[[Match[str]], bool]
    keeps_case: bool = False
    word: str = field(init=False)

    def __post_init__(self) -> None:
        """Find `word`: looking for one literal costs a tenth of trying the pattern."""
        object.__setattr__(self, "word", self.words[0] if len(self.words) == 1 else "")

    def is_named_in(self, lowered: str) -> bool:
        """Whether one of the words stands in the lower-cased text."""
        return any(word in lowered for word in self.words)


def _always(_: Match[str]) -> bool:
    return True


def _new(match: Match[str]) -> bool:
    """Whether something else than our own mark stands there."""
    found = match["s"].strip(" \t\"'`\\;,")
    return not found.startswith(MARK) and found != MARK[:-1]


def _bare_value(match: Match[str]) -> bool:
    """Whether the bare word behind a secret's name is a value, and not code, a type, a path or prose."""
    name, value = match["n"], match["s"]
    known = value.strip(".!*_")
    if not _new(match) or known in _HARMLESS or known == name:
        return False
    if is_count(match.string[max(0, match.start() - 16) : match.start()] + name, value):
        return False
    if name == "pwd" and value.startswith(("/", "~")):
        return False
    is_prose = match["more"] is not None and match["sep"].strip() == ":" and match["sep"].endswith((" ", "\t"))
    return not is_prose or _looks_random(value)


def _looks_random(value: str) -> bool:
    return len(value) >= _SOUND and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_count(name: str, value: str) -> bool:
    """Whether a number under this name counts tokens or fences an attempt, and is no secret."""
    return value.replace(".", "", 1).isdigit() and re.search(r"tokens(_in|_out)?$|fencing_token$", name) is not None


RULES = (
    Rule(
        "pem",
        ("-----begin",),
        re.compile(
            r"(?P<s>-----begin [a-z0-9 ]{1,40}-----(?:(?>(?:[^-]|-(?!-))*)-----end [a-z0-9 ]{1,40}-----"
            r"|(?:(?:\\[rn]|\s)*[a-z0-9+/=]{16,})*))",
        ),
        _always,
    ),
    Rule(
        "cookie",
        ("cookie",),
        re.compile(rf"\b(?:set-)?cookies?(?:{_QUOTE})?{_SEPARATOR}(?:{_QUOTE})?(?P<s>[^\"'`\r\n\\]{{1,}})"),
        _new,
    ),
    Rule(
        "authorization",
        ("authorization",),
        re.compile(
            rf"\bauthorization(?:{_QUOTE})?{_SEPARATOR}(?:{_QUOTE})?(?:(?:digest|aws4-hmac-sha256) (?P<p>)|"
            rf"(?:{_SCHEMES})[ \t]{{1,4}})?(?P<s>(?(p)[^\r\n]{{1,}}|[^\s\"'`\\,;]{{1,}}"
            r"(?: [a-z0-9+/_.~-]{16,}={0,2})?))",
        ),
        _new,
    ),
    Rule("bearer", ("bearer",), re.compile(r"\bbearer[ \t]{1,4}(?P<s>[a-z0-9._~+/-]{8,}={0,2})"), _new),
    Rule(
        "basic",
        ("basic",),
        re.compile(r"\bbasic[ \t]{1,4}(?P<s>(?=[a-z+/]{0,400}[0-9=])[a-z0-9+/]{8,}={0,2})"),
        _always,
    ),
    Rule(
        "url_login",
        ("://",),
        # A name in front of @ may be a token; in our own `repo://NAME@...` it names a repository.
        re.compile(
            r"://(?P<s>[^\s/:@\"'`<>\\]{0,256}:[^\s/\"'`<>\\]{1,1024}|(?<!\brepo://)[^\s/:@\"'`<>\\]{16,1024})@"
        ),
        _new,
    ),
    Rule(
        "query",
        ("=",),
        re.compile(
            rf"(?<=[?&;])(?:{_QUERY}|[a-z0-9_.-]{{0,24}}?{_NAMES}{_TAIL})=(?P<s>[^&\s\"'`#<>;\\,)\]}}]{{1,}})",
        ),
        _new,
    ),
    Rule(
        "jwt",
        ("eyj",),
        re.compile(_EDGE + r"(?P<s>eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?)"),
        _always,
        keeps_case=True,
    ),
    Rule(
        "provider", _PROVIDER_WORDS, re.compile(_EDGE + "(?P<s>" + "|".join(_PROVIDERS) + ")"), _always, keeps_case=True
    ),
    Rule(
        "pair",
        (*_SECRET_WORDS, "cookie", "authorization"),
        re.compile(
            rf"[(\[]\s{{0,2}}b?{_QUOTE}[a-z0-9_-]{{0,24}}?(?:{_NAMES}|cookie|authorization){_TAIL}{_QUOTE},\s{{0,2}}"
            rf"b?{_QUOTE}(?P<s>[^\"'`\r\n\\]{{1,}})",
        ),
        _new,
    ),
    Rule(
        "quoted",
        _SECRET_WORDS,
        re.compile(
            rf"{_NAMES}{_TAIL}(?:{_QUOTE}\]?)?[ \t]{{0,4}}+(?::=|=>|:(?!:)|={{1,3}})[ \t]{{0,4}}+[bfru]{{0,2}}"
            r"(?:(?P<q>[\"'`])|(?P<e>\\{1,8}[\"'`]))"
            r"(?P<s>(?(q)(?:\\.|(?!(?P=q))[^\r\n\\]){1,}|(?:(?!(?P=e))[^\r\n]){1,}))",
        ),
        _new,
    ),
    Rule(
        "option",
        ("--",),
        re.compile(rf"(?<![a-z0-9_-])--[a-z0-9-]{{0,24}}?{_NAMES}{_TAIL}[ \t]{{1,4}}(?P<s>[^\s\"'`]{{1,}})"),
        _new,
    ),
    Rule(
        "bare",
        _SECRET_WORDS,
        re.compile(
            rf"(?P<n>{_NAMES}(?!s?[_-]?(?:type|count|limit|url|uri|path|name|id|ttl|length|field|expir\w{{0,5}})\b){_TAIL})"
            rf"(?:{_QUOTE}\]?)?(?P<sep>{_SEPARATOR})"
            r"(?P<s>[^\s\"'`,;&(){}\[\]<>\\|]++)(?![(\[])(?P<more>[ \t]{1,4}\w)?",
        ),
        _bare_value,
    ),
)
"""In the order in which they are tried."""

WORD = re.compile(r"[A-Za-z0-9_-]*")
WORD_RULES = tuple(rule for rule in RULES if rule.name == "provider")
"""A text that is one word, such as most keys of JSON, can hold no other shape: all others need a sign between."""

TRIGGERS = re.compile("|".join(sorted({re.escape(word) for rule in RULES for word in rule.words})))
"""Without any of these in the lower-cased text no rule can match."""
