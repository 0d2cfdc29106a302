"""The script's events: dicts, one flat Avro schema per topic, framed as Remit frames them. Pure.

The fields are those that a reader would miss: who, what, when, after what, and the payloads at their real size.
"""

import json
from io import BytesIO
from typing import Any
from uuid import uuid4

import fastavro

Event = dict[str, Any]
HEADER_BYTES = 5
WORKER = "w1"
OUTPUT = '{"text": "fine"}'

_ENVELOPE = ["event_id", "tenant_id", "workflow_id", "producer", "kind"]
_TEXTS = {
    "contracts": ["document", "content_digest", "submitter"],
    "dispatches": ["worker_id", "pool", "task_id", "attempt_id", "contract", "inputs"],
    "leases": ["worker_id", "task_id", "attempt_id"],
    "results": ["worker_id", "task_id", "attempt_id", "status", "output", "inputs"],
    "inspections": ["task_id", "attempt_id", "verdict"],
    "transitions": ["task_id", "worker_id", "attempt_id", "status", "document", "output", "cause_id"],
}
_NUMBERS: dict[str, list[str]] = {
    "dispatches": ["fencing_token"],
    "leases": ["fencing_token"],
    "results": ["fencing_token"],
}
_NUMBERS["transitions"] = ["sequence", "version", "cause_partition", "cause_offset"]
TOPICS = tuple(_TEXTS)


def _schema(topic: str) -> Any:  # noqa: ANN401 - fastavro's own form
    texts: list[Any] = [{"name": name, "type": "string"} for name in _ENVELOPE]
    texts += [{"name": name, "type": ["null", "string"], "default": None} for name in _TEXTS[topic]]
    numbers = [{"name": name, "type": "long", "default": 0} for name in ("occurred_at", *_NUMBERS.get(topic, ()))]
    return fastavro.parse_schema({"type": "record", "name": f"floor.{topic}", "fields": [*texts, *numbers]})


_SCHEMAS = {topic: _schema(topic) for topic in TOPICS}
_HEADERS = {topic: b"\0" + number.to_bytes(4, "big") for number, topic in enumerate(TOPICS, start=1)}


def new(kind: str, workflow_id: str, producer: str, now: int, **fields: Any) -> Event:  # noqa: ANN401 - plain values
    """An event with its envelope; `now` in microseconds."""
    envelope: Event = {"event_id": str(uuid4()), "tenant_id": "bench", "workflow_id": workflow_id, "producer": producer}
    return {**envelope, "kind": kind, "occurred_at": now, **fields}


def encode(topic: str, event: Event) -> bytes:
    """The framed bytes of an event."""
    out = BytesIO()
    out.write(_HEADERS[topic])
    fastavro.schemaless_writer(out, _SCHEMAS[topic], event)
    return out.getvalue()


def decode(topic: str, value: bytes) -> Event:
    """The event in a record's value."""
    source = BytesIO(value)
    source.seek(HEADER_BYTES)
    event: Any = fastavro.schemaless_reader(source, _SCHEMAS[topic], None)
    return event  # type: ignore[no-any-return]


def claim_of(offer: Event, now: int) -> Event:
    """What a worker says when it takes an offer."""
    return new("claim", offer["workflow_id"], f"worker/{WORKER}", now, **_named(offer))


def result_of(offer: Event, now: int) -> Event:
    """What a worker says when it is done."""
    said = {"status": "completed", "output": OUTPUT, "inputs": offer["inputs"]}
    return new("submitted", offer["workflow_id"], f"worker/{WORKER}", now, **_named(offer), **said)


def inspection_of(request: Event, now: int) -> Event:
    """What an inspector says without looking."""
    said = {"task_id": request["task_id"], "attempt_id": request["attempt_id"], "verdict": "match"}
    return new("inspected", request["workflow_id"], "inspector/s1", now, **said)


def _named(offer: Event) -> Event:
    names = ("worker_id", "task_id", "attempt_id", "fencing_token")
    return {name: offer[name] for name in names}


def document() -> str:
    """A chain of four tasks, as the product's workload has it."""
    tasks = {
        name: {"objective": f"Do step {name}", "outputs": {"text": "value"}, "depends_on": [before] if before else []}
        for name, before in (("a", ""), ("b", "a"), ("c", "b"), ("d", "c"))
    }
    return json.dumps({"owner": "user:bench", "objective": "Go through four steps", "tasks": tasks})


def contract_of(workflow_id: str, text: str, now: int = 0) -> Event:
    """What a client submits."""
    said = {"document": text, "content_digest": "0" * 64, "submitter": "user:bench"}
    return new("submitted", workflow_id, "client", now, **said)
