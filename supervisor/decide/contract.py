"""A submitted contract: through the gate, or refused with every fault. Pure."""

from remit.contract import normal
from remit.contract.gate import normalise
from remit.documents import parse
from remit.errors import ContractInvalidError, FaultyDocumentError
from remit.events.inputs import Contract, ContractKind
from remit.events.transitions import Note, TransitionKind

from ..state import Unborn
from .amending import on_amendment
from .unit import Unit
from .versions import DISHONEST, accepted_contract, is_of, readable, reject

TAKEN = "workflow_id is taken by a workflow with other content"


def on_contract(unit: Unit, event: Contract) -> None:
    """Accept, reject, or answer a repeated submission; an amendment is judged by itself."""
    state = unit.state
    if event.kind is ContractKind.AMENDED:
        on_amendment(unit, event)
    elif isinstance(state, Unborn):
        _begin(unit, event)
    elif state.content_digest != event.content_digest:
        reject(unit, event, (TAKEN,), "taken")
    elif not _is_honest(event):
        reject(unit, event, (DISHONEST,), "taken")
    else:
        unit.add(
            TransitionKind.DUPLICATE,
            reason="resubmitted",
            note=Note(event_id=event.event_id, content_digest=event.content_digest),
        )


def _is_honest(event: Contract) -> bool:
    try:
        return is_of(event.content_digest, parse(event.document, is_json=True))
    except FaultyDocumentError:
        return False


def _begin(unit: Unit, event: Contract) -> None:
    try:
        workflow = _judged(unit, event)
    except FaultyDocumentError as error:
        reject(unit, event, error.faults, "invalid")
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
    document = readable(event)
    workflow = normalise(
        document,
        unit.facts.policy,
        now=unit.facts.now,
        workflow_id=unit.state.workflow_id,
        tenant_id=unit.state.tenant_id,
        resolved=True,
    )
    if not is_of(event.content_digest, document):
        raise ContractInvalidError([DISHONEST])
    return workflow
