"""Outcomes: where workflows came to stand, that acceptance came once, on evidence at its subject, offers one each."""

from collections import Counter
from collections.abc import Iterator

from chaos.history import History, Key
from chaos.workload import SHAPES
from remit import ids
from remit.events.base import Evidence, EvidenceType
from remit.events.service import DispatchKind
from remit.events.transitions import Recovery, Stop, StopReason, Transition, TransitionKind, WorkflowStatus
from remit.subjects import subject_of

NEVER = frozenset({StopReason.UNTRUSTED_STATE, StopReason.DECIDER_FAULT, StopReason.UNKNOWN})
"""Stop reasons that no fault of processes, broker or store explains."""
NAMED = frozenset(task for shape in SHAPES for task in shape)
"""Tasks of the workflow files; others were proposed or verify."""
HANDED_OVER = frozenset({EvidenceType.DOCUMENT, EvidenceType.REVIEW})
"""Kinds whose evidence is a declared output itself; that of a command is what it printed."""
SUBMITTED = frozenset({TransitionKind.CONTRACT_ACCEPTED, TransitionKind.CONTRACT_REJECTED})


def ended(history: History, submitted: list[Key]) -> list[str]:
    """Every acknowledged workflow is accepted, stopped for a named reason, or with a named person."""
    return [f"{'/'.join(key)}: {fault}" for key in submitted if (fault := _unexplained(history.workflows.get(key)))]


def _unexplained(events: list[Transition] | None) -> str | None:
    if not events or events[0].kind is not TransitionKind.CONTRACT_ACCEPTED:
        return f"begins with {events[0].kind if events else 'nothing'}"
    status = events[-1].workflow_status
    stops = [event.stop.stop_reason for event in events if event.stop is not None]
    says_why = {WorkflowStatus.STOPPED: stops, WorkflowStatus.ESCALATED: _owners(events)}
    if status is WorkflowStatus.ACCEPTED or (says_why.get(status) and NEVER.isdisjoint(stops[-1:])):
        return None
    return f"{status} since {events[-1].kind} {events[-1].task_id or ''} {events[-1].reason or ''}"


def _owners(events: list[Transition]) -> list[str]:
    """Whom the last escalation gave its task to, by a stop or by the end of an attempt."""
    gave = [event.stop if event.kind is TransitionKind.TASK_ESCALATED else event.ending for event in events]
    owners = [each.owner for each in gave if isinstance(each, Stop) or (each and each.recovery is Recovery.ESCALATE)]
    return [owner for owner in owners[-1:] if owner]


def reasons(history: History) -> Counter[str]:
    """How the workflows of a run stand, with the reason of those that were not accepted."""
    found: Counter[str] = Counter()
    for events in history.workflows.values():
        status = events[-1].workflow_status
        stops = [event.stop.stop_reason.value for event in events if event.stop is not None]
        found[f"{status} ({stops[-1]})" if stops and status is not WorkflowStatus.ACCEPTED else status.value] += 1
    return found


def accepted_once(history: History, _submitted: list[Key]) -> list[str]:
    """One contract, at most one acceptance of a workflow, one of each task and round, and none after the end."""
    found = []
    for key, events in history.workflows.items():
        counts = Counter(_once(event) for event in events if _once(event))
        found += [f"{'/'.join(key)}: {what} {count} times" for what, count in counts.items() if count > 1]
        accepted = [event.workflow_status is WorkflowStatus.ACCEPTED for event in events]
        if True in accepted and not all(accepted[accepted.index(True) :]):
            found.append(f"{'/'.join(key)}: left its acceptance")
        if (TransitionKind.WORKFLOW_ACCEPTED in {event.kind for event in events}) != (True in accepted):
            found.append(f"{'/'.join(key)}: accepted without an acceptance")
    return found


def _once(event: Transition) -> str | None:
    if event.kind is TransitionKind.RESULT_ACCEPTED:
        return f"result_accepted {event.task_id} round {event.round}"
    if event.kind in SUBMITTED or event.kind is TransitionKind.WORKFLOW_ACCEPTED:
        return event.kind.value
    return None


def evidence(history: History, _submitted: list[Key]) -> list[str]:
    """Every accepted result bears evidence of its own attempt at its own subject; every gate held."""
    return [f"{'/'.join(key)}: {fault}" for key, events in history.workflows.items() for fault in _unevidenced(events)]


def _unevidenced(events: list[Transition]) -> Iterator[str]:
    offered = {event.attempt_id: event for event in events if event.dispatch is not None}
    accepted: set[str] = set()
    for event in events:
        if event.accepted is not None:
            accepted.add(event.task_id or "")
            yield from _unbound(event, offered.get(event.attempt_id))
        if event.gate is not None:
            if not event.gate.requirements or not all(each.held for each in event.gate.requirements):
                yield "accepted with a requirement that does not hold"
            if not accepted:
                yield "accepted without an accepted result"


def _unbound(event: Transition, offer: Transition | None) -> Iterator[str]:
    """What is wrong with the evidence of one accepted result."""
    if event.accepted is None or offer is None or offer.dispatch is None:
        yield f"{event.task_id} was accepted of an attempt that was never offered"
        return
    subject = subject_of(offer.dispatch.inputs)
    speaking = [each for each in event.accepted.evidence if each.checks]
    if not speaking or (event.task_id in NAMED and f"report-{event.task_id}" not in _checks(speaking)):
        yield f"{event.task_id} was accepted without evidence for its check"
    for each in speaking:
        bound = (each.attempt_id, each.task_id, each.worker_id, each.subject)
        if bound != (event.attempt_id, event.task_id, offer.worker_id, subject):
            yield f"{event.task_id}: evidence of another attempt, task, worker or subject"
    stored = {output.artefact.sha256 for output in event.accepted.outputs if output.artefact}
    handed_over = (each.output for each in speaking if each.output and each.kind in HANDED_OVER)
    if not {each.sha256 for each in handed_over} <= stored:
        yield f"{event.task_id}: evidence of an output that was not accepted"


def _checks(evidence: list[Evidence]) -> set[str]:
    return {check for each in evidence for check in each.checks}


def offers(history: History, _submitted: list[Key]) -> list[str]:
    """Each dispatched transition has exactly one offer on its pool's topic, and no offer comes from elsewhere."""
    sent = Counter(each.event_id for each in history.dispatched if each.kind is DispatchKind.OFFER)
    wanted = {
        ids.dispatch_id(event.event_id, event.worker_id or ""): event
        for _, event in history.transitions
        if event.dispatch is not None
    }
    twice = [f"offer {each} was sent {count} times" for each, count in sent.items() if count > 1]
    strays = [f"offer {each} belongs to no transition" for each in sent if each not in wanted]
    missing = [f"{e.workflow_id}: sequence {e.sequence} has no offer" for i, e in wanted.items() if i not in sent]
    return twice + strays + missing
