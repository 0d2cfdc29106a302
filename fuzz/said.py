"""The events of the little world that the supervisor's targets are judged in: all ids derived, none fresh. Pure."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from remit import ids
from remit.contract.references import artefact_reference
from remit.events import inputs, service
from remit.events.base import ArtefactRef
from remit.events.envelope import new_event
from remit.policy import load

AT = datetime(2026, 7, 19, 12, tzinfo=UTC)
TENANT, WORKFLOW, BESIDE, POOL, WORKER = "default", "w1", "beside", "shell", "worker-1"
INCARNATION = UUID(int=7)
OUTPUT, REPORT = b"what was printed", b"what was reported"
"""What the world's artefact store holds."""
POLICY = """
schema_version: policy-v1
environment: development
default_tenant: default
default_owner: user:priya
repositories: {}
pools: {shell: {capabilities: [shell]}}
task_types: {shell: {pool: shell, outputs: {report: value}}}
commands: {suite: {argv: [suite, "{report}"], report: junit, retest: [suite, "{report}", "{failing}"]}}
checks: {it works: [{id: works, kind: test_run, command: suite, holds_at: none}]}
prices: {entries: {default: {per_1k_tokens_in: "1.00", per_1k_tokens_out: "2.00", per_tool_call: "0.01"}}}
limits:
  max: {deadline_seconds: 86400, max_tokens: 1000000, max_tool_calls: 1000, max_cost_gbp: "100", max_attempts: 5,
    max_reworks: 5, max_tasks: 100, max_depth: 5, max_workers: 100, max_turns: 100}
  default: {deadline_seconds: 3600, max_tokens: 12000, max_tool_calls: 100, max_cost_gbp: "30", max_attempts: 2,
    max_reworks: 2, max_tasks: 20, max_depth: 1, max_workers: 10, max_turns: 50}
"""
DOCUMENT: dict[str, Any] = {
    "schema_version": "workflow-v1",
    "owner": "user:priya",
    "objective": "Try it",
    "definition_of_done": ["it works"],
    "checks": {"it works": [{"id": "works", "kind": "test_run", "task": "a", "command": "suite", "holds_at": "none"}]},
    "output_schemas": {
        "told": {"type": "object", "required": ["report"], "properties": {"report": {"type": ["string", "object"]}}}
    },
    "tasks": {
        "a": {"task_type": "shell", "output_schema": "told"},
        "b": {"task_type": "shell", "depends_on": ["a"], "inputs": {"before": "task://a/report"}},
    },
}


def new(cls: type[Any], name: str, workflow_id: str = WORKFLOW, **fields: Any) -> Any:  # noqa: ANN401 - any event
    """An event with derived ids."""
    event_id = ids.timer_id(f"{TENANT}/{workflow_id}", 0, f"fuzz/{name}")
    head: dict[str, Any] = {"tenant_id": TENANT, "workflow_id": workflow_id, "producer": "fuzz/1"}
    return new_event(cls, clock_now=AT, event_id=event_id, **head, **fields)


def policy(text: str) -> service.Policy:
    """A policy as it is applied."""
    sha = load.sha256(text)
    found: service.Policy = new(
        service.Policy, "policy", kind=service.PolicyKind.APPLIED, document=text, policy_sha256=sha, author="user:ops"
    )
    return found


def artefact(data: bytes) -> ArtefactRef:
    """The reference of stored bytes."""
    return ArtefactRef(reference=artefact_reference(ids.sha256(data)), sha256=ids.sha256(data), size=len(data))


def worker() -> service.Worker:
    """The worker's registration."""
    said: dict[str, Any] = {"worker_id": WORKER, "incarnation": INCARNATION, "pool": POOL, "slots": 4}
    found: service.Worker = new(service.Worker, "worker", kind=service.WorkerKind.REGISTERED, **said)
    return found


def liveness() -> service.Liveness:
    """The worker lives."""
    said: dict[str, Any] = {"worker_id": WORKER, "incarnation": INCARNATION, "pool": POOL, "free_slots": 4}
    found: service.Liveness = new(service.Liveness, "liveness", kind=service.LivenessKind.ALIVE, **said)
    return found


def contract(workflow_id: str, document: dict[str, Any]) -> inputs.Contract:
    """A submission."""
    said = {"document": json.dumps(document), "content_digest": ids.digest(document), "submitter": "user:priya"}
    found: inputs.Contract = new(inputs.Contract, "contract", workflow_id, kind=inputs.ContractKind.SUBMITTED, **said)
    return found
