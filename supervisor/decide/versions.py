"""Contract versions: what is read of a submitted one, the record of one that holds, and how it takes effect. Pure."""

from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from remit import ids
from remit.contract import normal
from remit.documents import parse
from remit.errors import ContractInvalidError
from remit.events.inputs import Contract
from remit.events.transitions import (
    ContractAccepted,
    Note,
    Proposal,
    Recovery,
    Rejection,
    Resolution,
    TransitionKind,
)
from remit.faults import lines
from remit.leaks import leaks

from ..amendment import behind_stopped, disturbed, worked_on
from ..state import Proposed, Workflow
from .ending import supersede
from .unit import Unit

DISHONEST = "content_digest is not that of the document"
STALE = "stale"


def readable(event: Contract) -> dict[str, Any]:
    """The document of a submission; raises FaultyDocumentError where it is none, or holds a secret."""
    document = parse(event.document, is_json=True)
    if secrets := leaks(document):  # a client cleans what it sends; what is accepted is copied
        raise ContractInvalidError(lines(secrets, document))
    return document


def is_of(digest: str, document: dict[str, Any]) -> bool:
    """Whether it is the digest of that document."""
    try:
        return ids.digest(document) == digest
    except ValueError:
        return False


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


def next_version(
    workflow: Workflow,
    contract: normal.Workflow,
    *,
    content_digest: str,
    proposed_by: str,
    **said: Any,  # noqa: ANN401
) -> ContractAccepted:
    """The record of the version after the one in force; its end is moved as that one's was by waits for people."""
    record = accepted_contract(
        contract,
        version=workflow.contract_version + 1,
        content_digest=content_digest,
        submitter=workflow.submitter,
        submitted_at=workflow.submitted_at,
        proposed_by=proposed_by,
    )
    return replace(record, deadline_at=_moved(workflow, record.deadline_at), **said)


def _moved(workflow: Workflow, deadline: datetime | None) -> datetime | None:
    planned = _deadline(workflow.contract, workflow.submitted_at)
    if deadline is None or planned is None or workflow.deadline_at is None:
        return deadline
    return deadline + (workflow.deadline_at - planned)


def unfit(workflow: Workflow, contract: normal.Workflow) -> tuple[str, ...]:
    """Why the version can't hold as things stand: it removes work that began, or lets a task wait for ever."""
    removed = (f"tasks.{each} was worked on, or ended: it can't be removed" for each in worked_on(workflow, contract))
    behind = (
        f"tasks.{task_id}.depends_on: {needed} was stopped, nothing can wait for it"
        for task_id, needed in behind_stopped(workflow, contract)
    )
    return (*removed, *behind)


def take_effect(
    unit: Unit,
    contract: normal.Workflow,
    record: ContractAccepted,
    *,
    resolution: Resolution | None = None,
    **said: Any,  # noqa: ANN401
) -> None:
    """Let a version hold from here on: attempts that can't go on are ended first, proposals on the old one after."""
    for task_id in disturbed(unit.workflow, contract):
        supersede(unit, unit.task(task_id), Recovery.NONE)
    unit.add(TransitionKind.CONTRACT_AMENDED, contract=record, resolution=resolution, **said)
    for outdated in unit.workflow.proposed:
        refuse_outdated(unit, outdated)


def refuse_outdated(unit: Unit, proposed: Proposed, **said: Any) -> None:  # noqa: ANN401
    """Let go a proposal on a version that no longer holds."""
    now = unit.workflow.contract_version
    note = Note(differs=(f"contract_version: made on {proposed.base_version}, now {now}",))
    unit.add(TransitionKind.AMENDMENT_REFUSED, reason=STALE, proposal=proposal_of(proposed), note=note, **said)


def proposal_of(proposed: Proposed) -> Proposal:
    """What was asked of a person."""
    return Proposal(
        item_id=proposed.item_id,
        base_version=proposed.base_version,
        widens=proposed.widens,
        proposer=proposed.proposer,
        owner=proposed.owner,
    )


def reject(unit: Unit, event: Contract, faults: tuple[str, ...], reason: str) -> None:
    """Note that a submission or an amendment was refused, and why."""
    unit.add(
        TransitionKind.CONTRACT_REJECTED,
        reason=reason,
        rejection=Rejection(content_digest=event.content_digest, faults=faults),
        note=Note(event_id=event.event_id, content_digest=event.content_digest),
    )
