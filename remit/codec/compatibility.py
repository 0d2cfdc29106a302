"""Whether a schema may follow another: FULL_TRANSITIVE, and the rules beyond it that our history needs. Pure.

Every topic is read from its first record, and old workers stay online beside new ones, so each version must read what
each other version wrote, with the same meaning. That leaves little that may change: docs, fields that come or go with
a default, enum symbols added at the end. All else is named here as a violation. The rules are stricter than a
registry's: those see neither logical types nor the order of symbols nor a default that changed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Any
"""A schema as JSON: a name, a list of branches, or an object."""
NAMED = frozenset({"record", "enum", "fixed"})
MEANING = ("logicalType", "precision", "scale", "size")


def violations(old: Schema, new: Schema) -> tuple[str, ...]:
    """What keeps `new` from following `old`, each as `path: rule`; empty when nothing does."""
    return tuple(dict.fromkeys(_Comparison(_names(old), _names(new)).compare(old, new, "")))


def soundness(schema: Schema) -> tuple[str, ...]:
    """What one schema lacks, whatever came before: an enum without a default that it knows can't grow."""
    return tuple(
        f"{name}: an enum needs the default UNKNOWN as its first symbol"
        for name, each in _names(schema).items()
        if each["type"] == "enum" and not each["symbols"][0] == each.get("default") == "UNKNOWN"
    )


def _names(schema: Schema) -> dict[str, dict[str, Any]]:
    """Every named type that a schema defines, by full name."""
    found: dict[str, dict[str, Any]] = {}
    _collect(schema, "", found)
    return found


def _collect(schema: Schema, namespace: str, found: dict[str, dict[str, Any]]) -> None:
    if isinstance(schema, list):
        for branch in schema:
            _collect(branch, namespace, found)
    elif isinstance(schema, dict):
        space = schema.get("namespace", namespace)
        if schema["type"] in NAMED:
            found[f"{space}.{schema['name']}".removeprefix(".")] = schema
        for inner in _inner(schema):
            _collect(inner, space, found)


def _inner(schema: Mapping[str, Any]) -> Iterator[Schema]:
    yield from (field["type"] for field in schema.get("fields", ()))
    yield from (schema[key] for key in ("items", "values") if key in schema)


class _Comparison:
    """One comparison of two schemas; each pair of named types is compared once."""

    def __init__(self, old_names: Mapping[str, Any], new_names: Mapping[str, Any]) -> None:
        self.old_names, self.new_names = old_names, new_names
        self.seen: set[str] = set()

    def compare(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        old, new = self.old_names.get(_key(old), old), self.new_names.get(_key(new), new)
        if isinstance(old, list) and isinstance(new, list):
            yield from self._unions(old, new, path)
        elif _kind(old) != _kind(new):
            yield f"{_at(path)}: type changed from {_kind(old)} to {_kind(new)}"
        elif isinstance(old, dict) and isinstance(new, dict):
            yield from self._complex(old, new, path)

    def _complex(self, old: dict[str, Any], new: dict[str, Any], path: str) -> Iterator[str]:
        if old["type"] in NAMED:
            name = old["name"]
            if name != new["name"] or old.get("namespace") != new.get("namespace"):
                yield f"{_at(path)}: {old['type']} {name} was renamed"
                return
            if name in self.seen:
                return
            self.seen.add(name)
        yield from (f"{_at(path)}: {key} changed" for key in MEANING if old.get(key) != new.get(key))
        match old["type"]:
            case "record":
                yield from self._records(old, new, path)
            case "enum":
                yield from _enums(old, new, path)
            case "array" | "map":
                yield from self.compare(next(_inner(old)), next(_inner(new)), f"{path}[]")

    def _records(self, old: dict[str, Any], new: dict[str, Any], path: str) -> Iterator[str]:
        before = {field["name"]: field for field in old["fields"]}
        after = {field["name"]: field for field in new["fields"]}
        for name, field in after.items():
            if name not in before and "default" not in field:
                yield f"{_at(path, name)}: added without a default"
        for name, field in before.items():
            if name in after:
                yield from self._fields(field, after[name], _at(path, name))
            elif "default" not in field:
                yield f"{_at(path, name)}: removed, and old readers have no default for it"

    def _fields(self, old: dict[str, Any], new: dict[str, Any], path: str) -> Iterator[str]:
        absent = object()
        if repr(old.get("default", absent)) != repr(new.get("default", absent)):
            yield f"{path}: default changed"
        yield from self.compare(old["type"], new["type"], path)

    def _unions(self, old: list[Schema], new: list[Schema], path: str) -> Iterator[str]:
        if len(old) != len(new):
            yield f"{_at(path)}: branches of the union changed"
            return
        for before, after in zip(old, new, strict=True):
            yield from self.compare(before, after, path)


def _enums(old: dict[str, Any], new: dict[str, Any], path: str) -> Iterator[str]:
    if new["symbols"][: len(old["symbols"])] != old["symbols"]:
        yield f"{_at(path)}: symbols of enum {old['name']} were removed, renamed or put in another order"
    if old.get("default") != new.get("default"):
        yield f"{_at(path)}: default of enum {old['name']} changed"


def _kind(schema: Schema) -> str:
    if isinstance(schema, list):
        return "union"
    if not isinstance(schema, dict):
        return str(schema)
    return str(schema["type"])


def _key(schema: Schema) -> str:
    return schema if isinstance(schema, str) else ""


def _at(path: str, name: str = "") -> str:
    return ".".join(step for step in (path, name) if step) or "the record"
