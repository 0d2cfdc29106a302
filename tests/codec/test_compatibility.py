"""The check that each new schema passes: what it lets through, what it names; judged beside Avro's own checker."""

import copy
import json
from typing import Any

import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.schema import parse
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.codec.catalogue import catalogue
from remit.codec.compatibility import soundness, violations

KIND = {"type": "enum", "name": "Kind", "namespace": "r", "symbols": ["UNKNOWN", "a", "b"], "default": "UNKNOWN"}
INNER: dict[str, Any] = {
    "type": "record",
    "name": "Inner",
    "namespace": "r",
    "fields": [{"name": "x", "type": "long"}, {"name": "y", "type": ["null", "string"], "default": None}],
}
MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 18, "scale": 6}
OLD: dict[str, Any] = {
    "type": "record",
    "name": "Outer",
    "namespace": "r",
    "fields": [
        {"name": "kind", "type": KIND},
        {"name": "count", "type": "long"},
        {"name": "inner", "type": ["null", INNER], "default": None},
        {"name": "more", "type": {"type": "array", "items": "r.Inner"}, "default": []},
        {"name": "cost", "type": MONEY},
        {"name": "flag", "type": "boolean", "default": False},
        {"name": "env", "type": {"type": "map", "values": "string"}, "default": {}},
    ],
}


def changed(*path: Any, to: Any = None) -> dict[str, Any]:
    """The schema with what lies at `path` replaced, or taken away."""
    schema = copy.deepcopy(OLD)
    place: Any = schema["fields"]
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return schema


def with_field(field: dict[str, Any], at: int = 99) -> dict[str, Any]:
    """The schema with a field more."""
    schema = copy.deepcopy(OLD)
    schema["fields"].insert(at, field)
    return schema


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        OLD | {"doc": "other words"},
        with_field({"name": "new", "type": ["null", "string"], "default": None}),
        with_field({"name": "new", "type": "long", "default": 0}, at=0),
        changed(0, "type", "symbols", to=["UNKNOWN", "a", "b", "c"]),
        changed(2, "type", 1, "fields", to=[*INNER["fields"], {"name": "z", "type": "long", "default": 1}]),
        changed(5),
        changed(1, "doc", to="words"),
    ],
)
def test_what_may_change(new: dict[str, Any]) -> None:
    """Docs, fields that come or go with a default, symbols at the end."""
    assert violations(OLD, new) == ()
    assert avro_reads(OLD, new)


@pytest.mark.parametrize(
    ("new", "named"),
    [
        (with_field({"name": "new", "type": "long"}), "new: added without a default"),
        (changed(1), "count: removed, and old readers have no default for it"),
        (changed(1, "type", to="int"), "count: type changed from long to int"),
        (changed(1, "type", to=["null", "long"]), "count: type changed from long to union"),
        (changed(1, "name", to="number"), "number: added without a default"),
        (changed(0, "type", "symbols", to=["UNKNOWN", "b", "a"]), "kind: symbols of enum Kind were removed"),
        (changed(0, "type", "symbols", to=["UNKNOWN", "a", "c"]), "kind: symbols of enum Kind were removed"),
        (changed(0, "type", "symbols", to=["UNKNOWN", "a"]), "kind: symbols of enum Kind were removed"),
        (changed(0, "type", "symbols", to=["UNKNOWN", "x", "a", "b"]), "kind: symbols of enum Kind were removed"),
        (changed(0, "type", "name", to="Sort"), "kind: enum Kind was renamed"),
        (changed(0, "type", "default"), "kind: default of enum Kind changed"),
        (changed(2, "type", 1, "fields", 0, "type", to="string"), "inner.x: type changed from long to string"),
        (changed(2, "type", to=["null", INNER, "string"]), "inner: branches of the union changed"),
        (changed(3, "type", "items", to="string"), "more[]: type changed from record to string"),
        (changed(4, "type", "scale", to=2), "cost: scale changed"),
        (changed(4, "type", "precision", to=12), "cost: precision changed"),
        (changed(4, "type", "logicalType"), "cost: logicalType changed"),
        (changed(5, "default", to=True), "flag: default changed"),
        (changed(5, "default"), "flag: default changed"),
        (changed(6, "type", "values", to="long"), "env[]: type changed from string to long"),
        (OLD | {"name": "Other"}, "the record: record Outer was renamed"),
    ],
)
def test_what_may_not_change(new: dict[str, Any], named: str) -> None:
    """AVRO-1: reordered or renamed symbols, changed types, fields without default; each is named by its path."""
    assert [each for each in violations(OLD, new) if each.startswith(named)], violations(OLD, new)


def test_an_enum_must_be_able_to_grow() -> None:
    """An enum without the default UNKNOWN would break old readers with its first new symbol."""
    assert soundness(OLD) == ()
    assert soundness(changed(0, "type", "default")) == (
        "r.Kind: an enum needs the default UNKNOWN as its first symbol",
    )
    assert len(soundness(changed(0, "type", "symbols", to=["a", "UNKNOWN"]))) == 1


def avro_reads(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether Avro's own checker lets each read what the other wrote."""
    pair = parse(json.dumps(old)), parse(json.dumps(new))
    checker: Any = ReaderWriterCompatibilityChecker
    return all(
        checker().get_compatibility(reader=reader, writer=writer).compatibility is SchemaCompatibilityType.compatible
        for reader, writer in (pair, pair[::-1])
    )


TYPES: list[Any] = [
    "long",
    "string",
    "boolean",
    ["null", "long"],
    ["null", "string"],
    {"type": "array", "items": "long"},
]
DEFAULTS: list[Any] = [0, "", False, None, None, []]


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Small records over few names, types and symbols, so that two of them are often close to each other."""
    names = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4))
    fields: list[dict[str, Any]] = []
    for name in names:
        number = draw(st.integers(0, len(TYPES) - 1))
        default = {"default": DEFAULTS[number]} if draw(st.booleans()) else {}
        fields.append({"name": name, "type": TYPES[number], **default})
    symbols = ["UNKNOWN", *draw(st.lists(st.sampled_from("xyz"), unique=True))]
    kind = {"type": "enum", "name": "Kind", "symbols": symbols, "default": "UNKNOWN"}
    return {"type": "record", "name": "R", "namespace": "r", "fields": [{"name": "kind", "type": kind}, *fields]}


@given(schemas(), schemas())
@settings(max_examples=150, deadline=None)
def test_what_it_lets_through_avro_lets_through_too(old: dict[str, Any], new: dict[str, Any]) -> None:
    """The check is never laxer than Avro's own: without a violation, each schema reads the other's records."""
    if not violations(old, new):
        assert avro_reads(old, new)
    assert violations(old, old) == ()


def test_todays_schemas_are_sound_for_avro() -> None:
    """Avro's own parser takes every registered text, and finds it compatible with itself."""
    for entry in catalogue().entries:
        schema = catalogue().schema(entry)
        assert avro_reads(schema, schema)
        assert soundness(schema) == ()
