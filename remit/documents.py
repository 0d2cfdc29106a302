"""Reads YAML 1.2 (core schema) and JSON documents into plain values, bounded in size and depth.

Contracts, policies and worker envelopes come through here. Faults name line and column or path, never a value.
Anyone may import it; only `read` touches a file.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from remit.documents_yaml import DocumentFault, parse_yaml
from remit.errors import ContractInvalidError, FaultyDocumentError
from remit.faults import quote, render

MAX_BYTES = 256 * 1024
MAX_DEPTH = 64
MAX_NUMBER_CHARACTERS = 64
# A string without an end is taken whole too: trying anew from each quote inside it would be quadratic.
_SURROGATE = re.compile(r"\\u[dD]")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"?|([\[{])|([\]}])', re.DOTALL)


def read(path: Path, *, error: type[FaultyDocumentError] = ContractInvalidError) -> dict[str, Any]:
    """The mapping in a file: JSON if its name ends in `.json`, else YAML; raises `error` with one fault.

    Raises OSError if the file can't be read.
    """
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise error([f"size: {path.stat().st_size} bytes, at most {MAX_BYTES}"])
    return parse(data, is_json=path.suffix.lower() == ".json", error=error)


def parse(
    data: bytes | str, *, is_json: bool, error: type[FaultyDocumentError] = ContractInvalidError
) -> dict[str, Any]:
    """The mapping in `data`; raises `error` with one fault."""
    try:
        text = _text(data)
        value = _parse_json(text) if is_json else parse_yaml(text, MAX_DEPTH)
        if not isinstance(value, dict):
            _refuse("the document must be a mapping")
    except DocumentFault as fault:
        raise error([str(fault)]) from None
    return value


def parse_value(data: bytes | str, *, error: type[FaultyDocumentError] = ContractInvalidError) -> Any:  # noqa: ANN401  (any JSON value)
    """The JSON value in `data`, whatever it is; raises `error` with one fault."""
    try:
        return _parse_json(_text(data))
    except DocumentFault as fault:
        raise error([str(fault)]) from None


def _refuse(text: str) -> NoReturn:
    raise DocumentFault(text)


def _text(data: bytes | str) -> str:
    size = len(data if isinstance(data, bytes) else data.encode(errors="surrogatepass"))
    if size > MAX_BYTES:
        _refuse(f"size: {size} bytes, at most {MAX_BYTES}")
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise DocumentFault(f"not UTF-8 text (byte {fault.start})") from None


class _Pairs(list[tuple[str, Any]]):
    """A JSON object before its keys were checked."""


class _TwiceError(Exception):
    """A key stands twice, it is not known where."""


def _parse_json(text: str) -> Any:  # noqa: ANN401  (any JSON value)
    _check_depth(text)
    if _encodable(text) and not _SURROGATE.search(text):
        try:
            return _loaded(text, _object)
        except _TwiceError:
            pass  # read it again, to say where
    return _plain(_loaded(text, _Pairs), ())


def _loaded(text: str, hook: Callable[[list[tuple[str, Any]]], Any]) -> Any:  # noqa: ANN401  (any JSON value)
    try:
        return json.loads(
            text, object_pairs_hook=hook, parse_constant=_no_constant, parse_int=_integer, parse_float=_float
        )
    except json.JSONDecodeError as fault:
        raise DocumentFault(f"line {fault.lineno}, column {fault.colno}: not valid JSON: {fault.msg}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError
    return found


def _check_depth(text: str) -> None:
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return
    depth = 0
    for match in _STRUCTURE.finditer(text):
        depth += (match[1] is not None) - (match[2] is not None)
        if depth > MAX_DEPTH:
            line = text.count("\n", 0, match.start()) + 1
            _refuse(f"line {line}: nested deeper than {MAX_DEPTH}")


def _no_constant(_: str) -> NoReturn:
    _refuse("NaN and Infinity are no JSON numbers")


def _integer(digits: str) -> int:
    return int(_bounded(digits))


def _float(digits: str) -> float:
    number = float(_bounded(digits))
    if abs(number) == float("inf"):
        _refuse("a number is out of range")
    return number


def _bounded(digits: str) -> str:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        _refuse(f"a number has more than {MAX_NUMBER_CHARACTERS} characters")
    return digits


def _plain(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401  (any JSON value)
    if isinstance(value, _Pairs):
        _check_keys((key for key, _ in value), path)
        return {key: _plain(inner, (*path, key)) for key, inner in value}
    if isinstance(value, list):
        return [_plain(inner, (*path, number)) for number, inner in enumerate(value)]
    if isinstance(value, str) and not _encodable(value):
        _refuse(f"{render(path)}: text holds half a surrogate pair")
    return value


def _check_keys(keys: Iterable[str], path: tuple[str | int, ...]) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            _refuse(f"{render((*path, key))}: key stands twice")
        if not _encodable(key):
            _refuse(f"{render(path)}: key {quote(key)} holds half a surrogate pair")
        seen.add(key)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
