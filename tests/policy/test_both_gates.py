"""An output schema that can't judge is refused by the policy and by the contract gate alike, before it is used."""

from typing import Any

import pytest
import yaml

from remit.client.policies import apply_policy
from remit.contract.gate import normalise
from remit.errors import ContractInvalidError, PolicyInvalidError
from remit.log.memory import MemoryLog
from remit.log.protocols import Partition
from remit.policy import load
from remit.topics import Topic
from tests.supervisor.world import START, two_tasks

CLOSED = {"type": "object", "required": ["a"]}
UNSOUND: dict[str, tuple[dict[str, Any], str]] = {
    "VALID-1: no checker": (
        CLOSED | {"properties": {"a": {"format": "colour"}}},
        "s.properties.a.format names a format",
    ),
    "VALID-3: empty": ({}, "s.type must be object"),
    "VALID-3: only properties": (
        {"type": "object", "properties": {"a": {"type": "string"}}},
        "s accepts an empty object: name what is required",
    ),
    "VALID-3: misspelled": ({"type": "object", "require": ["a"]}, "s.require is not a keyword"),
    "VALID-3: no type": ({"required": ["a"]}, "s.type must be object"),
    "VALID-3: remote": (
        CLOSED | {"properties": {"a": {"$ref": "https://example.org/x.json"}}},
        "https://example.org/x.json",
    ),
    "VALID-10: back-reference": (
        CLOSED | {"properties": {"a": {"pattern": "(a)\\1"}}},
        "s.properties.a.pattern is not",
    ),
    "VALID-10: look-around": (CLOSED | {"properties": {"a": {"pattern": "(?=a)b"}}}, "s.properties.a.pattern is not"),
}


@pytest.mark.parametrize(("schema", "said"), UNSOUND.values(), ids=UNSOUND)
def test_a_policy_with_it_is_not_applied(schema: dict[str, Any], said: str) -> None:
    """VALID-1, VALID-3, VALID-10: `remit policy apply` names it, and writes nothing."""
    document = yaml.safe_load(load.default_text())
    document["output_schemas"] = {**document.get("output_schemas", {}), "s": schema}
    log = MemoryLog()
    with pytest.raises(PolicyInvalidError) as refused:
        apply_policy(log, yaml.safe_dump(document), lambda _: None)
    assert any(said in fault and fault.startswith("output_schemas.s") for fault in refused.value.faults)
    assert log.reader().ends([Partition(Topic.POLICIES, 0)]) == {Partition(Topic.POLICIES, 0): 0}


@pytest.mark.parametrize(("schema", "said"), UNSOUND.values(), ids=UNSOUND)
def test_a_contract_with_it_is_invalid(schema: dict[str, Any], said: str) -> None:
    """VALID-1, VALID-3, VALID-10: the contract gate says the same, at the same place."""
    document = two_tasks(output_schemas={"s": schema})
    with pytest.raises(ContractInvalidError) as refused:
        normalise(document, load.parse(load.default_text()), now=START)
    assert any(said in fault and fault.startswith("output_schemas.s") for fault in refused.value.faults)
