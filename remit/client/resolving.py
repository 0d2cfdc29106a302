"""Decides on an open item of the inbox. The command line imports it."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from remit.client.effects import TIMEOUT_S, carry_out
from remit.client.identity import who
from remit.client.policies import PRODUCER
from remit.errors import InvalidInputError, RefusedError
from remit.events.envelope import new_event
from remit.events.inputs import Decision, DecisionKind
from remit.events.transitions import NOTES, Transition, TransitionKind
from remit.ids import is_id
from remit.log.protocols import Log
from remit.redaction import redact
from remit.topics import Topic

RETRY, STOP, APPROVE, REFUSE = "retry", "stop", "approve", "refuse"
KINDS = {
    RETRY: DecisionKind.RESOLVE,
    STOP: DecisionKind.RESOLVE,
    APPROVE: DecisionKind.APPROVE,
    REFUSE: DecisionKind.REFUSE,
}


class Seen(NamedTuple):
    """An open item exactly as it was looked at: the decision holds for this and nothing else."""

    tenant_id: str
    workflow_id: str
    item_id: str
    content_sha256: str
    state_version: int
    task_id: str | None


def workflow_of(item_id: str) -> str:
    """The workflow that an item's id names; InvalidInputError for what is no such id."""
    workflow_id, _, sequence = item_id.rpartition("/")
    if not is_id(workflow_id) or not sequence.isdecimal():
        raise InvalidInputError("an item's id is WORKFLOW/SEQUENCE, such as reset-1/42: remit inbox lists them")
    return workflow_id


def resolve(
    log: Log, seen: Seen, word: str, *, reason: str, minutes: Decimal | None = None, timeout: float = TIMEOUT_S
) -> Transition:
    """Decide on an item: `retry`, `stop`, `approve` or `refuse`; the first transition that followed.

    Raises RefusedError with what the supervisor noted, or UnconfirmedError.
    """
    ask = f"Ask with: remit inbox {seen.item_id} --tenant {seen.tenant_id}; to decide again is safe, it counts once"
    found = carry_out(log, _decision(seen, word, reason, minutes), Topic.DECISIONS, timeout=timeout, ask=ask)
    if found.kind in NOTES or (word == APPROVE and found.kind is TransitionKind.AMENDMENT_REFUSED):
        said = found.note.differs if found.note else ()
        why = "; ".join(said) or found.reason or found.kind.value
        raise RefusedError(f"{seen.item_id} was not decided ({found.kind.value}): {why}")
    return found


def _decision(seen: Seen, word: str, reason: str, minutes: Decimal | None) -> Decision:
    return new_event(
        Decision,
        tenant_id=seen.tenant_id,
        workflow_id=seen.workflow_id,
        producer=PRODUCER,
        clock_now=datetime.now(UTC),
        kind=KINDS[word],
        person=who(),
        task_id=seen.task_id,
        item_id=seen.item_id,
        content_sha256=seen.content_sha256,
        state_version=seen.state_version,
        resolution=word,
        reason=redact(reason),
        minutes_spent=minutes,
    )
