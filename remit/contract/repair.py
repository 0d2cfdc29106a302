"""Reads a document against its model and reports every fault at once.

Faulty parts are set aside, so that the rules that look across fields can still judge the rest. Pure; only the gate
imports it.
"""

import copy
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from remit.faults import Fault, Path
from remit.faults_pydantic import faults_of

M = TypeVar("M", bound=BaseModel)

_ROUNDS = 4
_MOST_ERRORS = 500  # beyond, the document is not worth mending
_PLACEHOLDER = "?"
_PLACEHOLDERS: dict[str, Any] = {"argv": [_PLACEHOLDER], "kind": "document"}
_ITEM_DEPTH = {"checks": 3, "commands": 2, "effects": 2}  # parts that are doubtful as a whole once one field is


@dataclass(frozen=True)
class Reading(Generic[M]):
    """What a document says: the model without its faulty parts (None where too little is left), and the faults."""

    model: M | None
    faults: tuple[Fault, ...]
    doubtful: frozenset[Path]

    def concerns_doubtful(self, path: Path) -> bool:
        """Whether a fault at `path` may only follow from one already reported."""
        return _within(path, self.doubtful) or path in self._above_doubtful

    @cached_property
    def _above_doubtful(self) -> frozenset[Path]:
        return frozenset(part[:length] for part in self.doubtful for length in range(len(part)))


def read(document: Mapping[str, Any], model: type[M]) -> Reading[M]:
    """The reading of `document` against `model`."""
    whole = dict(document)
    try:
        return Reading(model.model_validate(whole), (), frozenset())
    except ValidationError:
        return _mended(copy.deepcopy(whole), model)


def _mended(rest: dict[str, Any], model: type[M]) -> Reading[M]:
    reported: list[Fault] = []
    doubtful: set[Path] = set()
    for _ in range(_ROUNDS):
        try:
            return Reading(model.model_validate(rest), tuple(reported), frozenset(doubtful))
        except ValidationError as error:
            if error.error_count() > _MOST_ERRORS:
                return Reading(None, (*reported, *faults_of(error, model, _MOST_ERRORS)), frozenset(doubtful))
            reported += [fault for fault in faults_of(error, model) if not _within(fault.path, doubtful)]
            doubtful |= _set_aside(rest, error)
    return Reading(None, tuple(reported), frozenset(doubtful))


def _within(path: Path, doubtful: AbstractSet[Path]) -> bool:
    return any(path[:length] in doubtful for length in range(len(path) + 1))


def _set_aside(rest: dict[str, Any], error: ValidationError) -> set[Path]:
    doubtful = set()
    for detail in error.errors(include_input=False, include_url=False, include_context=False):
        path: Path = tuple(detail["loc"])
        if detail["type"] == "missing":
            _put(rest, path, _placeholder(path))
        else:
            _remove(rest, path)
        if detail["type"] != "extra_forbidden":
            doubtful.add(path[: _ITEM_DEPTH.get(str(path[0]), len(path))] if path else path)
    return doubtful


def _placeholder(path: Path) -> Any:  # noqa: ANN401  (a value of the document)
    return _PLACEHOLDERS.get(str(path[-1]), _PLACEHOLDER)


def _remove(rest: Any, path: Path) -> None:  # noqa: ANN401  (a value of the document)
    holder = _holder(rest, path)
    if isinstance(holder, dict):
        holder.pop(path[-1], None)
    elif isinstance(holder, list) and isinstance(path[-1], int) and path[-1] < len(holder):
        holder[path[-1]] = _PLACEHOLDER  # the items behind it keep their numbers


def _put(rest: Any, path: Path, value: Any) -> None:  # noqa: ANN401  (values of the document)
    holder = _holder(rest, path)
    if isinstance(holder, dict):
        holder[path[-1]] = value


def _holder(rest: Any, path: Path) -> Any:  # noqa: ANN401  (a value of the document)
    for part in path[:-1]:
        if isinstance(rest, dict):
            rest = rest.get(part)
        elif isinstance(rest, list) and isinstance(part, int) and part < len(rest):
            rest = rest[part]
        else:
            return None
    return rest
