"""`remit check`: judges a contract document under a policy, without any broker."""

from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from remit import documents
from remit.cli.output import json_option, print_json, print_table
from remit.contract import normal
from remit.contract.deadlines import parse_deadline
from remit.contract.gate import normalise
from remit.contract.resolve import unresolved
from remit.errors import ContractInvalidError, SettingsError
from remit.faults import render
from remit.policy import load

FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


@click.command()
@click.argument("file", type=FILE)
@click.option("--policy", "policy_file", type=FILE, help="Judge under this policy instead of the shipped one.")
@click.option("--at", metavar="TIME", help="Judge deadlines at this time, like 2026-07-01T00:00:00Z, instead of now.")
@json_option
@click.pass_context
def check(context: click.Context, file: Path, policy_file: Path | None, at: str | None, as_json: bool) -> None:
    """Check a workflow file, bare contract or task envelope. Every fault is one line; exit 2 if there is any."""
    now = _instant(at)
    policy_text = load.read(policy_file)
    policy = load.parse(policy_text)
    head = {"policy_sha256": load.sha256(policy_text), "judged_at": now.isoformat()}
    try:
        document = documents.read(file)
        workflow = normalise(document, policy, now=now)
    except ContractInvalidError as error:
        if not as_json:
            raise
        print_json({"valid": False, "faults": error.faults} | head)
        context.exit(error.exit_code)
    open_ = [render(one.path) for one in unresolved(document, policy.reference_schemes)]
    if as_json:
        understood = msgspec.to_builtins(workflow)
        print_json({"valid": True} | head | {"resolved_at_submit": open_, "workflow": understood})
    else:
        _print(workflow, head["policy_sha256"], policy_file, open_)


def _instant(at: str | None) -> datetime:
    if at is None:
        return datetime.now(UTC)
    instant = parse_deadline(at)
    if isinstance(instant, datetime):
        return instant
    raise SettingsError(f"--at {instant}")


def _print(workflow: normal.Workflow, policy_sha256: str, policy_file: Path | None, open_: list[str]) -> None:
    click.echo(f"valid: workflow {workflow.workflow_id}, tenant {workflow.tenant_id}, owner {workflow.owner}")
    click.echo(f"policy {policy_sha256} ({policy_file or 'shipped'})")
    click.echo(f"limits: {_limits(workflow.limits)}")
    for where in open_:
        click.echo(f"resolved at submit: {where}")
    click.echo()
    tasks = [(task.task_id, task.task_type, task.pool, ", ".join(task.depends_on)) for task in workflow.tasks.values()]
    print_table(("task", "type", "pool", "after"), tasks)
    click.echo()
    print_table(("requirement", "check", "kind", "task", "holds at"), _checks(workflow))


def _checks(workflow: normal.Workflow) -> list[tuple[str, ...]]:
    return [
        (requirement.id, check.id, check.kind, check.task, check.holds_at)
        for requirement in workflow.requirements
        for check in requirement.checks
    ]


def _limits(limits: normal.Limits) -> str:
    said = [
        f"{limits.deadline_seconds} s",
        f"£{limits.max_cost_gbp}",
        f"{limits.max_tokens} tokens",
        f"{limits.max_tool_calls} tool calls",
    ]
    if limits.deadline is not None:
        local = datetime.fromisoformat(limits.deadline).astimezone()
        said.append(f"until {limits.deadline} ({local:%Y-%m-%d %H:%M:%S %Z} here)")
    return ", ".join(said)
