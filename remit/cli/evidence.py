"""`remit evidence`: the evidence that a workflow's accepted results rest on, as in-toto Statements."""

from typing import TYPE_CHECKING

import click

from remit.cli.answers import one_document
from remit.cli.clocks import both
from remit.cli.folded import fold_log
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_table, say
from remit.cli.tenants import tenant_of, tenant_option
from remit.events.base import Evidence
from remit.statements import statement

if TYPE_CHECKING:
    from supervisor.state import Workflow

COLUMNS = ("task", "kind", "command", "exit", "passed", "subject", "seen by", "worker", "ended")


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@tenant_option
@json_option
@pass_invocation
def evidence(invocation: Invocation, workflow_id: str, tenant: str | None, as_json: bool) -> None:
    """List the evidence of all accepted results; with --json as in-toto Statements. Exit 1 if it is unknown."""
    with one_document(as_json=as_json):
        workflow = fold_log(invocation.log, tenant_of(invocation.log, tenant), workflow_id).workflow
    if as_json:
        print_json(_statements(workflow))
        return
    rows = [_row(each, both(each.ended_at, invocation.settings.zone)) for each in _accepted(workflow)]
    if rows:
        print_table(COLUMNS, rows)
    else:
        say("No result was accepted yet.")


def _accepted(workflow: "Workflow") -> list[Evidence]:
    return [each for task in workflow.tasks.values() for each in task.evidence]


def _statements(workflow: "Workflow") -> list[dict[str, object]]:
    return [
        statement(each, workflow.contract, task.subject)
        for task in workflow.tasks.values()
        if task.subject is not None
        for each in task.evidence
    ]


def _row(each: Evidence, ended: str) -> tuple[object, ...]:
    about = each.subject and (each.subject.revision or each.subject.digest)
    return (
        each.task_id,
        each.kind.value,
        each.command,
        each.exit_status,
        len(each.passed_cases) or None,
        about and about[:12],
        each.observed_by.value,
        each.worker_id,
        ended,
    )
