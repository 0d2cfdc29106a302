"""References and aliases as the artefact store takes them, and stored bytes that are others than they should be."""

import re
from random import Random

from remit.artefacts import ArtefactStore

from ..making import odd, texts
from ..target import LawBrokenError, Target

_STORE = "memory://fuzz-artefacts"
_DATA = b"what is stored"


def _word(dice: Random) -> str:
    right = dice.choice(
        ("artefact://sha256/" + "ab" * 32, "ab" * 32, "reports/newest", ArtefactStore(_STORE).put(_DATA).sha256)
    )
    return texts.mutated(dice, right) if dice.randrange(5) else dice.choice((right, odd.text(dice)))


def _asked(given: str) -> bool:
    """Any word may be asked for; what comes back is what was stored."""
    store = ArtefactStore(_STORE)
    if store.has(given) and store.get(given) != _DATA:
        raise LawBrokenError("other bytes than were stored")
    return store.has(given)


def _alias(given: str) -> bool:
    store = ArtefactStore(_STORE)
    store.name(given, "ab" * 32)
    return store.named(given) == "ab" * 32


_URLS = ("s3://bucket/x", "file:///nowhere/x", "memory://x", "/nowhere/x", "nowhere", "file://host/x", "gs://a@b/c")
_SAFE = re.compile(r"(?:(?:s3|gs|file|memory)://|(?!.*::)(?!.*://))")


def _url(dice: Random) -> str:
    """A setting's value; the system lets no NUL into an environment."""
    right = dice.choice(_URLS)
    return (texts.mutated(dice, right) if dice.randrange(5) else odd.text(dice)).replace("\x00", "")


def _opened(given: str) -> bool:
    """No scheme is opened that would ask a network before it is used."""
    if not _SAFE.match(given):
        return False
    return not ArtefactStore(given).has("ab" * 32)


TARGETS = (
    Target("artefact.reference", _word, _asked, least=5_000),
    Target("artefact.url", _url, _opened),
    Target("artefact.alias", _word, _alias, least=5_000),
)
