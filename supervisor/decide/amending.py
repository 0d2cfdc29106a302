"""Amendments from outside: taken up at once if they only tighten, else put to a person, or refused. Pure."""

from typing import Any

from remit.contract import normal
from remit.contract.amend import Amendment, amended, changed_places
from remit.errors import FaultyDocumentError
from remit.events.inputs import Contract, Decision, DecisionKind
from remit.events.transitions import Note, Proposal, Resolution, TransitionKind
from remit.faults import MAX_LINES

from ..inbox import item_id
from ..state import Proposed, Workflow
from .drafting import BY_RULE
from .unit import Unit
from .versions import DISHONEST, is_of, next_version, proposal_of, readable, refuse_outdated, reject, take_effect, unfit
from .words import in_words

DEVELOPMENT = "development"
MAX_PROPOSED = 10
"""Each holds a whole contract, in the state and in its checkpoints."""


def on_amendment(unit: Unit, event: Contract) -> None:
    """Judge an amendment: seen before, refused, made on another version, only tightening, or for a person."""
    if not isinstance(unit.state, Workflow):
        reject(unit, event, ("no contract of this id was accepted",), "unknown_workflow")
    elif _seen(unit.state, event):
        _duplicate(unit, event)
    elif not unit.state.open:
        reject(unit, event, ("the workflow has ended",), "ended")
    elif event.base_version is None:
        reject(unit, event, ("base_version is required",), "invalid")
    else:
        _read(unit, event, event.base_version)


def _seen(workflow: Workflow, event: Contract) -> bool:
    waiting = any(each.accepted.content_digest == event.content_digest for each in workflow.proposed)
    return waiting or event.event_id in workflow.refused


def _read(unit: Unit, event: Contract, base: int) -> None:
    workflow, facts = unit.workflow, unit.facts
    try:
        document = readable(event)
    except FaultyDocumentError as error:
        reject(unit, event, error.faults, "invalid")
        return
    if not is_of(event.content_digest, document):
        reject(unit, event, (DISHONEST,), "invalid")
        return
    try:
        found = amended(workflow.contract, document, facts.policy, now=facts.now)
    except FaultyDocumentError as error:
        if base == workflow.contract_version:
            reject(unit, event, error.faults, "invalid")
        else:
            _stale(unit, event, base, document)
        return
    if found.workflow == workflow.contract:
        _duplicate(unit, event)
    elif base != workflow.contract_version:
        _stale(unit, event, base, document)
    else:
        _judge(unit, event, found)


def _duplicate(unit: Unit, event: Contract) -> None:
    note = Note(event_id=event.event_id, content_digest=event.content_digest)
    unit.add(TransitionKind.DUPLICATE, reason="resubmitted", note=note)


def _stale(unit: Unit, event: Contract, base: int, document: dict[str, Any]) -> None:
    """Made on a version that no longer holds: both are named, and where it says otherwise than the one in force."""
    workflow = unit.workflow
    differs = (
        f"contract_version: read {base}, now {workflow.contract_version}",
        *changed_places(workflow.contract, document, unit.facts.policy),
    )
    note = Note(event_id=event.event_id, differs=differs, content_digest=event.content_digest)
    unit.add(TransitionKind.STALE, reason="amendment", note=note)


def _judge(unit: Unit, event: Contract, found: Amendment) -> None:
    if found.forbidden:
        reject(unit, event, found.forbidden, "security_requirement")
    elif faults := unfit(unit.workflow, found.workflow):
        reject(unit, event, faults, "invalid")
    elif not found.widens:
        take_effect(unit, found.workflow, _record(unit, event, found, approved_by=BY_RULE))
    elif len(found.widens) > MAX_LINES:
        reject(unit, event, (f"widens more than {MAX_LINES} things at once",), "invalid")
    elif len(unit.workflow.proposed) >= MAX_PROPOSED:
        reject(unit, event, (f"{MAX_PROPOSED} amendments wait for a person already",), "too_many")
    else:
        _propose(unit, event, found)


def _record(unit: Unit, event: Contract, found: Amendment, **said: Any) -> Any:  # noqa: ANN401
    return next_version(
        unit.workflow,
        found.workflow,
        content_digest=event.content_digest,
        proposed_by=event.submitter,
        widened=found.widens,
        reason=in_words(event.reason),
        **said,
    )


def _propose(unit: Unit, event: Contract, found: Amendment) -> None:
    workflow = unit.workflow
    proposal = Proposal(
        item_id=item_id(workflow.workflow_id, workflow.sequence + 1),
        base_version=workflow.contract_version,
        widens=found.widens,
        proposer=event.submitter,
        owner=workflow.contract.owner,
    )
    record = _record(unit, event, found)
    unit.add(TransitionKind.AMENDMENT_PROPOSED, contract=record, proposal=proposal)


def decide_amendment(unit: Unit, event: Decision, proposed: Proposed) -> None:
    """Let a person approve or refuse exactly the version that was proposed, with a reason."""
    if objection := _objection(unit, event, proposed):
        note = Note(event_id=event.event_id, differs=(objection,))
        unit.add(TransitionKind.STALE, reason=event.kind.value, note=note, minutes_spent=event.minutes_spent)
    elif event.kind is not DecisionKind.APPROVE:
        said: dict[str, Any] = {"resolution": _resolution(event, proposed), "minutes_spent": event.minutes_spent}
        unit.add(TransitionKind.AMENDMENT_REFUSED, reason="refused", proposal=proposal_of(proposed), **said)
    else:
        _approve(unit, event, proposed)


def _objection(unit: Unit, event: Decision, proposed: Proposed) -> str | None:
    own = event.kind is DecisionKind.APPROVE and event.person == proposed.proposer
    if own and unit.facts.policy.environment != DEVELOPMENT:
        return "person: whoever proposed it can't approve it"
    if event.content_sha256 != proposed.accepted.contract_sha256:
        return "content_sha256: not that of the proposed contract"
    return None if event.reason else "reason: is required"


def _resolution(event: Decision, proposed: Proposed) -> Resolution:
    return Resolution(
        item_id=proposed.item_id,
        person=event.person,
        resolution=event.kind.value,
        reason=in_words(event.reason),
        content_sha256=proposed.accepted.contract_sha256,
    )


def _approve(unit: Unit, event: Decision, proposed: Proposed) -> None:
    workflow, accepted = unit.workflow, proposed.accepted
    said: dict[str, Any] = {"resolution": _resolution(event, proposed), "minutes_spent": event.minutes_spent}
    contract = normal.decode(accepted.document)
    if proposed.base_version != workflow.contract_version:
        refuse_outdated(unit, proposed, **said)
        return
    if faults := unfit(workflow, contract):  # tasks began or were stopped meanwhile
        note = Note(differs=faults)
        unit.add(TransitionKind.AMENDMENT_REFUSED, reason="begun", proposal=proposal_of(proposed), note=note, **said)
        return
    record = next_version(
        workflow,
        contract,
        content_digest=accepted.content_digest,
        proposed_by=proposed.proposer,
        approved_by=event.person,
        widened=proposed.widens,
        reason=accepted.reason,
    )
    take_effect(unit, contract, record, **said)
