"""Turns a pydantic error into faults: path and rule in our own words, never the input.

Pure; the contract and policy rooms import it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from remit.faults import Fault, Path, unknown_key

_WORDS = {
    "missing": "is required",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "list_type": "must be a list",
    "decimal_type": "must be money as text, like '0.25'",
    "decimal_parsing": "must be money as text, like '0.25'",
    "finite_number": "must be a finite number",
}
_BOUNDS = {
    "greater_than_equal": ("must be at least {}", "ge"),
    "less_than_equal": ("must be at most {}", "le"),
    "too_short": ("must have at least {} entries", "min_length"),
    "too_long": ("must have at most {} entries", "max_length"),
    "string_too_short": ("must have at least {} characters", "min_length"),
    "string_too_long": ("must have at most {} characters", "max_length"),
    "decimal_max_places": ("must have at most {} decimal places", "decimal_places"),
    "decimal_max_digits": ("must have at most {} digits", "max_digits"),
    "decimal_whole_digits": ("must have at most {} digits before the point", "whole_digits"),
    "literal_error": ("must be one of {}", "expected"),
    "string_pattern_mismatch": ("must match {}", "pattern"),
}


def faults_of(error: ValidationError, model: type[BaseModel], most: int | None = None) -> tuple[Fault, ...]:
    """One fault per broken rule of `error`, which validating against `model` raised; at most the first `most`."""
    return tuple(_fault(detail, model) for detail in error.errors(include_input=False, include_url=False)[:most])


def _fault(detail: Mapping[str, Any], model: type[BaseModel]) -> Fault:
    path: Path = tuple(detail["loc"])
    if detail["type"] == "extra_forbidden":
        return unknown_key(path, known_keys(model, path[:-1]))
    return Fault(path, _text(detail["type"], detail.get("ctx") or {}))


def _text(kind: str, context: Mapping[str, Any]) -> str:
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return words.format(context[bound])
    if kind == "value_error":  # raised by our own validators, whose messages name rules only
        return str(context["error"])
    return _WORDS.get(kind, f"is not valid ({kind})")


def known_keys(model: type[BaseModel], path: Path) -> tuple[str, ...]:
    """The keys that the model knows at a path of its document."""
    schema = _schema(model)
    places = [schema]
    for part in path:
        places = [inner for place in places for inner in _step(place, part, schema)]
    return tuple(key for place in places for found in _concrete(place, schema) for key in found.get("properties", {}))


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _step(place: Mapping[str, Any], part: str | int, root: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for found in _concrete(place, root):
        inner = found.get("items") if isinstance(part, int) else found.get("properties", {}).get(part)
        inner = inner if inner is not None else found.get("additionalProperties")
        if isinstance(inner, dict):
            yield inner


def _concrete(place: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "$ref" in place:
        yield from _concrete(root["$defs"][place["$ref"].rsplit("/", 1)[-1]], root)
    elif "anyOf" in place:
        for inner in place["anyOf"]:
            yield from _concrete(inner, root)
    else:
        yield place
