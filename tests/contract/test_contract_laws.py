"""Laws of the gate: whatever it is handed, it answers with a normal form or with faults, and tells no value."""

import copy
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.contract.gate import normalise
from remit.contract.normal import Workflow
from remit.contract.requirements import slugs
from remit.documents import read
from remit.errors import ContractInvalidError
from remit.policy import load
from remit.policy.model import Policy

HERE = Path(__file__).parent
NOW = datetime(2026, 7, 1, tzinfo=UTC)
CANARY = "hunter2-canary"
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**30,
    1.5,
    "",
    CANARY,
    f"task://{CANARY}/x",
    [],
    [CANARY],
    {},
    {"x": CANARY},
    ...,
)
NAMES = ("worked_example.yaml", "password-reset-contract.json", "product-review-envelope.json")


@cache
def shipped() -> Policy:
    return load.parse(load.default_text())


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in ((*path, key), *places(inner, (*path, key)))]


DOCUMENTS = {name: read(HERE / name) for name in NAMES}
MUTATIONS = st.sampled_from(NAMES).flatmap(
    lambda name: st.tuples(
        st.just(name),
        st.lists(st.tuples(st.sampled_from(places(DOCUMENTS[name])), st.sampled_from(VALUES)), min_size=1, max_size=4),
    )
)


def mutated(name: str, changes: list[tuple[tuple[Any, ...], Any]]) -> dict[str, Any]:
    document: Any = copy.deepcopy(DOCUMENTS[name])
    for path, value in changes:
        holder = document
        for part in path[:-1]:
            holder = holder[part] if isinstance(holder, (dict, list)) and _has(holder, part) else None
        if not isinstance(holder, (dict, list)) or not _has(holder, path[-1]):
            continue
        if value is not ...:
            holder[path[-1]] = copy.deepcopy(value)
        elif isinstance(holder, dict):
            del holder[path[-1]]
    return dict(document)


def _has(holder: Any, part: Any) -> bool:
    return part in holder if isinstance(holder, dict) else isinstance(part, int) and part < len(holder)


def outcome(document: dict[str, Any]) -> Workflow | tuple[str, ...]:
    try:
        return normalise(document, shipped(), now=NOW)
    except ContractInvalidError as error:
        return error.faults


@settings(max_examples=250, deadline=None)
@given(MUTATIONS)
def test_any_document_is_judged_and_no_value_told(change: tuple[str, list[tuple[tuple[Any, ...], Any]]]) -> None:
    """REDACT-3: any mutation gives a normal form or faults, the same each time, and no fault shows the canary."""
    document = mutated(*change)
    found = outcome(document)
    assert found == outcome(copy.deepcopy(document))
    if isinstance(found, tuple):
        assert found
        assert len(set(found)) == len(found)
        assert not any(CANARY in line for line in found)


def test_a_document_of_one_task_takes_no_output_of_a_task() -> None:
    """REDACT-3: not even of its own: the id of a lone task is a value, and no fault shows it."""
    change = [(("task_id",), CANARY), (("input_refs", 0), f"task://{CANARY}/x")]
    assert outcome(mutated("product-review-envelope.json", change)) == (
        "input_refs[0] is an output of a task, and this document stands for one task alone",
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_single_removal_is_judged(name: str) -> None:
    """Each place of each document may be missing."""
    for place in places(DOCUMENTS[name]):
        outcome(mutated(name, [(place, ...)]))


@given(st.lists(st.text(min_size=1)))
def test_requirement_ids_are_unique_and_plain(texts: list[str]) -> None:
    """Ids are lower-case words and dashes of at most 64 characters, one per text, whatever the texts."""
    found = slugs(texts)
    assert len(set(found)) == len(texts)
    assert all(0 < len(one) <= 64 and set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for one in found)


def test_requirement_ids_read_like_their_text() -> None:
    """The id is the text's slug; what is equal gets a number."""
    assert slugs(["Single-use token", "single use TOKEN!", "£"]) == [
        "single-use-token",
        "single-use-token-2",
        "requirement",
    ]


HOSTILE: tuple[Callable[[dict[str, Any]], Any], ...] = (
    lambda small: small | {f"key{n}": n for n in range(20_000)},
    lambda small: small | {"definition_of_done": list(range(40_000))},
    lambda small: small | {"definition_of_done": ["a" + "!" * n for n in range(190)]},
    lambda small: small | {"tasks": {f"t{n}": {"task_type": "shell"} for n in range(8_000)}},
    lambda small: (
        small
        | {"tasks": {f"t{n}": {"task_type": "shell", "depends_on": [f"t{m}" for m in range(n)]} for n in range(50)}}
    ),
    lambda small: small | {"inputs": {f"i{n}": 1 for n in range(20_000)}},
    lambda small: small | {"tasks": {f"t{n}": 5 for n in range(900)}},
)


@pytest.mark.parametrize("hostile", range(len(HOSTILE)))
def test_a_hostile_document_is_answered_soon(hostile: int, small: dict[str, Any]) -> None:
    """A document within the size bound never holds the loop: few seconds of work, a bounded list of faults."""
    started = time.process_time()
    found = outcome(HOSTILE[hostile](small))
    assert time.process_time() - started < 5
    assert isinstance(found, tuple)
    assert len(found) <= 101
