"""Output schemas that a contract brings, results against them, and the registry's own requests."""

import json
from random import Random

from remit.codec.catalogue import catalogue
from remit.codec.registry import Registry
from remit.contract.normal import Limits, OutputKind, OutputSchema, Permissions, TaskContract
from remit.events.base import InputVersion
from remit.ids import canonical_json
from remit.policy.output_schemas import schema_faults, validate_output
from supervisor.checks.outputs import read_outputs

from ..making import bombs, documents, odd, raw, texts, trees
from ..target import LawBrokenError, Target

_SCHEMAS = tuple(
    map(
        json.dumps,
        (
            {
                "type": "object",
                "required": ["report"],
                "properties": {
                    "report": {"type": "string", "pattern": "^[a-z]+$", "minLength": 1},
                    "n": {"type": "integer", "minimum": 0, "multipleOf": 3},
                    "when": {"type": "string", "format": "date-time"},
                    "list": {"type": "array", "items": {"$ref": "#/$defs/one"}, "uniqueItems": True, "maxItems": 5},
                },
                "additionalProperties": False,
                "$defs": {"one": {"type": "object", "properties": {"next": {"$ref": "#/$defs/one"}}}},
            },
            {
                "type": "object",
                "required": ["a"],
                "patternProperties": {"^x-": {"enum": [1, "a", None]}},
                "propertyNames": {"maxLength": 9},
                "if": {"required": ["b"]},
                "then": {"required": ["c"]},
                "allOf": [{"minProperties": 1}, {"not": {"required": ["d"]}}],
                "dependentRequired": {"a": ["b"]},
                "unevaluatedProperties": False,
            },
        ),
    )
)
_OUTPUTS = tuple(
    map(
        json.dumps,
        (
            {"report": "fine", "n": 3, "when": "2026-07-19T12:00:00Z", "list": [{"next": {"next": {}}}, {}]},
            {"a": 1, "b": 2, "c": 3, "x-1": "a"},
            {"report": {"artefact_ref": f"artefact://sha256/{'ab' * 32}", "sha256": "ab" * 32, "size": 5}},
        ),
    )
)
_SLOW = (
    "(a+)+$",
    "(?:a|a)*b",
    "a{1,99999}",
    "(a{1,99}){1,99}",
    "[",
    "(?=a)b",
    "\\1",
    "\\p{L}+",
    "^(\\w+\\s?)*$",
    "(?i)É",
)


_DECLARED = (
    dict.fromkeys(("report", "n", "when", "list"), OutputKind.VALUE),
    dict.fromkeys(("a", "b", "c", "x-1"), OutputKind.VALUE),
    {"report": OutputKind.REPORT},
    {"report": OutputKind.REVISION},
)


def _schema(dice: Random) -> str:
    tree = documents.tree_of(dice, _SCHEMAS)
    if not dice.randrange(4) and isinstance(tree, dict) and isinstance(tree.get("properties"), dict):
        tree["properties"]["slow"] = {"type": "string", "pattern": dice.choice(_SLOW)}
    return trees.as_json(dice, tree)


def _judges(given: str) -> bool:
    """A schema without a fault judges any output; one with faults says where."""
    try:
        schema = json.loads(given)
        text = canonical_json(schema).decode() if isinstance(schema, dict) else ""
    except (ValueError, RecursionError):
        return False  # it comes from a document, whose reader and gate refused it
    if not text or schema_faults(schema, ("output_schemas", "x")):
        return False
    for output in _OUTPUTS:
        validate_output(text, json.loads(output))
    return True


def _against(dice: Random) -> tuple[int, str]:
    """Which schema, and the text of an output."""
    at = dice.randrange(len(_DECLARED))
    right = _OUTPUTS[min(at, len(_OUTPUTS) - 1)]
    text = texts.mutated(dice, right) if not dice.randrange(3) else ""
    return at, (text or trees.as_json(dice, documents.tree_of(dice, (right, *_OUTPUTS)))).encode(
        errors="replace"
    ).decode()


def _read(given: tuple[int, str]) -> bool:
    """As the supervisor reads a result's output; the same text gives the same faults."""
    at, output = given
    schema = OutputSchema(name="told", text=canonical_json(json.loads(_SCHEMAS[at % len(_SCHEMAS)])).decode())
    task = TaskContract(
        task_id="a",
        task_type="a",
        capability="a",
        pool="a",
        objective="a",
        outputs=dict(_DECLARED[at]),
        permissions=Permissions(grants={}),
        limits=Limits(),
        output_schema=schema if at < len(_SCHEMAS) else None,
    )
    given_in = (InputVersion(name="repo", kind="git", reference=f"repo://svc@commit:{'0f' * 20}"),)
    found = read_outputs(task, given_in, output)
    if found != read_outputs(task, given_in, output):
        raise LawBrokenError("the same output has other faults the second time")
    if not all(fault.isprintable() for fault in found.faults):
        raise LawBrokenError("a fault holds what no terminal can show")
    return not found.faults


_PATHS = (
    "/subjects/remit.results-value/versions/latest",
    "/schemas/ids/7000001/schema",
    "/config",
    "/subjects/x/versions",
)


def _request(dice: Random) -> tuple[str, str, bytes]:
    target = dice.choice(_PATHS)
    target = texts.mutated(dice, target) if dice.randrange(4) else dice.choice(odd.TEXTS) + target
    deep = b'{"schema": ' + bombs.document(dice).encode() + b"}"
    body = (
        deep
        if not dice.randrange(8)
        else raw.mutated(dice, b'{"schema": "{\\"type\\": \\"string\\"}", "schemaType": "AVRO"}')
    )
    return dice.choice(("GET", "POST", "PUT")), target if dice.randrange(3) else "/subjects/remit.results-value", body


def _answered(given: tuple[str, str, bytes]) -> bool:
    answer = Registry(catalogue(), "remit.").answer(*given)
    json.dumps(answer.body).encode()
    return answer.status == 200  # noqa: PLR2004 - as the wire has it


TARGETS = (
    Target("schema.judging", _schema, _judges),
    Target("schema.output", _against, _read),
    Target("registry.request", _request, _answered, least=5_000),
)
