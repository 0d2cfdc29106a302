"""`remit show`, `history` and `watch`: one workflow, folded from the log."""

import click
import msgspec

from remit.cli import clocks
from remit.cli.answers import one_document
from remit.cli.clocks import both
from remit.cli.explained import queue_of
from remit.cli.folded import Folded, fold_log
from remit.cli.following import follow, live_lines
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_line, print_table
from remit.cli.shown import document
from remit.cli.shown_text import print_shown
from remit.cli.telling import told
from remit.cli.tenants import tenant_of, tenant_option
from remit.client.history import Entry

COLUMNS = ("seq", "ver", "when", "kind", "task", "round", "attempt", "worker", "what")


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@tenant_option
@json_option
@pass_invocation
def show(invocation: Invocation, workflow_id: str, tenant: str | None, as_json: bool) -> None:
    """Show where a workflow stands: tasks, evidence, requirements, cost, who is waited for. Exit 1 if it is unknown."""
    with one_document(as_json=as_json):
        folded = _folded(invocation, workflow_id, tenant)
        shown = document(folded) | {"queue": queue_of(invocation.log, folded.workflow, clocks.now())}
    if as_json:
        print_json(shown)
    else:
        print_shown(shown, invocation.settings.zone)


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@tenant_option
@json_option
@pass_invocation
def history(invocation: Invocation, workflow_id: str, tenant: str | None, as_json: bool) -> None:
    """List every transition of a workflow in order, notes included. Exit 1 if it is unknown."""
    with one_document(as_json=as_json):
        entries = _folded(invocation, workflow_id, tenant).entries
    if as_json:
        print_json([_whole(entry) for entry in entries])
    else:
        zone = invocation.settings.zone
        print_table(COLUMNS, [_row(entry, both(entry.transition.decided_at, zone)) for entry in entries])


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@tenant_option
@click.option("--json", "as_json", is_flag=True, help="Print each transition as one line of JSON.")
@pass_invocation
def watch(invocation: Invocation, workflow_id: str, tenant: str | None, as_json: bool) -> None:
    """Show a workflow's steps from the first on, live, until it has ended. Exit 1 if it is unknown."""
    with one_document(as_json=as_json):
        folded = _folded(invocation, workflow_id, tenant)
        _ = folded.workflow
    lines = (lambda entry: print_line(_whole(entry))) if as_json else live_lines(invocation.settings.zone)
    follow(
        invocation.log, folded.tenant_id, workflow_id, lines, ended=lambda now: now.conflict or not now.workflow.open
    )


def _folded(invocation: Invocation, workflow_id: str, tenant: str | None) -> Folded:
    return fold_log(invocation.log, tenant_of(invocation.log, tenant), workflow_id)


def _whole(entry: Entry) -> dict[str, object]:
    recorded = entry.recorded
    place = {"topic": recorded.topic, "partition": recorded.partition, "offset": recorded.offset}
    whole: dict[str, object] = msgspec.to_builtins(entry.transition)
    return {"record": place, **whole}


def _row(entry: Entry, when: str) -> tuple[object, ...]:
    each = entry.transition
    what = told(each) or each.reason or ""
    return (
        each.sequence,
        each.version,
        when,
        each.kind.value,
        each.task_id,
        each.round,
        each.attempt,
        each.worker_id,
        what.removeprefix(f"{each.task_id}: "),
    )
