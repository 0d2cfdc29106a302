"""YAML 1.2 core values out of PyYAML's event stream; only `remit.documents` imports it.

Built from events, not nodes: the composer recurses and resolves YAML 1.1 (`no` is false, dates are dates), while
events let us stop at the first anchor, tag, duplicate key or level too deep.
"""

import math
import re
from typing import Any, NoReturn

import yaml
from yaml import events

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = {"0o": (re.compile(r"0o[0-7]+"), 8), "0x": (re.compile(r"0x[0-9a-fA-F]+"), 16)}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_MAX_NUMBER_CHARACTERS = 64
_PARSER = getattr(yaml, "CLoader", yaml.Loader)


class DocumentFault(Exception):  # noqa: N818  (never leaves the room: it becomes the caller's error)
    """What is wrong with the text, and where."""


class _Open:
    """A mapping or list whose end has not come yet."""

    def __init__(self, value: dict[str, Any] | list[Any]) -> None:
        self.value = value
        self.key: str | None = None

    def add(self, value: Any, event: events.Event, *, is_text: bool) -> None:  # noqa: ANN401  (any YAML value)
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is not None:
            self.value[self.key] = value
            self.key = None
        elif not is_text or not isinstance(value, str):
            _refuse(event, "a key must be text")
        elif value in self.value:
            _refuse(event, "key stands twice")
        else:
            self.key = value


def parse_yaml(text: str, max_depth: int) -> Any:  # noqa: ANN401  (any YAML value)
    """The value of the one document in `text`; raises DocumentFault."""
    try:
        return _build(text, max_depth)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = _QUOTED.sub("…", fault.problem or "unreadable")
        raise DocumentFault(f"{place}not valid YAML: {problem}") from None
    except yaml.reader.ReaderError as fault:
        raise DocumentFault(f"not valid YAML: character {fault.position} is not allowed") from None


def _build(text: str, max_depth: int) -> Any:  # noqa: ANN401  (any YAML value)
    root = _Open([])
    stack = [root]
    for event in yaml.parse(text, Loader=_PARSER):
        _step(event, stack)
        if len(stack) > max_depth + 1:
            _refuse(event, f"nested deeper than {max_depth}")
    assert isinstance(root.value, list)  # noqa: S101  (made so three lines above)
    if not root.value:
        raise DocumentFault("the document is empty")
    return root.value[0]


def _step(event: events.Event, stack: list[_Open]) -> None:
    _check(event)
    if isinstance(event, events.DocumentStartEvent) and stack[0].value:
        _refuse(event, "a file holds one document")
    if isinstance(event, events.ScalarEvent):
        stack[-1].add(_scalar(event), event, is_text=True)
    elif isinstance(event, (events.MappingStartEvent, events.SequenceStartEvent)):
        opened = _Open({} if isinstance(event, events.MappingStartEvent) else [])
        stack[-1].add(opened.value, event, is_text=False)
        stack.append(opened)
    elif isinstance(event, events.CollectionEndEvent):
        stack.pop()


def _check(event: events.Event) -> None:
    if isinstance(event, events.AliasEvent) or getattr(event, "anchor", None):
        _refuse(event, "anchors and aliases are not allowed")
    if getattr(event, "tag", None):
        _refuse(event, "tags are not allowed")


def _refuse(event: events.Event, rule: str) -> NoReturn:
    mark = event.start_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    raise DocumentFault(f"{place}{rule}")


def _scalar(event: events.ScalarEvent) -> Any:  # noqa: ANN401  (a scalar of the core schema)
    text = event.value
    if event.style:  # quoted or a block: always text
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    return _number(event, text)


def _number(event: events.ScalarEvent, text: str) -> int | float | str:
    base = 10
    is_int = _INT.fullmatch(text)
    if text[:2] in _BASED:
        pattern, base = _BASED[text[:2]]
        is_int = pattern.fullmatch(text)
    if not is_int and not _FLOAT.fullmatch(text) and not _NO_NUMBER.fullmatch(text):
        return str(text)
    if len(text) > _MAX_NUMBER_CHARACTERS:
        _refuse(event, f"a number has more than {_MAX_NUMBER_CHARACTERS} characters")
    if is_int:
        return int(text, base)
    return _finite(event, text)


def _finite(event: events.ScalarEvent, text: str) -> float:
    number = math.inf if _NO_NUMBER.fullmatch(text) else float(text)
    if math.isinf(number):
        _refuse(event, "a number must be finite")
    return number
