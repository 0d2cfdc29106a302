"""Clients and operators of a simulated world: they submit, amend, decide unasked, and apply policies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit import ids
from remit.events.inputs import Contract, ContractKind
from remit.events.service import Policy, PolicyKind
from remit.policy import load
from remit.topics import Topic

from .facts import CANARY
from .shapes import Document, document

if TYPE_CHECKING:
    from remit.events.base import Event

    from .ground import Ground
    from .parts import state
    from .plan import Submission


def apply_policy(ground: Ground, text: str) -> None:
    """An operator applies a policy."""
    said = {"kind": PolicyKind.APPLIED, "document": text, "policy_sha256": load.sha256(text), "author": "user:ops"}
    ground.write(Topic.POLICIES, Policy, tenant_id="", workflow_id="", **said)


def submit(ground: Ground, each: Submission) -> None:
    """A client submits a workflow, with whatever is wrong with it."""
    ground.tell("submits", each.workflow_id, str(each))
    wanted = document(each.shape, each.workflow_id, each.tenant_id)
    if each.flaw == "invalid":
        wanted["checks"] = {}
    elif each.flaw == "secret":
        ground.facts.secrets = True
        wanted["objective"] = f"Use {CANARY}"
    _send(ground, each, wanted)
    if each.flaw == "twice":
        ground.timeline.after(7.0, lambda: _send(ground, each, wanted))
    elif each.flaw == "other":
        ground.timeline.after(7.0, lambda: _send(ground, each, wanted | {"objective": "Try something else"}))


def _send(ground: Ground, each: Submission, wanted: Document) -> None:
    key = {"tenant_id": each.tenant_id, "workflow_id": each.workflow_id}
    ground.write(Topic.CONTRACTS, Contract, kind=ContractKind.SUBMITTED, **key, **_said(wanted))


def amend(ground: Ground, workflow: state.Workflow, wanted: Document, *, base: int) -> None:
    """A client asks for another version; `base`: how many versions ago it looked."""
    key = {"tenant_id": workflow.tenant_id, "workflow_id": workflow.workflow_id}
    version = {"base_version": workflow.contract_version - base, "reason": "it should be so"}
    ground.write(Topic.CONTRACTS, Contract, kind=ContractKind.AMENDED, **key, **_said(wanted), **version)


def _said(wanted: Document) -> dict[str, Any]:
    return {"document": json.dumps(wanted), "content_digest": ids.digest(wanted), "submitter": "user:priya"}


def decide(ground: Ground, workflow_id: str, cls: type[Event], topic: Topic, **said: Any) -> None:  # noqa: ANN401 - its fields
    """Somebody writes about a workflow, by whatever tenant it was submitted."""
    tenant = next((each.tenant_id for each in ground.plan.submissions if each.workflow_id == workflow_id), "default")
    ground.write(topic, cls, tenant_id=tenant, workflow_id=workflow_id, **said)
