"""Cancels a workflow or one of its tasks. The command line imports it."""

from datetime import UTC, datetime

from remit.client.effects import TIMEOUT_S, carry_out, unconfirmed
from remit.client.history import history
from remit.client.identity import who
from remit.client.policies import PRODUCER
from remit.client.within import within
from remit.errors import LogError, RefusedError
from remit.events.envelope import new_event
from remit.events.inputs import Decision, DecisionKind
from remit.events.transitions import Transition, TransitionKind
from remit.log.protocols import Log
from remit.redaction import redact
from remit.topics import Topic

CANCELS = frozenset({TransitionKind.TASK_STOPPED, TransitionKind.WORKFLOW_STOPPED})


def cancel(
    log: Log, tenant_id: str, workflow_id: str, *, task_id: str | None, reason: str, timeout: float = TIMEOUT_S
) -> Transition:
    """Ask for the end of a workflow, or of one task and what needs it; the first transition that stopped something.

    Raises RefusedError (unknown, ended already, no such task) or UnconfirmedError.
    """
    ask = f"Ask with: remit show {workflow_id} --tenant {tenant_id}; to cancel again is safe"
    _must_exist(log, tenant_id, workflow_id, timeout, ask)
    event = _decision(tenant_id, workflow_id, task_id, reason)
    found = carry_out(log, event, Topic.DECISIONS, timeout=timeout, ask=ask)
    if found.kind not in CANCELS:
        said = found.note.differs if found.note else ()
        raise RefusedError(f"{_named(workflow_id, task_id)} was not cancelled: {'; '.join(said) or found.kind.value}")
    return found


def _must_exist(log: Log, tenant_id: str, workflow_id: str, timeout: float, ask: str) -> None:
    """A mistyped id is refused here, before it becomes a dead letter."""
    try:
        known = within(timeout, lambda: history(log, tenant_id, workflow_id))
    except (TimeoutError, LogError) as error:
        raise unconfirmed(timeout, "nothing was sent", error, ask) from error
    if not known:
        raise RefusedError(unknown(tenant_id, workflow_id))


def unknown(tenant_id: str, workflow_id: str) -> str:
    """What is said of a workflow that the log does not know."""
    workflow, tenant = redact(workflow_id), redact(tenant_id)
    return f"no workflow {workflow} of tenant {tenant} is on the log (another tenant: --tenant NAME)"


def _named(workflow_id: str, task_id: str | None) -> str:
    return f"task {task_id} of {workflow_id}" if task_id else workflow_id


def _decision(tenant_id: str, workflow_id: str, task_id: str | None, reason: str) -> Decision:
    return new_event(
        Decision,
        tenant_id=tenant_id,
        workflow_id=workflow_id,
        producer=PRODUCER,
        clock_now=datetime.now(UTC),
        kind=DecisionKind.CANCEL,
        person=who(),
        task_id=task_id,
        reason=redact(reason),
    )
