"""Output schemas: which ones a policy or contract may bring, and whether a result's output meets one.

Pure and bounded: patterns run on a linear-time engine, formats are checked or the schema is refused, references
stay inside the schema, depth and key count have ceilings. Policy, contract gate and supervisor import it.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import jsonschema_rs
from jsonschema_rs import Draft202012Validator, RegexOptions

from remit.faults import Fault, Path, quote, unknown_key
from remit.ids import canonical_json

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_DEPTH = 64
MAX_KEYS = 20_000  # mapping keys and list items of one output, all levels together
MAX_FAULTS = 20

# Keywords by what stands behind them, so that misspelled ones are found on every level.
_HOLDS_SCHEMA = """
additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties
"""
_HOLDS_VALUE = """
$anchor $comment $dynamicAnchor $dynamicRef $id $ref $schema const contentEncoding contentMediaType default
dependentRequired deprecated description enum examples exclusiveMaximum exclusiveMinimum format maxContains maxItems
maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf pattern readOnly
required title type uniqueItems writeOnly
"""
_SCHEMA = frozenset(_HOLDS_SCHEMA.split())
_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED_SCHEMAS = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
_VALUES = frozenset(_HOLDS_VALUE.split())
_KEYWORDS = _SCHEMA | _SCHEMAS | _NAMED_SCHEMAS | _VALUES
_REFERENCES = ("$ref", "$dynamicRef")


def schema_faults(schema: Mapping[str, Any], path: Path) -> tuple[Fault, ...]:
    """Why a schema can't judge outputs, each at its place below `path`; empty if it can."""
    found = list(_keyword_faults(schema, path))
    if schema.get("type") != "object":
        found.append(Fault((*path, "type"), "must be object: an output has one key per declared output"))
    if not _is_canonical(schema):
        found.append(Fault(path, "holds a number beyond 2**53"))
    if not found:
        found.extend(_compile_faults(schema, path))
    return tuple(found)


def _is_canonical(schema: Mapping[str, Any]) -> bool:
    """Whether a contract can embed it."""
    try:
        canonical_json(schema)
    except ValueError:
        return False
    return True


def _keyword_faults(schema: object, path: Path) -> Iterator[Fault]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        yield Fault(path, "must be a schema")
        return
    for keyword, value in schema.items():
        place = (*path, keyword)
        if keyword not in _KEYWORDS:
            yield unknown_key(place, _KEYWORDS, "a keyword of JSON Schema 2020-12")
        yield from _value_faults(keyword, value, place)


def _value_faults(keyword: str, value: object, place: Path) -> Iterator[Fault]:
    if keyword in _REFERENCES and isinstance(value, str) and not value.startswith("#"):
        yield Fault(place, f": {quote(value)} is not in this schema; references are never fetched")
    elif keyword == "$schema" and value != DIALECT:
        yield Fault(place, f"must be {DIALECT}")
    elif keyword in _SCHEMA:
        yield from _keyword_faults(value, place)
    elif keyword in _SCHEMAS and isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _keyword_faults(inner, (*place, number))
    elif keyword in _NAMED_SCHEMAS and isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _keyword_faults(inner, (*place, name))


def _compile_faults(schema: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    try:
        validator = _compile(schema)
    except jsonschema_rs.ValidationError as error:
        yield Fault((*path, *error.instance_path), _compile_rule(error))
    except ValueError:  # a pattern too large to compile
        yield Fault(path, "has a part that can't be compiled")
    else:
        if validator.is_valid({}):
            yield Fault(path, "accepts an empty object: name what is required")


def _compile_rule(error: jsonschema_rs.ValidationError) -> str:
    if error.kind.name == "format" and error.instance_path and error.instance_path[-1] == "pattern":
        return "is not a regular expression of the linear-time kind (no look-around, no back-reference)"
    if "format" in error.message.lower():
        return "names a format that can't be checked"
    return f"is not valid JSON Schema ({error.kind.name})"


def _compile(schema: Mapping[str, Any]) -> Draft202012Validator:
    return Draft202012Validator(
        dict(schema),
        validate_formats=True,
        ignore_unknown_formats=False,
        pattern_options=RegexOptions(),
        offline=True,
    )


@lru_cache(maxsize=256)
def _compiled(text: str) -> Draft202012Validator:
    return _compile(json.loads(text))


def validate_output(schema_text: str, value: object) -> tuple[str, ...]:
    """What is wrong with an output, at most 20 lines of path and rule, never a value; empty if it meets the schema.

    `schema_text` is the JSON text that a contract embeds, which passed `schema_faults`.
    """
    excess = _excess(value)
    if excess:
        return (excess,)
    lines: list[str] = []
    for error in _compiled(schema_text).iter_errors(value):
        if len(lines) == MAX_FAULTS:
            break
        lines.extend(str(fault) for fault in _output_faults(error))
    return tuple(lines[:MAX_FAULTS])


def _output_faults(error: jsonschema_rs.ValidationError) -> Iterator[Fault]:
    path: Path = ("output", *error.instance_path)
    kind = error.kind.name
    details = error.kind.as_dict()
    if kind == "required":
        yield Fault((*path, details["property"]), "is required")
    elif kind in ("additionalProperties", "unevaluatedProperties"):
        for key in details["unexpected"]:
            yield Fault((*path, key), "is not declared")
    elif kind == "type":
        yield Fault(path, f"must be {' or '.join(details['types'])}")
    elif kind == "format":
        yield Fault(path, f"is not a valid {details['format']}")
    else:
        yield Fault(path, f"breaks {kind}")


def _excess(value: object) -> str | None:
    """Which bound an output breaks; iterative, since the output may be nested arbitrarily deep."""
    keys = 0
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        inner: list[object] = []
        for part in level:
            inner.extend(part.values() if isinstance(part, dict) else part if isinstance(part, list) else ())
        keys += len(inner)
        if keys > MAX_KEYS:
            return f"output has more than {MAX_KEYS} keys and items"
        if not inner:
            return None
        level = inner
    return f"output is nested deeper than {MAX_DEPTH}"
