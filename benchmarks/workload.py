"""What both sides work on: a chain of four tasks, three of values and a last one with a document. Pure but for ids.

Every contract needs a check, and each kind of check needs something stored: so the last result brings one document,
which the inspector reads. Workers answer at once, with usage and evidence as a runner would report them.
"""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from remit import ids
from remit.artefacts import ArtefactStore
from remit.client.policies import InForce
from remit.client.submission import prepare
from remit.events.base import ArtefactRef, Evidence, EvidenceType, ObservedBy, Usage
from remit.events.envelope import message, new_event
from remit.events.inputs import ErrorClass, Lease, LeaseKind, Result, ResultBody, ResultKind, ResultStatus
from remit.events.service import Dispatch, Liveness, LivenessKind, Offer, Worker, WorkerKind
from remit.log.protocols import Message
from remit.policy import load
from remit.topics import Topic

WORKER, POOL, SLOTS = "w1", "bench", 1_000_000
PRODUCER = f"worker/{WORKER}"
REPORT = b"The report of the last task.\n"
POLICY = """
schema_version: policy-v1
environment: development
default_tenant: bench
default_owner: user:bench
repositories: {}
pools:
  bench: {capabilities: [step],
    tools: [run_command], permissions: {repository: [none]}, max_parallel: 1000000}
task_types:
  step: {pool: bench, permissions: {repository: none}}
prices:
  entries: {default: {per_1k_tokens_in: "0.0024", per_1k_tokens_out: "0.0120", per_tool_call: "0.0010"}}
limits:
  max: {deadline_seconds: 86400, max_tokens: 1000000, max_tool_calls: 1000, max_cost_gbp: "100", max_attempts: 5,
    max_reworks: 5, max_tasks: 50, max_depth: 3, max_workers: 16, max_turns: 200}
  default: {deadline_seconds: 3600, max_tokens: 60000, max_tool_calls: 200, max_cost_gbp: "5.00", max_attempts: 5,
    max_reworks: 2, max_tasks: 20, max_depth: 1, max_workers: 8, max_turns: 50}
timeouts: {offer_seconds: 60, lease_seconds: 4, renewal_seconds: 1, liveness_seconds: 600, grant_grace_seconds: 1}
"""


def document() -> dict[str, Any]:
    """The workflow file, without an id of its own."""
    steps = {name: _step(name, before) for name, before in (("a", ""), ("b", "a"), ("c", "b"), ("d", "c"))}
    steps["d"]["outputs"]["report"] = "document"
    return {
        "schema_version": "workflow-v1",
        "owner": "user:bench",
        "objective": "Go through four steps",
        "definition_of_done": ["the report is written"],
        "checks": {"the report is written": [{"id": "report", "kind": "document", "task": "d", "output": "report"}]},
        "tasks": steps,
    }


def _step(name: str, before: str) -> dict[str, Any]:
    step: dict[str, Any] = {"task_type": "step", "objective": f"Do step {name}", "outputs": {"text": "value"}}
    return step | {"depends_on": [before], "inputs": {"before": f"task://{before}/text"}} if before else step


PATIENT = POLICY.replace("lease_seconds: 4, ", "lease_seconds: 3600, no_progress_seconds: 3600, ")
"""Leases that outlast a run, so that tasks of written histories stay open."""


def in_force(policy: str = POLICY) -> InForce:
    """The policy as a client finds it on the log."""
    return InForce(load.sha256(policy), "user:bench", datetime.now(UTC), policy, load.parse(policy))


def submissions(workflow_ids: list[str], store: ArtefactStore, policy: str = POLICY) -> list[Message]:
    """The records that submit the workflow under these ids, as a client would write them."""
    rules, text = in_force(policy), document()
    events = [prepare(text, workflow_id, rules, store, Path()) for workflow_id in workflow_ids]
    return [message(event, Topic.CONTRACTS) for event in events]


class InstantWorker:
    """What a worker says, without doing anything: one process, slots without end."""

    def __init__(self, report: ArtefactRef) -> None:
        """`report` is stored already, for all its attempts."""
        self._report = report
        self._incarnation: UUID = uuid4()

    def registration(self) -> Message:
        """That it is there."""
        kind = WorkerKind.REGISTERED
        return self._said(Worker, Topic.WORKERS, worker_id=WORKER, pool=POOL, kind=kind, slots=SLOTS)

    def liveness(self) -> Message:
        """That it is alive."""
        kind = LivenessKind.ALIVE
        return self._said(Liveness, Topic.LIVENESS, worker_id=WORKER, pool=POOL, kind=kind, free_slots=SLOTS)

    def claim(self, offer: Dispatch) -> Message:
        """That it takes an offer."""
        return self._said(Lease, Topic.LEASES, offer, kind=LeaseKind.CLAIM, usage=Usage())

    def result(self, dispatch: Dispatch) -> Message:
        """That it is done."""
        offer = dispatch.offer
        if offer is None:
            raise ValueError("not an offer")
        return self._said(
            Result,
            Topic.RESULTS,
            dispatch,
            kind=ResultKind.SUBMITTED,
            submission=1,
            state_version=dispatch.state_version,
            contract_sha256=offer.contract_sha256,
            result=self._body(dispatch, offer),
        )

    def _body(self, dispatch: Dispatch, offer: Offer) -> ResultBody:
        at = datetime.now(UTC)
        contract = json.loads(offer.contract)
        values = {name: self._value(kind) for name, kind in contract["task"]["outputs"].items()}
        checks = [check["id"] for requirement in contract["requirements"] for check in requirement["checks"]]
        return ResultBody(
            status=ResultStatus.COMPLETED,
            error_class=ErrorClass.COMPLETED,
            output=json.dumps(values),
            evidence=tuple(self._evidence(dispatch, check, at) for check in checks),
            usage=Usage(tokens_in=1000, tokens_out=500, tool_calls=2, worker_seconds=Decimal("0.01")),
            input_versions=offer.inputs,
            environment={"python": "3.11"},
            started_at=at,
            ended_at=at,
        )

    def _value(self, kind: str) -> object:
        report = self._report
        stored = {"artefact_ref": report.reference, "sha256": report.sha256, "size": report.size}
        return stored if kind == "document" else "fine"

    def _evidence(self, dispatch: Dispatch, check: str, at: datetime) -> Evidence:
        return Evidence(
            kind=EvidenceType.DOCUMENT,
            observed_by=ObservedBy.WORKER,
            worker_id=WORKER,
            task_id=dispatch.task_id,
            attempt_id=dispatch.attempt_id,
            checks=(check,),
            output=self._report,
            started_at=at,
            ended_at=at,
        )

    def _said(self, cls: type[Any], topic: Topic, offer: Dispatch | None = None, **fields: Any) -> Message:  # noqa: ANN401
        said: dict[str, Any] = {"tenant_id": "", "workflow_id": "", "incarnation": self._incarnation} | fields
        if offer is not None:
            said |= {"tenant_id": offer.tenant_id, "workflow_id": offer.workflow_id, "worker_id": WORKER}
            said |= {name: getattr(offer, name) for name in ("task_id", "attempt_id", "fencing_token")}
        event: Any = new_event(cls, producer=PRODUCER, clock_now=datetime.now(UTC), event_id=ids.new_event_id(), **said)
        return message(event, topic)
