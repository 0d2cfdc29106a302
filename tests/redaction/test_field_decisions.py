"""Every text that an event can carry has a decision on redaction; a new field without one fails here."""

import inspect
from types import ModuleType
from typing import get_type_hints

import msgspec

from remit.events import base, inputs, service, transitions

ID = "an id: its form is checked where it is chosen; one that holds a secret is refused, never rewritten"
OURS = "a word, digest, name or time that our own code makes: nobody's text gets in"
CLEANED = "free text: redacted by its writer before it is sent"
CONTRACT = (
    "part of a contract: the client redacts the document before it sends it, and what follows is taken from there"
)
POLICY = "the operator's own text, published on purpose: the policy and what is taken from it"

DECISIONS = {
    "Accepted": {"subtasks": ID},
    "AcceptedOutput": {"name": CONTRACT, "kind": OURS, "value": CLEANED},
    "Answer": {"question_id": OURS, "expected": OURS, "found": OURS, "content": CLEANED},
    "ArtefactRef": {"reference": OURS, "sha256": OURS},
    "Candidate": {"worker_id": ID, "excluded_by": OURS},
    "Cause": {"topic": OURS},
    "Checkpoint": {"content_digest": OURS, "outcome": OURS},
    "Contract": {"document": CONTRACT, "content_digest": OURS, "submitter": ID, "reason": CLEANED},
    "ContractAccepted": {
        "content_digest": OURS, "contract_sha256": OURS, "document": CONTRACT, "submitter": ID, "proposed_by": ID,
        "approved_by": ID, "widened": CONTRACT, "reason": CLEANED,
    },
    "Correction": {"faults": CLEANED},
    "DeadLetter": {"source_topic": OURS, "record_sha256": OURS, "reason": OURS},
    "Decision": {
        "person": ID, "task_id": ID, "item_id": ID, "content_sha256": OURS, "reason": CLEANED, "resolution": OURS,
    },
    "Dispatch": {"worker_id": ID, "pool": ID, "task_id": ID, "reason": OURS, "faults": OURS},
    "Dispatched": {"pool": ID, "contract_sha256": OURS},
    "Ending": {"outcome": OURS, "faults": CLEANED, "recovery_reason": OURS, "rework_task": ID, "owner": CONTRACT,
        "checkpoint": OURS},
    "Event": {"tenant_id": ID, "workflow_id": ID, "producer": ID},
    "Evidence": {
        "worker_id": ID, "task_id": ID, "checks": CLEANED, "command": CLEANED, "argv": CLEANED, "passed_cases": CLEANED,
        "failed_cases": CLEANED, "skipped_cases": CLEANED, "environment_digest": OURS, "environment": OURS,
        "note": CLEANED,
    },
    "Grant": {"permissions": CONTRACT, "paths": CONTRACT, "tools": CONTRACT, "signature": OURS,
        "key_id": OURS, "worker_id": ID, "worker_key": ID},
    "InputVersion": {
        "name": CONTRACT, "kind": OURS, "reference": CONTRACT, "sha256": OURS, "location": POLICY, "value": CLEANED,
    },
    "Inspection": {"task_id": ID},
    "Lease": {"worker_id": ID, "task_id": ID, "reason": OURS, "note": CLEANED, "checkpoint": OURS},
    "Liveness": {"worker_id": ID, "pool": ID},
    "Malformed": {"text": CLEANED, "faults": OURS},
    "Note": {"differs": OURS, "content_digest": OURS},
    "Offer": {"contract": CONTRACT, "contract_sha256": OURS, "idempotency_key": ID, "resume_from": CLEANED},
    "Policy": {"document": POLICY, "policy_sha256": OURS, "author": ID},
    "PriceEntry": {"name": POLICY},
    "Proposal": {"item_id": OURS, "widens": CONTRACT, "proposer": ID, "owner": CONTRACT},
    "Question": {"id": OURS, "reference": OURS, "location": POLICY, "expected": OURS},
    "Receipt": {"effect_id": ID, "effect_key": ID, "target": CONTRACT, "content_sha256": OURS, "reason": CLEANED},
    "RefusedSubtask": {"task_id": ID, "reason": OURS, "detail": CLEANED},
    "Rejection": {"content_digest": OURS, "faults": OURS},
    "RequirementHeld": {"requirement_id": OURS, "text": CONTRACT, "checks": CONTRACT},
    "Resolution": {"item_id": OURS, "person": ID, "resolution": OURS, "reason": CLEANED, "content_sha256": OURS},
    "Result": {"worker_id": ID, "task_id": ID, "contract_sha256": OURS},
    "ResultBody": {"message": CLEANED, "output": CLEANED, "environment": OURS, "subtasks": CLEANED},
    "ShardPosition": {"topic": OURS},
    "Stop": {"owner": CONTRACT, "person": ID, "detail": CLEANED},
    "Subject": {"repository": CLEANED, "revision": CLEANED, "digest": OURS},
    "TaskChange": {"task_id": ID, "reason": OURS},
    "Transition": {"policy_sha256": OURS, "task_id": ID, "worker_id": ID, "reason": OURS},
    "Usage": {"model": CLEANED},
    "Worker": {
        "worker_id": ID, "pool": ID, "capabilities": ID, "tools": POLICY, "permissions": POLICY,
        "output_schemas": POLICY, "risk_class": POLICY, "price_entry": POLICY, "public_key": ID,
    },
    "WorkflowGate": {"development_acceptance": OURS, "deployment_authorisation": OURS, "authoriser": CONTRACT},
    "Writer": {"instance": ID},
}  # fmt: skip


def texts(module: ModuleType) -> dict[str, set[str]]:
    """The fields of type text of a module's records, those of the envelope only with `Event`."""
    found = {}
    for name, cls in vars(module).items():
        if inspect.isclass(cls) and issubclass(cls, msgspec.Struct) and cls.__module__ == module.__name__:
            hints = get_type_hints(cls)
            shared = () if cls is base.Event else base.Event.__struct_fields__
            found[name] = {
                field for field in cls.__struct_fields__ if field not in shared and "str" in str(hints[field])
            }
    return {name: fields for name, fields in found.items() if fields}


def test_each_text_has_a_decision() -> None:
    """REDACT-2: a new field of type text fails until someone has decided what becomes of a secret in it."""
    fields = {name: found for module in (base, inputs, service, transitions) for name, found in texts(module).items()}
    assert fields == {name: set(decisions) for name, decisions in DECISIONS.items()}
