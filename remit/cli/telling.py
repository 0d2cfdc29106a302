"""One transition as a line for people; only what carries the flow has one. Pure; any command imports it."""

from collections.abc import Callable, Iterable

from remit.events.base import Evidence
from remit.events.inputs import ErrorClass
from remit.events.transitions import NOTES, Ending, Recovery, Transition, TransitionKind

FEW = 3


def told(transition: Transition) -> str | None:
    """The line, starting with the task where there is one; None for bookkeeping nobody watches for."""
    if transition.kind in NOTES:
        return _note(transition)
    teller = TELLERS.get(transition.kind)
    said = teller(transition) if teller else None
    if said is None:
        return None
    return f"{transition.task_id}: {said}" if transition.task_id else said


def failing_cases(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """Ids of the cases that failed, each once, in order."""
    return tuple(dict.fromkeys(case for each in evidence for case in each.failed_cases))


def few(names: Iterable[str]) -> str:
    """The first few, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - FEW} more" if len(every) > FEW else ""
    return ", ".join(every[:FEW]) + more


def _note(transition: Transition) -> str:
    faults = transition.rejection.faults if transition.rejection else ()
    differs = transition.note.differs if transition.note else ()
    why = few([*faults, *differs]) or transition.reason or ""
    return f"note: {transition.kind.value}{': ' if why else ''}{why}"


def _contract(transition: Transition) -> str:
    contract = transition.contract
    if contract is None:
        return transition.kind.value
    drafted = f", drafted by {contract.proposed_by}" if contract.proposed_by else ""
    approved = f", approved by {contract.approved_by}" if contract.approved_by else ""
    widened = f"; it widens: {few(contract.widened)}" if contract.widened else ""
    return f"contract version {contract.contract_version} holds{drafted}{approved}{widened}"


def _proposed(transition: Transition) -> str:
    proposal = transition.proposal
    if proposal is None:
        return transition.kind.value
    return (
        f"amendment of contract version {proposal.base_version} by {proposal.proposer} waits for {proposal.owner} "
        f"(item {proposal.item_id}): it widens {few(proposal.widens)}"
    )


def _amendment_refused(transition: Transition) -> str:
    found = transition.resolution
    by = f" by {found.person}" if found else ""
    why = (found.reason if found else None) or transition.reason
    return f"amendment refused{by}{f': {why}' if why else ''}"


def _correction(transition: Transition) -> str:
    faults = transition.correction.faults if transition.correction else ()
    return f"result does not fit, {transition.worker_id} is asked once to mend it: {few(faults)}"


def _resolved(transition: Transition) -> str:
    found = transition.resolution
    if found is None:
        return transition.kind.value
    return (
        f"{found.person} decided on {found.item_id}: {found.resolution}{f' ({found.reason})' if found.reason else ''}"
    )


def _attempt(transition: Transition) -> str:
    return f"round {transition.round}, attempt {transition.attempt}"


def _claimed(transition: Transition) -> str:
    number = transition.claim.attempt if transition.claim else transition.attempt
    return f"started by {transition.worker_id} (round {transition.round}, attempt {number})"


def _accepted(transition: Transition) -> str:
    evidence = transition.accepted.evidence if transition.accepted else ()
    return f"accepted ({_attempt(transition)}) on {len(evidence)} pieces of evidence{_spawned(transition)}"


def _spawned(transition: Transition) -> str:
    accepted = transition.accepted
    taken = accepted.subtasks if accepted else ()
    refused = [f"{each.task_id}: {each.reason}" for each in (accepted.refused_subtasks if accepted else ())]
    words = f"; further tasks: {few(taken)}" if taken else ""
    return words + (f"; tasks refused: {few(refused)}" if refused else "")


def _ended(transition: Transition) -> str:
    ending = transition.ending
    if ending is None:
        return transition.reason or transition.kind.value
    cases = failing_cases(ending.failing)
    why = f"failing: {few(cases)}" if cases else few(ending.faults)
    head = f"{ending.outcome} ({_attempt(transition)})"
    return f"{head}{': ' if why else ''}{why}{_follows(ending)}"


def _follows(ending: Ending) -> str:
    match ending.recovery:
        case Recovery.REWORK:
            return f" -> only that evidence goes back to {ending.rework_task}"
        case Recovery.ESCALATE if ending.error_class is ErrorClass.NEEDS_REVIEW:
            return f" -> {ending.owner} is asked"
        case Recovery.ESCALATE:
            return f" -> escalated to {ending.owner}"
        case Recovery.RETRY | Recovery.REASSIGN:
            return f" -> {ending.recovery.value}"
        case _:
            return ""


def _stopped(transition: Transition) -> str:
    stop = transition.stop
    by = f" by {stop.person}" if stop and stop.person else ""
    detail = f": {stop.detail}" if stop and stop.detail else ""
    return f"stopped, {transition.reason}{by}{detail}"


def _escalated(transition: Transition) -> str:
    owner = transition.stop.owner if transition.stop else None
    return f"escalated to {owner or 'its owner'}: {transition.reason}"


def _gate(transition: Transition) -> str:
    gate = transition.gate
    if gate is None:
        return "workflow accepted"
    deployment = authorisation(gate.deployment_authorisation)
    return f"development_acceptance: {gate.development_acceptance}, deployment_authorisation: {deployment}"


def authorisation(value: str) -> str:
    """The word of record, as people read it."""
    return "pending human approval" if value == "pending" else value


TELLERS: dict[TransitionKind, Callable[[Transition], str | None]] = {
    TransitionKind.CONTRACT_ACCEPTED: _contract,
    TransitionKind.CONTRACT_AMENDED: _contract,
    TransitionKind.AMENDMENT_PROPOSED: _proposed,
    TransitionKind.AMENDMENT_REFUSED: _amendment_refused,
    TransitionKind.POLICY_CHANGED: lambda t: f"policy {(t.policy_sha256 or '')[:12]} holds",
    TransitionKind.OFFER_DECLINED: lambda t: f"{t.worker_id} declined ({t.reason})",
    TransitionKind.OFFER_EXPIRED: lambda t: f"offer to {t.worker_id} lapsed ({t.reason})",
    TransitionKind.CLAIMED: _claimed,
    TransitionKind.INSPECTION_REQUESTED: lambda _: "result handed in, its evidence is checked",
    TransitionKind.CORRECTION_REQUESTED: _correction,
    TransitionKind.RESULT_ACCEPTED: _accepted,
    TransitionKind.RESULT_REFUSED: _ended,
    TransitionKind.ATTEMPT_FAILED: _ended,
    TransitionKind.LEASE_EXPIRED: _ended,
    TransitionKind.TASK_ESCALATED: _escalated,
    TransitionKind.TASK_RESOLVED: _resolved,
    TransitionKind.TASK_STOPPED: _stopped,
    TransitionKind.WORKFLOW_ACCEPTED: _gate,
    TransitionKind.WORKFLOW_STOPPED: lambda t: f"workflow {_stopped(t)}",
    TransitionKind.WORKFLOW_QUARANTINED: lambda t: f"workflow quarantined: {t.reason}",
}
