"""Policy files; and a right workflow under whatever policy was taken."""

import json
from random import Random

from remit.contract import normal
from remit.contract.gate import normalise
from remit.errors import ContractInvalidError
from remit.policy import load

from ..making import documents
from ..target import Target


def _file(dice: Random) -> bytes:
    return documents.yaml_file(dice, (load.default_text(),), (documents.policy_json(),))


def _tree(dice: Random) -> bytes:
    """Changed by its grammar alone: more of these are taken."""
    return json.dumps(documents.tree_of(dice, (documents.policy_json(),))).encode()


def _taken(given: bytes) -> bool:
    load.sha256(_text(given))
    load.parse(_text(given))
    return True


def _text(given: bytes) -> str:
    """As `load.read` reads it."""
    try:
        return given.decode()
    except UnicodeDecodeError:
        return given.decode(errors="replace")


def _judging(given: bytes) -> bool:
    """A policy that is taken can judge: whatever it says, a workflow is valid under it or has its faults."""
    policy = load.parse(_text(given))
    valid = 0
    for text in documents.workflows():
        try:
            normal.encode(normalise(json.loads(text), policy, now=documents.AT))
            valid += 1
        except ContractInvalidError:
            continue
    return valid > 0


TARGETS = (
    Target("policy.file", _file, _taken, least=1_000),
    Target("policy.judging", _tree, _judging, least=1_000),
)
