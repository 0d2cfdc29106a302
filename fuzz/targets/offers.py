"""What a worker reads of an offer, and what a handler reads of its dispatch file."""

from functools import cache
from random import Random

import msgspec

from remit.contract.handout import read_handout
from remit.events.base import Evidence
from workers.plan import plan

from .. import coming
from ..making import bombs, documents, events, texts, trees
from ..target import Target


@cache
def _contract() -> str:
    terms = coming.offer().offer
    return terms.contract if terms is not None else ""


def _handout(dice: Random) -> str:
    match dice.randrange(8):
        case 0:
            text = _contract()[:-1] + ', "workflow": ' + bombs.document(dice) + "}"
        case 1 | 2:
            text = texts.mutated(dice, _contract())
        case _:
            text = trees.as_json(dice, documents.tree_of(dice, (_contract(),)))
    return text.encode(errors="replace").decode()  # an offer's text is UTF-8


def _planned(given: str) -> bool:
    """As the worker's service reads it: what is no handout is declined."""
    try:
        handout = read_handout(given)
    except msgspec.MsgspecError:
        return False
    dice = Random(given)  # noqa: S311 - bad input, not a secret
    plan(handout, [events.record(dice, Evidence)])
    return True


TARGETS = (Target("offer.handout", _handout, _planned),)
