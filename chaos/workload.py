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
    "correction_seconds": 8,
}
MOST_ATTEMPTS, MOST_CALLS = 40, 600
LIMITS = {
    "deadline_seconds": 1800,
    "max_tokens": 60_000,
    "max_tool_calls": MOST_CALLS,
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


PART = {
    "pool": "shell",
    "capability": "shell",
    "permissions": {"repository": "none", "database": "none", "deployment": "none"},
    "outputs": {"report": "document"},
    "definition_of_done": ["part done"],
}
SPAWNS = {"types": ["part"], "max_subtasks": 2}
RUNS = {"argv": ["python", "-c", "print('it runs')"]}


def policy() -> str:
    """The shipped policy with short waits, many attempts, a type of proposed tasks, and every command run again."""
    document = yaml.safe_load(load.default_text())
    document["timeouts"] = TIMEOUTS
    document["limits"]["max"]["max_attempts"] = MOST_ATTEMPTS
    document["task_types"]["part"] = PART
    document["task_types"]["verify"]["limits"] = {"max_attempts": MOST_ATTEMPTS, "max_tool_calls": 10}
    document["checks"]["part done"] = [{"id": "report", "kind": "document", "output": "report"}]
    document["verification"] = {"mode": "always", "types": ["shell"]}
    return json.dumps(document, indent=1)


def workflow(seed: int, number: int) -> dict[str, Any]:
    """The nth workflow of a run, as a workflow file's document."""
    dice = random.Random(f"{seed}/workflow/{number}")  # noqa: S311 - variety, not a secret
    shape = dice.choice(SHAPES)
    extra = dice.choices(("", "spawns", "verified"), (70, 15, 15))[0]
    return _with_extra(
        extra,
        {
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
        },
    )


def _with_extra(extra: str, document: dict[str, Any]) -> dict[str, Any]:
    """The first task may propose further ones, or has a command that a verifier runs again."""
    if extra == "spawns":
        document["tasks"]["a"]["spawn"] = SPAWNS
    if extra == "verified":
        document["commands"] = {"runs": RUNS}
        document["definition_of_done"].append("it runs")
        document["checks"]["it runs"] = [{"id": "runs", "kind": "command", "task": "a", "command": "runs"}]
    return document


def tighter(document: dict[str, Any]) -> dict[str, Any]:
    """An amendment that only lowers a limit."""
    return {"schema_version": document["schema_version"], "limits": {"max_tool_calls": MOST_CALLS - 1}}


def _task(before: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"task_type": "shell", "outputs": {"report": "document"}}
    if before:
        found |= {"depends_on": before, "inputs": {f"of_{each}": f"task://{each}/report" for each in before}}
    return found


def whim(seed: int, number: int) -> str:
    """What its client does beside submitting it: nothing mostly, or resend it, cancel it, or amend it at once."""
    dice = random.Random(f"{seed}/whim/{number}")  # noqa: S311 - variety, not a secret
    return dice.choices(("", "resend", "cancel", "amend"), (88, 5, 3, 4))[0]
