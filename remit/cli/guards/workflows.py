"""The policy and the workflows of the demos: the shipped policy with short waits, tasks of the pool `shell`. Pure."""

import json
from typing import Any

from remit.documents import parse
from remit.policy import load

WAITS = {
    "offer_seconds": 5,
    "lease_seconds": 3,
    "renewal_seconds": 1,
    "no_progress_seconds": 6,
    "queue_wait_seconds": 60,
    "correction_seconds": 20,
    "grant_grace_seconds": 2,
    "backoff_min_seconds": 1,
    "backoff_max_seconds": 2,
}


PART = {
    "pool": "shell",
    "capability": "shell",
    "permissions": {"repository": "none", "database": "none", "deployment": "none"},
    "outputs": {"report": "document"},
    "definition_of_done": ["report handed over"],
}
DONE = [{"id": "report", "kind": "document", "output": "report"}]


def policy() -> str:
    """The shipped policy's text with waits that one can sit through, and a type of task that hands over a report."""
    document = parse(load.default_text(), is_json=False)
    document["timeouts"] |= WAITS
    document["task_types"]["part"] = PART
    document["checks"]["report handed over"] = DONE
    return json.dumps(document, indent=1)


def workflow(name: str, tasks: dict[str, dict[str, Any]], **changed: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A workflow of tasks that each hand over a report."""
    return {
        "schema_version": "workflow-v1",
        "workflow_id": name,
        "owner": "user:demo",
        "objective": f"Show the guard of {name}",
        "limits": {"deadline_seconds": 300},
        "tasks": {task_id: {"task_type": "part", **own} for task_id, own in tasks.items()},
    } | changed
