"""Small texts that carry a meaning: references, ids, money, times, grants, globs, versions."""

from collections.abc import Callable
from random import Random

from pydantic import TypeAdapter, ValidationError

from remit.contract.deadlines import deadline_rule, in_utc, parse_deadline, seconds_until
from remit.contract.references import artefact_reference, parse_reference, repo_reference
from remit.ids import is_id
from remit.policy.model import Money
from remit.policy.permissions import covers, covers_path, is_branch, is_grant, is_path_glob
from remit.redaction import is_secret_name
from remit.subjects import git_subject
from supervisor.checks.envelope import version_fits
from supervisor.dataflow import split_repository_reference, split_task_reference

from ..making import documents, odd, texts
from ..target import LawBrokenError, Target

LEAST = 64_000
_REFERENCES = (
    *(repo_reference("svc", "0f" * 20), "repo://svc@main", "artefact://sha256/" + "ab" * 32, "artefact://a/b"),
    *("file://notes/a.md", "input://repo", "task://code/revision", "jira:ABC-1", "repo://svc@commit:0f0f"),
)
_TIMES = (
    "2026-07-19T12:00:00Z",
    "2026-07-19t12:00:00.123456+05:30",
    "9999-12-31T23:59:59Z",
    "2024-02-29T00:00:00-12:00",
)
_MONEY = ("0.25", "0", "1000000.000001", "1E+3", "99999999999.99", "1e-6")
_GRANTS = ("none", "read-only", "execute", "read-write:feature/a", "read-write:*")
_GLOBS = ("src/**", "**", "tests/*.py", "a/b/c.txt", "src/[a-z]*")
_VERSIONS = ("3.11.7", ">=3.11,<4", "5.2", "~=1.4", "1!2.0rc1+x", "==3.*", "===abc")
_IDS = ("w1", "user:priya", "a.b_c-d", "A" * 128)
_MONEY_OF = TypeAdapter(Money)
Words = tuple[str, str]


def _of(right: tuple[str, ...]) -> Callable[[Random], Words]:
    """A right word after changes, and one beside it."""

    def make(dice: Random) -> Words:
        word = texts.mutated(dice, dice.choice(right), most=1) if dice.randrange(8) else odd.text(dice)
        return word, dice.choice(right)

    return make


def _reference(given: Words) -> bool:
    word, _ = given
    found = parse_reference(word, ("jira",))
    git_subject(word)
    split_task_reference(word)
    if found is not None and found.kind == "repo":
        split_repository_reference(word)
        if found.is_resolved and parse_reference(repo_reference(found.name, found.detail)) != found:
            raise LawBrokenError("a resolved commit does not read back")
    if found is not None and found.kind == "artefact" and artefact_reference(found.detail) != word:
        raise LawBrokenError("a resolved artefact does not read back")
    return found is not None


def _time(given: Words) -> bool:
    word, _ = given
    if deadline_rule(word, documents.AT, 10**9) is not None:
        return False
    if parse_deadline(in_utc(word)) != parse_deadline(word) or seconds_until(word, documents.AT) < 1:
        raise LawBrokenError("a deadline in UTC is another one")
    return True


def _money(given: Words) -> bool:
    word, _ = given
    try:
        amount = _MONEY_OF.validate_python(word, strict=True)
    except ValidationError:
        return False
    if not amount.is_finite() or amount < 0 or _MONEY_OF.validate_python(str(amount)) != amount:
        raise LawBrokenError("an amount that is taken does not read back")
    return True


def _grant(given: Words) -> bool:
    word, right = given
    is_taken = is_grant(word)
    if is_taken:
        covers([right], word)
        covers([word], right)
        is_branch(word.partition(":")[2])
    return is_taken


def _glob(given: Words) -> bool:
    word, right = given
    if is_path_glob(word):
        covers_path([right], word)
        covers_path([word], right)
        return True
    return False


def _version(given: Words) -> bool:
    word, right = given
    return version_fits(right, word.strip()) if word.strip() else False


def _id(given: Words) -> bool:
    word, _ = given
    is_secret_name(word)
    if is_id(word) and not word.isascii():
        raise LawBrokenError("an id that is no plain text")
    return is_id(word)


TARGETS = (
    Target("word.reference", _of(_REFERENCES), _reference, LEAST),
    Target("word.time", _of(_TIMES), _time, LEAST),
    Target("word.money", _of(_MONEY), _money, LEAST),
    Target("word.grant", _of(_GRANTS), _grant, LEAST),
    Target("word.glob", _of(_GLOBS), _glob, LEAST),
    Target("word.version", _of(_VERSIONS), _version, LEAST),
    Target("word.id", _of(_IDS), _id, LEAST),
)
