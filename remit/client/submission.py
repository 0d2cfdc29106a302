"""Submits a workflow: read, checked here, resolved, written, and answered. The command line imports it."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from remit import ids
from remit.artefacts import ArtefactStore
from remit.client.effects import TIMEOUT_S, carry_out, unconfirmed
from remit.client.identity import who
from remit.client.policies import PRODUCER, InForce, in_force
from remit.client.references import resolved
from remit.client.within import within
from remit.contract.clean import cleaned
from remit.contract.gate import normalise
from remit.errors import ContractInvalidError, LogError, RefusedError, SettingsError
from remit.events.envelope import new_event
from remit.events.inputs import Contract, ContractKind
from remit.events.transitions import Transition, TransitionKind
from remit.leaks import RULE
from remit.log.protocols import Log
from remit.redaction import finds
from remit.topics import Topic

NO_POLICY = "no policy is on the log yet: apply one with `remit policy apply FILE`"


def own_id(document: Mapping[str, Any]) -> str | None:
    """The id that a document gives its workflow, if it gives one."""
    found = document.get("workflow_id", document.get("task_id"))
    return found if isinstance(found, str) else None


def fresh_id() -> str:
    """An id for a workflow that names none."""
    return f"workflow-{ids.new_event_id()}"


def under(document: Mapping[str, Any], workflow_id: str) -> dict[str, Any]:
    """The document under another id, where it names one; an id that it doesn't name travels as the key alone."""
    if not ids.is_id(workflow_id):
        raise SettingsError(f"--id must match {ids.ID_PATTERN}")
    _refuse_secret(workflow_id)
    name = "workflow_id" if "workflow_id" in document else "task_id"
    return {**document, name: workflow_id} if name in document else dict(document)


def _refuse_secret(workflow_id: str) -> None:
    if finds(workflow_id):
        raise RefusedError(f"the workflow's id {RULE}")


def newest_policy(log: Log, workflow_id: str, *, timeout: float = TIMEOUT_S) -> InForce:
    """The policy that a submission will be judged by; RefusedError without one, UnconfirmedError from a mute log."""
    _refuse_secret(workflow_id)  # before anything names it
    try:
        found = within(timeout, lambda: in_force(log))
    except (TimeoutError, LogError) as error:
        raise unconfirmed(timeout, "nothing was sent", error, asking(workflow_id)) from error
    if found is None:
        raise RefusedError(NO_POLICY)
    return found


def prepare(
    document: Mapping[str, Any], workflow_id: str, rules: InForce, store: ArtefactStore, folder: Path
) -> Contract:
    """The event that submits a document: checked under `rules`, every reference resolved, its prose without secrets.

    `folder` is where `file://` counts from. Raises ContractInvalidError with every fault; files are stored on the way.
    """
    now = datetime.now(UTC)
    document = cleaned(document)
    named = own_id(document)
    workflow = normalise(document, rules.policy, now=now, workflow_id=workflow_id if named else None)
    whole = resolved(document, rules.policy, store, folder)
    return new_event(
        Contract,
        tenant_id=workflow.tenant_id,
        workflow_id=workflow_id,
        producer=PRODUCER,
        clock_now=now,
        kind=ContractKind.SUBMITTED,
        document=json.dumps(whole, ensure_ascii=False),
        content_digest=ids.digest(whole),
        submitter=who(),
    )


def send(log: Log, event: Contract, *, timeout: float = TIMEOUT_S) -> Transition:
    """Write a submission; the transition that accepted it, or noted that it was submitted before.

    Raises ContractInvalidError, RefusedError (the id is taken) or UnconfirmedError.
    """
    found = carry_out(log, event, Topic.CONTRACTS, timeout=timeout, ask=asking(event.workflow_id, event.tenant_id))
    if found.kind in {TransitionKind.CONTRACT_ACCEPTED, TransitionKind.DUPLICATE}:
        return found
    faults = found.rejection.faults if found.rejection else ()
    if found.kind is TransitionKind.CONTRACT_REJECTED and found.reason == "invalid":
        raise ContractInvalidError(faults)
    why = "; ".join(faults) or _noted(found)
    raise RefusedError(f"{event.workflow_id} was refused: {why}")


def _noted(transition: Transition) -> str:
    said = transition.note.differs if transition.note else ()
    return "; ".join(said) or transition.reason or transition.kind.value


def asking(workflow_id: str, tenant_id: str | None = None) -> str:
    """How to find out about a submission, for whoever got no answer."""
    tenant = f" --tenant {tenant_id}" if tenant_id else ""
    return (
        f"Ask with: remit show {workflow_id}{tenant}; to submit it again under its id is safe: "
        f"remit submit FILE --id {workflow_id}"
    )
