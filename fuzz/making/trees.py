"""Documents by their grammar: a right one after a few changes at random places, written as JSON or YAML."""

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import yaml

from . import odd

_CHANGES_EACH = (1, 1, 1, 2, 3)
_DEEP = 320
"""Levels after which a tree is changed no more: a change can double them, and past 900 no writer of JSON holds it."""
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
Spot = tuple[Any, Any]
"""A mapping or list, and a key or position in it."""


def mutated(dice: Random, text: str, others: Sequence[str]) -> Any:  # noqa: ANN401 - any JSON value
    """The document whose JSON is `text`, changed; parts of `others` are grafted into it."""
    tree = json.loads(text)
    for _ in range(dice.choice(_CHANGES_EACH)):
        spots = list(_spots(tree))
        if not spots:
            return odd.value(dice)
        if _depth(tree) > _DEEP:
            break
        dice.choice(_CHANGES)(dice, spots, json.loads(dice.choice(others)))
    return tree


def _spots(tree: Any) -> Iterator[Spot]:  # noqa: ANN401 - any JSON value
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield tree, key
        yield from _spots(tree[key])


def _depth(tree: Any) -> int:  # noqa: ANN401 - any JSON value
    levels, level = 0, [tree]
    while level:
        parts = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        levels, level = levels + 1, [each for part in parts for each in part]
    return levels


def _drop(dice: Random, spots: list[Spot], _: Any) -> None:  # noqa: ANN401 - so for all changes
    part, key = dice.choice(spots)
    del part[key]


def _replace(dice: Random, spots: list[Spot], _: Any) -> None:  # noqa: ANN401
    part, key = dice.choice(spots)
    part[key] = odd.value(dice)


def _reword(dice: Random, spots: list[Spot], _: Any) -> None:  # noqa: ANN401
    """A text gets a piece of another: what stays of it may pass a first look."""
    texts = [(part, key) for part, key in spots if isinstance(part[key], str)]
    if texts:
        part, key = dice.choice(texts)
        at = dice.randrange(len(part[key]) + 1)
        part[key] = part[key][:at] + odd.text(dice) + part[key][at:]


def _swap(dice: Random, spots: list[Spot], _: Any) -> None:  # noqa: ANN401
    """The same value in another place: the grammar of values holds, their meaning doesn't."""
    (part, key), (other, name) = dice.choice(spots), dice.choice(spots)
    part[key] = json.loads(json.dumps(other[name]))


def _rename(dice: Random, spots: list[Spot], _: Any) -> None:  # noqa: ANN401
    part, key = dice.choice(spots)
    if isinstance(part, dict):
        part[odd.text(dice)] = part.pop(key)


def _add(dice: Random, spots: list[Spot], _: Any) -> None:  # noqa: ANN401
    part, _key = dice.choice(spots)
    if isinstance(part, dict):
        part[odd.text(dice)] = odd.value(dice)
    else:
        part.extend([odd.value(dice)] if dice.randrange(2) else [dice.choice(odd.NUMBERS)] * 250)


def _graft(dice: Random, spots: list[Spot], other: Any) -> None:  # noqa: ANN401
    found = list(_spots(other))
    part, key = dice.choice(spots)
    if found:
        where, name = dice.choice(found)
        part[key] = where[name]


def _deepen(dice: Random, spots: list[Spot], _: Any) -> None:  # noqa: ANN401
    part, key = dice.choice(spots)
    inner = part[key]
    for _level in range(dice.choice((1, 2, 58, 66, 300))):
        inner = [inner] if dice.randrange(2) else {"a": inner}
    part[key] = inner


_CHANGES: tuple[Callable[[Random, list[Spot], Any], None], ...] = (
    *(_drop, _replace, _replace, _reword, _reword, _swap, _swap, _rename, _add, _graft, _deepen),
)


def as_json(dice: Random, tree: Any) -> str:  # noqa: ANN401 - any JSON value
    """JSON, of one line or of many; NaN and Infinity as JavaScript spells them."""
    return json.dumps(tree, ensure_ascii=bool(dice.randrange(2)), indent=dice.choice((None, None, 1)))


def as_yaml(dice: Random, tree: Any) -> str:  # noqa: ANN401 - any JSON value
    """YAML, block or flow; JSON where YAML's writer can't hold it."""
    try:
        return str(yaml.dump(tree, Dumper=_DUMPER, default_flow_style=bool(dice.randrange(2)), allow_unicode=True))
    except (yaml.YAMLError, UnicodeError, RecursionError):
        return as_json(dice, tree)
