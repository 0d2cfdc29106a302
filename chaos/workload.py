"""The workflows of a run, and the policy that they are judged by: small, many, with waits that fit into seconds."""

import json
import random
from typing import Any

import yaml

from remit.policy import load

from .schedule import LEASE_S

TENANTS = ("north", "south")
TIMEOUTS = {
    "offer_seconds": 3,
    "lease_seconds": LEASE_S,
    "renewal_seconds": 1,
    "no_progress_seconds": 30,
    "queue_wait_seconds": 600,
    "liveness_seconds": 6,
    "backoff_min_seconds": 1,
    "backoff_max_seconds": 4,
    "inspection_seconds": 5,
    "grant_grace_seconds": 1,
}
MOST_ATTEMPTS = 40
LIMITS = {
    "deadline_seconds": 1800,
    "max_tokens": 60_000,
    "max_tool_calls": 600,
    "max_cost_gbp": "9.00",
    "max_attempts": MOST_ATTEMPTS,
}
SHAPES: tuple[dict[str, list[str]], ...] = (
    {"a": [], "b": ["a"]},
    {"a": [], "b": []},
    {"a": [], "b": ["a"], "c": ["b"]},
    {"a": [], "b": [], "c": ["a", "b"]},
)
"""Tasks, and what each depends on."""


def policy() -> str:
    """The shipped policy with short waits and many attempts."""
    document = yaml.safe_load(load.default_text())
    document["timeouts"] = TIMEOUTS
    document["limits"]["max"]["max_attempts"] = MOST_ATTEMPTS
    document["prices"] = document.get("prices", {})
    return json.dumps(document, indent=1)


def workflow(seed: int, number: int) -> dict[str, Any]:
    """The nth workflow of a run, as a workflow file's document."""
    dice = random.Random(f"{seed}/workflow/{number}")  # noqa: S311 - variety, not a secret
    shape = dice.choice(SHAPES)
    return {
        "schema_version": "workflow-v1",
        "workflow_id": f"chaos-{seed}-{number:05}",
        "tenant_id": dice.choice(TENANTS),
        "owner": "user:priya",
        "objective": f"Report {number}",
        "definition_of_done": ["all reports are there"],
        "limits": LIMITS,
        "checks": {
            "all reports are there": [
                {"id": f"report-{task}", "kind": "document", "task": task, "output": "report"} for task in shape
            ]
        },
        "tasks": {task: _task(before) for task, before in shape.items()},
    }


def _task(before: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"task_type": "shell", "outputs": {"report": "document"}}
    if before:
        found |= {"depends_on": before, "inputs": {f"of_{each}": f"task://{each}/report" for each in before}}
    return found


def whim(seed: int, number: int) -> str:
    """What its client does beside submitting it: nothing mostly, or resend it, or cancel it a little later."""
    dice = random.Random(f"{seed}/whim/{number}")  # noqa: S311 - variety, not a secret
    return dice.choices(("", "resend", "cancel"), (92, 5, 3))[0]
