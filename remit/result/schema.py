"""The published JSON Schema of the result envelope. Run it to write `result-envelope-v1.json` anew."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from remit.result.envelope import SCHEMA_ID, Envelope

FILE = f"{SCHEMA_ID}.json"


def generated() -> dict[str, Any]:
    """The schema of the model, with the rule that pydantic can't say: exactly one of output and artefact_ref."""
    schema = Envelope.model_json_schema()
    schema["oneOf"] = [_given("output", "artefact_ref"), _given("artefact_ref", "output")]
    schema["allOf"] = [
        {
            "if": {"properties": {"status": {"const": "blocked"}}},
            "then": {"required": ["blocked_reason"], "properties": {"blocked_reason": {"type": "string"}}},
            "else": {"properties": {"blocked_reason": {"type": "null"}}},
        }
    ]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:remit:{SCHEMA_ID}"} | schema


def published() -> dict[str, Any]:
    """The schema as it ships."""
    document: dict[str, Any] = json.loads(files("remit.result").joinpath(FILE).read_text(encoding="utf-8"))
    return document


def _given(one: str, other: str) -> dict[str, Any]:
    return {
        "required": [one],
        "properties": {one: {"not": {"type": "null"}}, other: {"type": "null"}},
    }


if __name__ == "__main__":
    Path(__file__).with_name(FILE).write_text(json.dumps(generated(), indent=2) + "\n", encoding="utf-8")
