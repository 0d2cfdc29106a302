"""The published JSON Schemas are the models', and say the same about documents."""

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from remit.documents import read
from remit.policy import load
from remit.published import MODELS, generated, published

CONTRACTS = Path(__file__).parents[1] / "contract"
DOCUMENTS = {
    "workflow-v1": "worked_example.yaml",
    "task-contract-v1": "password-reset-contract.json",
    "task-envelope-v1": "product-review-envelope.json",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_published_schema_is_its_model(name: str) -> None:
    """A model that changed without `python -m remit.published` is caught here."""
    assert published(name) == generated(name)


@pytest.mark.parametrize("name", MODELS)
def test_a_published_schema_is_a_schema(name: str) -> None:
    """Each is JSON Schema 2020-12 of its own."""
    jsonschema_rs.meta.validate(published(name))
    assert published(name)["$id"] == f"urn:remit:{name}"


def document(name: str) -> dict[str, Any]:
    if name == "policy-v1":
        return dict(yaml.safe_load(load.default_text()))
    return read(CONTRACTS / DOCUMENTS[name])


@pytest.mark.parametrize("name", MODELS)
def test_a_published_schema_accepts_what_the_gate_accepts(name: str) -> None:
    """Documents at hand pass; an unknown key does not."""
    validator = jsonschema_rs.validator_for(published(name))
    validator.validate(document(name))
    assert not validator.is_valid(document(name) | {"unknown": 1})
