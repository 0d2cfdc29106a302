"""Output schemas: unsound ones are refused up front, outputs are judged within bounds, and no value is told."""

# ruff: noqa: E501  (a schema and its line are read side by side)

import json
import time
from typing import Any

import pytest

from remit.policy.output_schemas import MAX_DEPTH, MAX_FAULTS, MAX_KEYS, schema_faults, validate_output

CLOSED = {"type": "object", "required": ["a"]}


def lines(schema: Any) -> list[str]:
    return [str(fault) for fault in schema_faults(schema, ("s",))]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, "s.type must be object: an output has one key per declared output"),
        ({"required": ["a"]}, "s.type must be object: an output has one key per declared output"),
        ({"type": "object"}, "s accepts an empty object: name what is required"),
        ({"type": "object", "properties": {"a": True}}, "s accepts an empty object: name what is required"),
        (
            {"type": "object", "require": ["a"]},
            "s.require is not a keyword of JSON Schema 2020-12 (did you mean required?)",
        ),
        (
            CLOSED | {"properties": {"a": {"propertis": {}}}},
            "s.properties.a.propertis is not a keyword of JSON Schema 2020-12 (did you mean properties?)",
        ),
        (
            CLOSED | {"anyOf": [{"$ref": "https://example.org/x.json"}]},
            's.anyOf[0]["$ref"]: "https://example.org/x.json" is not in this schema; references are never fetched',
        ),
        (
            CLOSED | {"properties": {"a": {"format": "colour"}}},
            "s.properties.a.format names a format that can't be checked",
        ),
        (
            CLOSED | {"properties": {"a": {"pattern": "(a)\\1"}}},
            "s.properties.a.pattern is not a regular expression of the linear-time kind (no look-around, no back-reference)",
        ),
        (
            CLOSED | {"properties": {"a": {"pattern": "(?=a)b"}}},
            "s.properties.a.pattern is not a regular expression of the linear-time kind (no look-around, no back-reference)",
        ),
        (CLOSED | {"properties": {"a": {"type": "strin"}}}, "s.properties.a.type is not valid JSON Schema (anyOf)"),
        (CLOSED | {"$schema": "http://json-schema.org/draft-07/schema#"}, None),
        (CLOSED | {"properties": {"a": 5}}, "s.properties.a must be a schema"),
        (CLOSED | {"$ref": "#/$defs/nowhere"}, None),
    ],
)
def test_a_schema_that_can_not_judge(schema: Any, expected: str | None) -> None:
    """VALID-1, VALID-3, VALID-10: empty, open, misspelled, remote, uncheckable and back-tracking schemas are refused."""
    found = lines(schema)
    assert found
    if expected:
        assert found == [expected]


def test_a_sound_schema_passes() -> None:
    """Local references, checked formats and linear patterns are fine."""
    schema = CLOSED | {
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "string", "format": "uuid", "pattern": "^(a+)+$"}},
    }
    assert lines(schema) == []


@pytest.mark.parametrize("format_", ["date-time", "uri", "uuid", "email", "date", "time", "ipv4", "ipv6", "hostname"])
def test_formats_are_checked(format_: str) -> None:
    """VALID-1: nonsense in a format is refused with its path, with what the plain install brings."""
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "format": format_}}}
    assert lines(schema) == []
    assert validate_output(json.dumps(schema), {"a": "no: sense {"}) == (f"output.a is not a valid {format_}",)


def test_faults_name_path_and_rule() -> None:
    """REDACT-3: each fault of an output says where and which rule, never what stood there."""
    schema = {
        "type": "object",
        "required": ["a"],
        "additionalProperties": False,
        "properties": {"a": True, "b": {"type": "array", "items": {"type": "string"}}, "c": {"enum": ["x"]}},
    }
    found = validate_output(json.dumps(schema), {"b": [1, "hunter2"], "c": "hunter2", "z": "hunter2"})
    assert set(found) == {
        "output.a is required",
        "output.b[0] must be string",
        "output.c breaks enum",
        "output.z is not declared",
    }


@pytest.mark.parametrize("value", [None, [], "x", 5, {}])
def test_an_output_is_an_object_with_what_is_required(value: Any) -> None:
    """VALID-3: nothing but an object with the required keys passes."""
    assert validate_output(json.dumps(CLOSED), value)
    assert validate_output(json.dumps(CLOSED), {"a": 1}) == ()


BACKTRACKING = json.dumps(CLOSED | {"properties": {"a": {"pattern": "^(a+)+$"}}})


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("output", "said", "bound"),
    [
        ({"a": "a" * 100_000}, (), 0.1),
        ({"a": "a" * 100_000 + "!"}, ("output.a breaks pattern",), 0.1),
        (nested(10_000), (f"output is nested deeper than {MAX_DEPTH}",), 1.0),
        (dict.fromkeys(map(str, range(100_000)), 1), (f"output has more than {MAX_KEYS} keys and items",), 1.0),
        ({"a": "a" * 900_000}, (), 1.0),
    ],
    ids=["pattern met", "pattern broken", "nested", "keys", "long text"],
)
def test_bounds_of_an_output(output: Any, said: tuple[str, ...], bound: float) -> None:
    """VALID-10: named bounds, a long text on its merits; in one of five tries within the case's own seconds, of the processor."""
    spent = []
    for _ in range(5):
        started = time.process_time()
        assert validate_output(BACKTRACKING, output) == said
        spent.append(time.process_time() - started)
        if spent[-1] < bound:
            return
    raise AssertionError(spent)


def test_the_list_of_faults_is_bounded() -> None:
    """A thousand wrong items give twenty lines."""
    schema = CLOSED | {"properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert len(validate_output(json.dumps(schema), {"a": list(range(1000))})) == MAX_FAULTS


@pytest.mark.parametrize("ref", ["#", "#/$defs/x"])
def test_a_schema_that_refers_to_itself_ends(ref: str) -> None:
    """A circular reference neither hangs nor kills the process."""
    schema = CLOSED | {"allOf": [{"$ref": ref}], "$defs": {"x": {"$ref": "#/$defs/x"}}}
    found = lines(schema)
    assert found == [] or all(line.startswith("s") for line in found)
