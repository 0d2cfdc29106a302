"""`remit submit` and `remit cancel`: they write, and answer with the transition that it caused."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from remit import documents
from remit.artefacts import ArtefactStore
from remit.cli.answers import one_document
from remit.cli.check import FILE
from remit.cli.folded import Folded
from remit.cli.following import follow, live_lines
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, say
from remit.cli.shown import document as shown_document
from remit.cli.tenants import tenant_of, tenant_option
from remit.client import cancelling, submission
from remit.client.effects import TIMEOUT_S, unconfirmed
from remit.errors import LogError, RefusedError
from remit.events.inputs import Contract
from remit.events.transitions import Transition, TransitionKind

if TYPE_CHECKING:
    from supervisor.state import Workflow


class _Seconds(click.FloatRange):
    """A wait that a clock can measure: click takes NaN for a number within any range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value} is not a number of seconds", param, ctx)
        return found


SECONDS = _Seconds(min=1, max=10**9)


@click.command()
@click.argument("file", type=FILE)
@click.option("--id", "workflow_id", help="Submit it under this id; by default the file's, else a fresh one.")
@click.option("--wait", is_flag=True, help="Wait until it is accepted, has ended, or a person has it; show each step.")
@click.option(
    "--timeout",
    type=SECONDS,
    metavar="SECONDS",
    help=f"Wait at most so long for the answer ({TIMEOUT_S:g}), or with --wait for the end (no limit).",
)
@json_option
@pass_invocation
def submit(
    invocation: Invocation, /, *, file: Path, workflow_id: str | None, wait: bool, timeout: float | None, as_json: bool
) -> None:
    """Submit a workflow file, bare contract or task envelope.

    Exit 0: accepted, or submitted before with the same content. 1: refused; with --wait also stopped or escalated.
    2: invalid, one line per fault. 3: not confirmed in time, with the id to ask by.
    """
    with one_document(as_json=as_json):
        began = time.monotonic()
        event, found = _submit(invocation, file, workflow_id, min(timeout or TIMEOUT_S, TIMEOUT_S))
        outcome = "duplicate" if found.kind is TransitionKind.DUPLICATE else "accepted"
        if not as_json:
            say(f"{event.workflow_id} {'was submitted already' if outcome == 'duplicate' else 'is accepted for work'}")
        answer = _answer(event, found, outcome)
        if wait:
            deadline = began + timeout if timeout else None
            folded = _wait(invocation, event, deadline, as_json=as_json)
            answer |= {"workflow": shown_document(folded)}
        if as_json:
            print_json(answer)
    if wait:
        _judge(folded.workflow)


def _submit(invocation: Invocation, file: Path, workflow_id: str | None, timeout: float) -> tuple[Contract, Transition]:
    document = documents.read(file)
    if workflow_id is not None:
        document = submission.under(document, workflow_id)
    named = workflow_id or submission.own_id(document)
    chosen = named or submission.fresh_id()
    if named is None:  # before anything is sent: whatever happens, there is an id to ask by
        say(f"workflow id: {chosen}", err=True)
    rules = submission.newest_policy(invocation.log, chosen, timeout=timeout)
    store = ArtefactStore(invocation.settings.artefact_url)
    event = submission.prepare(document, chosen, rules, store, file.parent)
    return event, submission.send(invocation.log, event, timeout=timeout)


def _answer(event: Contract, found: Transition, outcome: str) -> dict[str, Any]:
    return {
        "outcome": outcome,
        "workflow_id": event.workflow_id,
        "tenant_id": event.tenant_id,
        "event_id": event.event_id,
        "content_digest": event.content_digest,
        "sequence": found.sequence,
        "version": found.version,
    }


def _wait(invocation: Invocation, event: Contract, deadline: float | None, *, as_json: bool) -> Folded:
    lines = live_lines(invocation.settings.zone, err=as_json)
    began = time.monotonic()
    try:
        return follow(
            invocation.log,
            event.tenant_id,
            event.workflow_id,
            lines,
            ended=lambda folded: folded.at_rest,
            deadline=deadline,
        )
    except (TimeoutError, LogError) as error:
        ask = submission.asking(event.workflow_id, event.tenant_id)
        waited = time.monotonic() - began
        raise unconfirmed(waited, "it was accepted for work and has not ended", error, ask) from error


def _judge(workflow: "Workflow") -> None:
    """Exit 0 for development acceptance alone."""
    if workflow.development_acceptance == "approved":
        return
    if workflow.status.value == "escalated":
        who = ", ".join(sorted({getattr(task.phase, "owner", "") for task in workflow.tasks.values()} - {""}))
        raise RefusedError(f"{workflow.workflow_id} is escalated: {who} has it")
    reason = workflow.stop_reason.value if workflow.stop_reason else "its history is in doubt"
    raise RefusedError(f"{workflow.workflow_id} is {workflow.status.value}: {reason}")


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@click.option("--task", "task_id", help="Cancel this task alone, and what needs its result.")
@click.option("--reason", required=True, help="Why, for the record.")
@click.option("--timeout", type=SECONDS, default=TIMEOUT_S, show_default=True, help="Seconds to wait for the answer.")
@tenant_option
@json_option
@pass_invocation
def cancel(
    invocation: Invocation,
    /,
    *,
    workflow_id: str,
    task_id: str | None,
    reason: str,
    timeout: float,
    tenant: str | None,
    as_json: bool,
) -> None:
    """Cancel a workflow, or one of its tasks.

    Exit 0: it was stopped. 1: refused, since it is unknown or has ended. 3: not confirmed in time.
    """
    with one_document(as_json=as_json):
        tenant_id = _tenant(invocation, tenant, workflow_id, timeout)
        found = cancelling.cancel(
            invocation.log, tenant_id, workflow_id, task_id=task_id, reason=reason, timeout=timeout
        )
    if as_json:
        print_json({"outcome": "cancelled", "workflow_id": workflow_id, "task_id": task_id, "version": found.version})
    else:
        say(f"{f'task {task_id} of ' if task_id else ''}{workflow_id} is cancelled")


def _tenant(invocation: Invocation, tenant: str | None, workflow_id: str, timeout: float) -> str:
    try:
        return tenant_of(invocation.log, tenant, timeout)
    except LogError as error:
        raise unconfirmed(timeout, "nothing was sent", error, f"Ask with: remit show {workflow_id}") from error
