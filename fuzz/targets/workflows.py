"""Workflow files, bare contracts and task envelopes: as `remit check` and `submit` read them, and as drafts."""

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from remit import documents
from remit.artefacts import ArtefactStore
from remit.client import submission
from remit.client.policies import InForce
from remit.contract import normal
from remit.contract.amend import amend, amended
from remit.contract.document import as_document
from remit.contract.gate import normalise
from remit.contract.resolve import unresolved
from remit.faults import render
from remit.policy import load

from ..making import documents as right
from ..target import LawBrokenError, Target

_DEADLINE = '"deadline": "2026-07-20T12:00:00Z", '


def _yaml(dice: Random) -> bytes:
    return right.yaml_file(dice, right.workflow_texts(), right.workflows())


def _json(dice: Random) -> bytes:
    return right.json_file(dice, right.workflows())


def _checked(given: bytes, *, is_json: bool) -> bool:
    """What `remit check` does; a valid workflow's normal form reads back as itself."""
    document = documents.parse(given, is_json=is_json)
    workflow = normalise(document, right.policy(), now=right.AT)
    for each in unresolved(document, right.policy().reference_schemes):
        render(each.path)
    if normal.decode(normal.encode(workflow)) != workflow:
        raise LawBrokenError("a normal form does not read back as itself")
    for task_id in workflow.tasks:
        normal.task_hash(workflow, task_id)
    return True


def _checked_yaml(given: bytes) -> bool:
    return _checked(given, is_json=False)


def _checked_json(given: bytes) -> bool:
    return _checked(given, is_json=True)


@cache
def _rules() -> InForce:
    text = load.default_text()
    return InForce(
        load.sha256(text), "user:ops", right.AT, text, load.parse(text).model_copy(update={"repositories": {}})
    )


def _submitted(dice: Random) -> bytes:
    """Without a deadline: `submit` judges by the clock on the wall, and a right one would be late some day."""
    return right.json_file(dice, tuple(text.replace(_DEADLINE, "") for text in right.workflows()))


def _prepared(given: bytes) -> bool:
    """What `remit submit` does before it writes; no repository is at hand, and no file beside the workflow's."""
    document = documents.parse(given, is_json=True)
    chosen = submission.own_id(document) or "w1"
    submission.under(document, "w2")
    event = submission.prepare(
        document, chosen, _rules(), ArtefactStore("memory://fuzz"), Path(__file__).parent / "none"
    )
    json.loads(event.document)
    return True


def _draft(dice: Random) -> tuple[int, str]:
    """Which workflow is in force, and a draft of its next version."""
    at = dice.randrange(len(_in_force()))
    base = json.dumps(as_document(_in_force()[at], right.policy().output_schemas))
    return at, json.dumps(right.tree_of(dice, (base,)))


@cache
def _in_force() -> tuple[normal.Workflow, ...]:
    """The workflows whose references are resolved: a draft of another would always be refused for that."""
    found = [json.loads(text) for text in right.workflows()]
    whole = [each for each in found if not unresolved(each, right.policy().reference_schemes)]
    return tuple(normalise(each, right.policy(), now=right.AT) for each in whole)


def _amended(given: tuple[int, str]) -> bool:
    at, text = given
    draft: Any = documents.parse(text, is_json=True)
    amended(_in_force()[at], draft, right.policy(), now=right.AT)  # from outside: what it widens is told
    amend(_in_force()[at], draft, right.policy(), now=right.AT)
    return True


TARGETS = (
    Target("workflow.yaml", _yaml, _checked_yaml),
    Target("workflow.json", _json, _checked_json),
    Target("workflow.submit", _submitted, _prepared),
    Target("workflow.amend", _draft, _amended),
)
