"""`remit explain`: why a task waits, who could take it, how its worker was chosen, and what each check lacks."""

from typing import Any
from zoneinfo import ZoneInfo

import click

from remit.cli import clocks
from remit.cli.answers import one_document
from remit.cli.attempt_logs import task_of
from remit.cli.explained import one, room, whole
from remit.cli.folded import fold_log
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_table, say
from remit.cli.tenants import tenant_of, tenant_option

Document = dict[str, Any]
CHECKS = ("check", "requirement", "of task", "holds at", "held", "made on", "must hold at", "because")
WORKERS = ("worker", "pool", "excluded by", "price entry", "unit prices £", "attempts")


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@click.argument("task_id", metavar="TASK", required=False)
@tenant_option
@json_option
@pass_invocation
def explain(invocation: Invocation, workflow_id: str, task_id: str | None, tenant: str | None, as_json: bool) -> None:
    """Say why each task is where it is, and on which revision each check was made and must hold.

    With TASK also every registered worker with the first rule that excludes it now, and how the worker of each
    dispatch was chosen. Exit 1 if workflow or task is unknown.
    """
    with one_document(as_json=as_json):
        folded = fold_log(invocation.log, tenant_of(invocation.log, tenant), workflow_id)
        if task_id is not None:
            task_of(folded.workflow, task_id)
        around = room(invocation.log, folded.workflow, clocks.now())
        explained = whole(folded, around) if task_id is None else one(folded, task_id, around)
    if as_json:
        print_json(explained)
    elif task_id is None:
        print_whole(explained)
    else:
        print_one(explained, invocation.settings.zone)


def print_whole(explained: Document) -> None:
    """All tasks and all checks, for people."""
    acceptance = f"development_acceptance: {explained['development_acceptance']}"
    say(f"{explained['workflow_id']}: {explained['status']}, {acceptance}")
    if explained["queue"]:
        say(f"nothing is dispatched: {explained['queue']}")
    rows = [(each["task_id"], each["status"], each["cause"], each["because"]) for each in explained["tasks"]]
    print_table(("task", "status", "cause", "because"), rows)
    _print_checks(explained["checks"])


def print_one(explained: Document, zone: ZoneInfo) -> None:
    """One task, for people."""
    say(f"{explained['task_id']}: {explained['status']}, {explained['cause']}: {explained['because']}")
    if explained["workers"]:
        say("\nEvery registered worker, the one that would be chosen first:")
        print_table(WORKERS, [_worker(each) for each in explained["workers"]])
    for each in explained["dispatches"]:
        _print_dispatch(each, zone)
    _print_checks(explained["checks"])


def _worker(seen: Document) -> tuple[Any, ...]:
    avoided = "nothing, but it lost an attempt of this round" if seen["avoided"] else "nothing"
    price = f"{seen['price_gbp']:f}"
    return (
        seen["worker_id"],
        seen["pool"],
        seen["excluded_by"] or avoided,
        seen["price_entry"],
        price,
        seen["attempts"],
    )


def _print_dispatch(offer: Document, zone: ZoneInfo) -> None:
    price = ", ".join(f"{name} £{value}" for name, value in offer["price"].items() if name != "name")
    when = clocks.both(offer["at"], zone)
    say(f"\nRound {offer['round']}, attempt {offer['attempt']}: dispatched to {offer['worker_id']}, {when}")
    say(f"sequence {offer['sequence']}, registry offset {offer['registry_offset']}")
    say(f"price {offer['price']['name']}: {price}")
    rows = [(each["worker_id"], each["excluded_by"] or "chosen") for each in offer["candidates"]]
    print_table(("candidate", "excluded by"), rows)


def _print_checks(checks: list[Document]) -> None:
    if checks:
        say()
        print_table(CHECKS, [_check(each) for each in checks])


def _check(check: Document) -> tuple[Any, ...]:
    """Whole revisions: a short one would not say which."""
    return (
        f"{check['check_id']} ({check['kind']})",
        check["requirement"] if check["mandatory"] else f"{check['requirement']} (not mandatory)",
        check["task_id"],
        check["holds_at"],
        "yes" if check["held"] else "no",
        ", ".join(check["made_on"]) or "nothing",
        ", ".join(check["must_hold_at"]) or "any subject",
        check["because"],
    )
