"""Fixtures of the contract room: the shipped policy, the documents at hand, and a short way to a document's faults."""

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from remit.contract.gate import normalise
from remit.contract.normal import Workflow
from remit.contract.resolve import resolve
from remit.documents import read
from remit.errors import ContractInvalidError
from remit.policy import load
from remit.policy.model import Policy

HERE = Path(__file__).parent
NOW = datetime(2026, 7, 1, tzinfo=UTC)
Document = dict[str, Any]


@pytest.fixture(scope="session")
def policy() -> Policy:
    """The shipped development policy."""
    return load.parse(load.default_text())


@pytest.fixture
def now() -> datetime:
    """The time at which documents are judged."""
    return NOW


@pytest.fixture
def worked_example() -> Document:
    """The password-reset workflow file."""
    return read(HERE / "worked_example.yaml")


@pytest.fixture
def bare_contract() -> Document:
    """The first article's contract, word for word."""
    return read(HERE / "password-reset-contract.json")


@pytest.fixture
def envelope() -> Document:
    """The second article's task envelope, word for word."""
    return read(HERE / "product-review-envelope.json")


@pytest.fixture
def small() -> Document:
    """The smallest workflow file that passes: one shell task with one check."""
    return {
        "schema_version": "workflow-v1",
        "workflow_id": "w1",
        "owner": "user:ann",
        "objective": "Say hello",
        "definition_of_done": ["it ran"],
        "commands": {"run": {"argv": ["true"]}},
        "checks": {"it ran": [{"id": "ran", "kind": "command", "command": "run"}]},
        "tasks": {"a": {"task_type": "shell"}},
    }


@pytest.fixture
def normal_form(policy: Policy) -> Callable[..., Workflow]:
    """`normal_form(document, **options)`: through the gate at NOW."""
    return lambda document, **options: normalise(document, policy, **({"now": NOW} | options))


@pytest.fixture
def faults(policy: Policy) -> Callable[..., tuple[str, ...]]:
    """`faults(document, **options)`: every fault that the gate finds at NOW; empty if none."""

    def found(document: Document, **options: Any) -> tuple[str, ...]:
        before = copy.deepcopy(document)
        try:
            normalise(document, policy, **({"now": NOW} | options))
        except ContractInvalidError as error:
            return error.faults
        finally:
            assert document == before, "the gate changed its input"
        return ()

    return found


@pytest.fixture
def resolved() -> Callable[[Document], Document]:
    """`resolved(document)`: every open reference resolved to a made-up hash."""
    return lambda document: resolve(
        document,
        resolve_commit=lambda _name, _revision: "a" * 40,
        store_file=lambda _path: ("b" * 64, 1),
        find_alias=lambda _alias: "c" * 64,
    )
