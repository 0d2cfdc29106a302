"""A submitted contract: through the gate, or refused with every fault. Pure."""

from datetime import datetime, timedelta
from typing import Any

from remit import ids
from remit.contract import normal
from remit.contract.gate import normalise
from remit.documents import parse
from remit.errors import ContractInvalidError, FaultyDocumentError
from remit.events.inputs import Contract, ContractKind
from remit.events.transitions import ContractAccepted, Note, Rejection, TransitionKind
from remit.faults import lines
from remit.leaks import leaks

from ..state import Unborn, Workflow
from .unit import Unit

TAKEN = "workflow_id is taken by a workflow with other content"
DISHONEST = "content_digest is not that of the document"
NO_AMENDMENTS = "an amendment is not accepted from outside the workflow in this version"


def on_contract(unit: Unit, event: Contract) -> None:
    """Accept, reject, or answer a repeated submission."""
    state = unit.state
    if event.kind is not ContractKind.SUBMITTED:
        _reject(unit, event, (NO_AMENDMENTS,))
    elif isinstance(state, Unborn):
        _begin(unit, event)
    elif state.content_digest != event.content_digest:
        _reject(unit, event, (TAKEN,))
    elif not _is_honest(event):
        _reject(unit, event, (DISHONEST,))
    else:
        unit.add(
            TransitionKind.DUPLICATE,
            reason="resubmitted",
            note=Note(event_id=event.event_id, content_digest=event.content_digest),
        )


def _is_honest(event: Contract) -> bool:
    try:
        return _is_of(event.content_digest, parse(event.document, is_json=True))
    except FaultyDocumentError:
        return False


def _is_of(digest: str, document: dict[str, Any]) -> bool:
    try:
        return ids.digest(document) == digest
    except ValueError:
        return False


def _begin(unit: Unit, event: Contract) -> None:
    try:
        workflow = _judged(unit, event)
    except FaultyDocumentError as error:
        _reject(unit, event, error.faults)
        return
    accepted = accepted_contract(
        workflow,
        version=1,
        content_digest=event.content_digest,
        submitter=event.submitter,
        submitted_at=unit.facts.now,
    )
    unit.add(TransitionKind.CONTRACT_ACCEPTED, contract=accepted)


def _judged(unit: Unit, event: Contract) -> normal.Workflow:
    document = parse(event.document, is_json=True)
    if secrets := leaks(document):  # a client cleans what it sends; what is accepted is copied
        raise ContractInvalidError(lines(secrets, document))
    workflow = normalise(
        document,
        unit.facts.policy,
        now=unit.facts.now,
        workflow_id=unit.state.workflow_id,
        tenant_id=unit.state.tenant_id,
        resolved=True,
    )
    if not _is_of(event.content_digest, document):
        raise ContractInvalidError([DISHONEST])
    return workflow


def accepted_contract(
    workflow: normal.Workflow,
    *,
    version: int,
    content_digest: str,
    submitter: str,
    submitted_at: datetime,
    proposed_by: str | None = None,
    approved_by: str | None = None,
) -> ContractAccepted:
    """The record that embeds a contract in its normal form."""
    document = normal.encode(workflow)
    return ContractAccepted(
        contract_version=version,
        content_digest=content_digest,
        contract_sha256=ids.sha256(document.encode()),
        document=document,
        submitter=submitter,
        proposed_by=proposed_by,
        approved_by=approved_by,
        submitted_at=submitted_at,
        deadline_at=_deadline(workflow, submitted_at),
    )


def _deadline(workflow: normal.Workflow, submitted_at: datetime) -> datetime | None:
    limits = workflow.limits
    ends = []
    if limits.deadline_seconds is not None:
        ends.append(submitted_at + timedelta(seconds=limits.deadline_seconds))
    if limits.deadline is not None:
        ends.append(datetime.fromisoformat(limits.deadline))
    return min(ends, default=None)


def _reject(unit: Unit, event: Contract, faults: tuple[str, ...]) -> None:
    unit.add(
        TransitionKind.CONTRACT_REJECTED,
        reason=_reason(unit, event),
        rejection=Rejection(content_digest=event.content_digest, faults=faults),
        note=Note(event_id=event.event_id, content_digest=event.content_digest),
    )


def _reason(unit: Unit, event: Contract) -> str:
    if event.kind is not ContractKind.SUBMITTED:
        return "not_supported"
    return "taken" if isinstance(unit.state, Workflow) else "invalid"
