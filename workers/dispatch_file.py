"""`$REMIT_DISPATCH`, the offer as JSON (`dispatch-v1`). Pure; only this role imports it.

A storage format for worker authors: a key is only ever added.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from remit.events.base import Evidence

from .job import Job

SCHEMA_VERSION = "dispatch-v1"
CORRECTED = 2  # the submission that follows a correction; there is no third


def dispatch_document(
    job: Job,
    paths: Mapping[str, Path],
    evidence: Mapping[str, Path],
    lease_until: datetime,
    deadline: datetime | None,
    *,
    resumed: Path | None = None,
) -> dict[str, Any]:
    """The document; `paths` says where inputs lie, `evidence` where artefacts of the failing evidence do.

    `resumed` is the checkpoint of a lost attempt, if there is one that can be read.
    """
    offer, handout, task = job.offer, job.handout, job.handout.task
    document = {
        **_which(job),
        "lease_seconds": offer.lease_seconds,
        "lease_until": lease_until,
        "deadline_at": deadline,
        "objective": task.objective,
        "workflow_objective": handout.objective,
        "constraints": handout.constraints,
        "requirements": handout.requirements,
        "commands": handout.commands,
        "inputs": _inputs(job, paths),
        "outputs": task.outputs,
        "output_schema": task.output_schema.text if task.output_schema else None,
        "permissions": {**task.permissions.grants, "paths": task.permissions.paths},
        "grant": offer.grant,
        "remaining": offer.remaining,
        "rework": {"evidence": [_evidence(each, evidence) for each in offer.rework]},
        "resume_from": {"reference": offer.resume_from, "path": str(resumed)} if resumed else None,
        "contract": handout.workflow,
    }
    plain: dict[str, Any] = msgspec.to_builtins(document)
    return plain


def _which(job: Job) -> dict[str, Any]:
    """Which attempt of what, for whom, on which versions."""
    dispatch, offer, task = job.dispatch, job.offer, job.handout.task
    return {
        "schema_version": SCHEMA_VERSION,
        "tenant_id": dispatch.tenant_id,
        "workflow_id": dispatch.workflow_id,
        "task_id": dispatch.task_id,
        "attempt_id": dispatch.attempt_id,
        "worker_id": dispatch.worker_id,
        "pool": dispatch.pool,
        "task_type": task.task_type,
        "contract_version": offer.contract_version,
        "contract_sha256": offer.contract_sha256,
        "state_version": dispatch.state_version,
        "attempt": offer.attempt,
        "round": offer.round,
        "fencing_token": dispatch.fencing_token,
        "idempotency_key": offer.idempotency_key,
    }


def correction_document(faults: Sequence[str], refused: str) -> dict[str, Any]:
    """`$REMIT_CORRECTION`: what is wrong with the first submission, and its text without secrets."""
    return {"submission": CORRECTED, "faults": list(faults), "envelope": refused}


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write the file."""
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")


def _inputs(job: Job, paths: Mapping[str, Path]) -> dict[str, Any]:
    return {
        each.name: {
            "kind": each.kind,
            "reference": each.reference,
            "sha256": each.sha256,
            "path": str(paths[each.name]) if each.name in paths else None,
        }
        for each in job.offer.inputs
    }


def _evidence(each: Evidence, files: Mapping[str, Path]) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(each)
    for name in ("output", "report"):
        ref = getattr(each, name)
        plain[f"{name}_path"] = str(files[ref.sha256]) if ref is not None and ref.sha256 in files else None
    return plain
