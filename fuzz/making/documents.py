"""The documents that people hand in: the examples and the shipped policy as they stand, and what becomes of them."""

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from remit.documents import parse
from remit.policy import load
from remit.policy.model import Policy

from . import bombs, texts, trees

AT = datetime(2026, 7, 19, 10, tzinfo=UTC)
"""When all documents are judged."""
_EXAMPLES = Path(__file__).parents[2] / "examples"
_WORKFLOWS = (
    *("contracts/password-reset-contract.json", "contracts/product-review-envelope.json"),
    *("password_reset/workflow.yaml", "parallel/workflow.yaml"),
)
_COMMIT = "0f" * 20  # where an example leaves it to be filled in
_SMALL = """
schema_version: workflow-v1
owner: user:priya
objective: Count the words
definition_of_done: [it works]
limits: {deadline: "2026-07-20T12:00:00Z", max_cost_gbp: "1.50", max_tokens: 9000}
commands: {suite: {argv: [python3, -m, pytest, "{report}"], report: junit}}
checks: {it works: [{id: works, kind: command, task: b, command: suite, holds_at: none}]}
output_schemas:
  counted: {type: object, required: [n], properties: {n: {type: integer}}, additionalProperties: false}
tasks:
  a: {task_type: shell, outputs: {n: value}, output_schema: counted, permissions: {}}
  b: {task_type: shell, depends_on: [a], inputs: {n: task://a/n}, outputs: {n: value}, permissions: {}}
"""


@cache
def workflow_texts() -> tuple[str, ...]:
    """Right workflow files as they stand: the examples, and a small one."""
    return (*((_EXAMPLES / name).read_text("utf-8").replace("{base}", _COMMIT) for name in _WORKFLOWS), _SMALL)


@cache
def workflows() -> tuple[str, ...]:
    """The same as JSON; each is valid at `AT` under the shipped policy."""
    return tuple(json.dumps(parse(text, is_json=text[:1] == "{")) for text in workflow_texts())


@cache
def policy() -> Policy:
    """The shipped policy."""
    return load.parse(load.default_text())


@cache
def policy_json() -> str:
    """The shipped policy as JSON."""
    return json.dumps(parse(load.default_text(), is_json=False))


def yaml_file(dice: Random, right: tuple[str, ...], right_json: tuple[str, ...]) -> bytes:
    """A file that is read as YAML: a right text changed by its letters or by its grammar, or a bomb."""
    return texts.as_bytes(dice, _text(dice, right, right_json, is_json=False))


def json_file(dice: Random, right_json: tuple[str, ...]) -> bytes:
    """A file that is read as JSON."""
    return texts.as_bytes(dice, _text(dice, right_json, right_json, is_json=True))


def _text(dice: Random, right: tuple[str, ...], right_json: tuple[str, ...], *, is_json: bool) -> str:
    match dice.randrange(12):
        case 0:
            return bombs.document(dice)
        case 1:
            return texts.mutated(dice, bombs.document(dice))
        case 2 | 3 | 4:
            return texts.mutated(dice, dice.choice(right))
    tree = tree_of(dice, right_json)
    return trees.as_json(dice, tree) if is_json or dice.randrange(3) else trees.as_yaml(dice, tree)


def tree_of(dice: Random, right_json: tuple[str, ...]) -> Any:  # noqa: ANN401 - any JSON value
    """A right document after a few changes to its grammar."""
    return trees.mutated(dice, dice.choice(right_json), right_json)
