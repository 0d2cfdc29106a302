"""The JSON Schemas that authors and editors use: one file per document kind beside this module.

They are written from the models (`python -m remit.published`), and a test holds the two equal. What a schema can't say
(references between fields, the policy's bounds) `remit check` says. Anyone may import it.
"""

import json
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from remit.contract.file import TaskContractFile, TaskEnvelopeFile, WorkflowFile
from remit.policy.model import Policy

MODELS: dict[str, type[BaseModel]] = {
    "policy-v1": Policy,
    "task-contract-v1": TaskContractFile,
    "task-envelope-v1": TaskEnvelopeFile,
    "workflow-v1": WorkflowFile,
}


def published(name: str) -> dict[str, Any]:
    """The published schema of a document kind, as shipped."""
    schema: dict[str, Any] = json.loads(files("remit.published").joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return schema


def generated(name: str) -> dict[str, Any]:
    """The schema that the model of a document kind has now."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:remit:{name}"}
    return head | MODELS[name].model_json_schema()
