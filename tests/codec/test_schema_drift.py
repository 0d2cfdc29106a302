"""The typed events and the schemas say the same, field by field; and every text field has a redaction decision."""

import ast
import inspect as source
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import NODEFAULT, inspect

from remit.codec import TOPIC_RECORDS
from remit.codec.catalogue import folder
from remit.codec.money import PRECISION, SCALE
from remit.events import base, inputs, service, transitions
from remit.events.base import Event
from remit.topics import DISPATCHES, Topic

Schema = Any
TEXT_FIELDS = Path(__file__).with_name("text_fields.json")
SIMPLE: dict[type, Schema] = {
    inspect.StrType: "string",
    inspect.IntType: "long",
    inspect.BoolType: "boolean",
    inspect.BytesType: "bytes",
    inspect.UUIDType: {"type": "string", "logicalType": "uuid"},
    inspect.DateTimeType: {"type": "long", "logicalType": "timestamp-micros"},
    inspect.DecimalType: {"type": "bytes", "logicalType": "decimal", "precision": PRECISION, "scale": SCALE},
}


def schema_of(topic: str) -> Schema:
    """The current schema of a topic, as it stands in the file."""
    return json.loads((folder() / f"{topic}.avsc").read_text("utf-8"))


def named(schema: Schema) -> Iterator[Schema]:
    """Every named type that a schema defines."""
    if isinstance(schema, list):
        for branch in schema:
            yield from named(branch)
    elif isinstance(schema, dict):
        if schema["type"] in {"record", "enum"}:
            yield schema
        for inner in [field["type"] for field in schema.get("fields", ())] + [
            schema.get("items"),
            schema.get("values"),
        ]:
            yield from named(inner)


def typed(schema: Schema) -> Schema:
    """A field's type with what it defines inside named by its full name, docs left out."""
    if isinstance(schema, list):
        return [typed(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    if schema["type"] in {"record", "enum"}:
        return f"{schema['namespace']}.{schema['name']}"
    return {key: typed(value) if key in {"items", "values"} else value for key, value in schema.items()}


def expected(node: inspect.Type) -> Schema:
    """The Avro type that a field's Python type asks for."""
    if type(node) in SIMPLE:
        return SIMPLE[type(node)]
    match node:
        case inspect.EnumType(cls=cls) | inspect.StructType(cls=cls):
            return f"remit.{cls.__name__}"
        case inspect.VarTupleType(item_type=item):
            return {"type": "array", "items": expected(item)}
        case inspect.DictType(value_type=item):
            return {"type": "map", "values": expected(item)}
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return ["null", expected(inner)]
    raise TypeError(f"{type(node).__name__} is no type of an event's field")


def default_of(field: inspect.Field) -> Schema:
    """A field's default as the schema writes it."""
    value = field.default if field.default is not NODEFAULT else field.default_factory()
    plain = msgspec.to_builtins(value, builtin_types=())
    if isinstance(field.type, inspect.DecimalType):
        assert value == 0
        return "\x00"
    return list(plain) if isinstance(plain, tuple) else plain


def struct(cls: type[msgspec.Struct]) -> inspect.StructType:
    """What msgspec knows of a record class."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    return info


def classes() -> dict[str, Any]:
    """Every record and enum class of the events, by name."""
    return {name: each for module in (base, inputs, service, transitions) for name, each in vars(module).items()}


@pytest.mark.parametrize("topic", TOPIC_RECORDS)
def test_records_and_schemas_agree(topic: str) -> None:
    """Names, order, types, nullability, defaults, docs, of the topic's record and of each one inside it."""
    assert schema_of(topic)["name"] == TOPIC_RECORDS[topic].__name__
    for schema in named(schema_of(topic)):
        cls = classes()[schema["name"]]
        if schema["type"] == "record":
            assert_same_fields(schema, struct(cls))
        else:
            assert schema["symbols"] == [member.value for member in cls]
            assert schema["default"] == schema["symbols"][0] == "UNKNOWN"


def assert_same_fields(schema: Schema, info: inspect.StructType) -> None:
    """The fields of one record are those of its class."""
    where = schema["name"]
    assert [field["name"] for field in schema["fields"]] == [field.encode_name for field in info.fields], where
    for written, field in zip(schema["fields"], info.fields, strict=True):
        assert typed(written["type"]) == expected(field.type), f"{where}.{field.name}"
        assert ("default" in written) is (not field.required), f"{where}.{field.name}"
        if not field.required:
            assert written["default"] == default_of(field), f"{where}.{field.name}"


@pytest.mark.parametrize("topic", TOPIC_RECORDS)
def test_docs_are_those_of_the_code(topic: str) -> None:
    """Each record, enum and field has a doc, and it is the line that stands in the code."""
    for schema in named(schema_of(topic)):
        cls = classes()[schema["name"]]
        assert schema["doc"].startswith(source.getdoc(cls) or "nothing"), schema["name"]
        if schema["type"] == "record":
            comments = comments_of(cls)
            assert {field["name"]: field["doc"] for field in schema["fields"]} == comments, schema["name"]


def comments_of(cls: type) -> dict[str, str]:
    """Field to the comment beside it, inherited ones first."""
    found: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        if not issubclass(each, base.Record):
            continue
        text = source.getsource(each)
        lines = text.splitlines()
        body = ast.parse(text).body[0]
        assert isinstance(body, ast.ClassDef)
        for item in body.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                found[item.target.id] = lines[(item.end_lineno or item.lineno) - 1].partition("  # ")[2]
    return found


def test_every_topic_has_its_record() -> None:
    """All topics, and the dispatches that pools share, have one record each, with a kind."""
    assert set(TOPIC_RECORDS) == {*Topic, DISPATCHES}
    assert len(set(TOPIC_RECORDS.values())) == len(TOPIC_RECORDS)
    for cls in TOPIC_RECORDS.values():
        fields = [field.name for field in struct(cls).fields]
        assert fields[: len(struct(Event).fields) + 1] == [*(field.name for field in struct(Event).fields), "kind"]


def text_fields() -> set[str]:
    """Each field that can hold text or bytes, as `Record.field`."""
    seen = {
        schema["name"] for topic in TOPIC_RECORDS for schema in named(schema_of(topic)) if schema["type"] == "record"
    }
    inherited = {field.name for field in struct(Event).fields}
    events = set(TOPIC_RECORDS.values())
    found = {f"Event.{field.name}" for field in struct(Event).fields if holds_text(field.type)}
    for cls in (classes()[name] for name in seen):
        own = (field for field in struct(cls).fields if cls not in events or field.name not in inherited)
        found |= {f"{cls.__name__}.{field.name}" for field in own if holds_text(field.type)}
    return found


def holds_text(node: inspect.Type) -> bool:
    """Whether a value of this type may be text that somebody wrote; a nested record's own fields count for it."""
    match node:
        case inspect.StrType() | inspect.BytesType() | inspect.DictType():
            return True
        case inspect.VarTupleType(item_type=item):
            return holds_text(item)
        case inspect.UnionType(types=types):
            return any(holds_text(each) for each in types)
    return False


def test_every_text_field_has_a_redaction_decision() -> None:
    """REDACT-2: a new text field fails here until it is decided what becomes of a secret in it."""
    content = json.loads(TEXT_FIELDS.read_text("utf-8"))
    decisions = {name: decision for decision, names in content["fields"].items() for name in names}
    assert sum(len(names) for names in content["fields"].values()) == len(decisions)
    assert set(content["fields"]) == set(content["decisions"])
    assert set(decisions) == text_fields()
