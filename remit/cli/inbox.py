"""`remit inbox`: what waits for a person, over all open workflows, and one item in full."""

from typing import Any
from zoneinfo import ZoneInfo

import click

from remit.cli import clocks
from remit.cli.answers import one_document
from remit.cli.folded import fold_log
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_table, say
from remit.cli.tenants import tenant_of, tenant_option
from remit.cli.waiting import item_in_full, item_of, open_items
from remit.client.resolving import workflow_of

Document = dict[str, Any]
COLUMNS = ("item", "owner", "age", "since", "workflow", "task", "reason")


@click.command()
@click.argument("item_id", metavar="ITEM", required=False)
@tenant_option
@click.option("--all-tenants", is_flag=True, help="List the items of every tenant.")
@json_option
@pass_invocation
def inbox(invocation: Invocation, item_id: str | None, tenant: str | None, all_tenants: bool, as_json: bool) -> None:
    """List what waits for a person; with ITEM, one item in full: what failed, on which evidence, who needs it.

    `remit resolve ITEM` decides on one. Exit 1 if that item is not open.
    """
    with one_document(as_json=as_json):
        if item_id is not None:
            found = _in_full(invocation, item_id, tenant)
        else:
            items, others = _listed(invocation, tenant, all_tenants=all_tenants)
    if as_json:
        print_json(found if item_id is not None else items)
    elif item_id is not None:
        _print_in_full(found, invocation.settings.zone)
    else:
        _print_list(items, others, invocation.settings.zone)


def _in_full(invocation: Invocation, item_id: str, tenant: str | None) -> Document:
    workflow_id = workflow_of(item_id)
    folded = fold_log(invocation.log, tenant_of(invocation.log, tenant), workflow_id)
    return item_in_full(invocation.log, folded, item_of(folded, item_id), clocks.now())


def _listed(invocation: Invocation, tenant: str | None, *, all_tenants: bool) -> tuple[list[Document], int]:
    """The items asked for, and how many there are of other tenants."""
    every = open_items(invocation.log, clocks.now())
    if all_tenants:
        return every, 0
    tenant_id = tenant_of(invocation.log, tenant)
    mine = [each for each in every if each["tenant_id"] == tenant_id]
    return mine, len(every) - len(mine)


def _print_list(items: list[Document], others: int, zone: ZoneInfo) -> None:
    if items:
        print_table(COLUMNS, [_row(each, zone) for each in items])
        say("\nOne in full: remit inbox ITEM; decide on it: remit resolve ITEM --retry|--stop --reason TEXT")
    else:
        say("Nothing waits for a person.")
    if others:
        say(f"{others} more of other tenants: --all-tenants", err=True)


def _row(item: Document, zone: ZoneInfo) -> tuple[Any, ...]:
    return (
        item["item_id"],
        item["owner"],
        clocks.aged(item["age_seconds"]),
        clocks.both(item["since"], zone),
        f"{item['tenant_id']}/{item['workflow_id']}",
        item["task_id"],
        item["reason"],
    )


def _print_in_full(item: Document, zone: ZoneInfo) -> None:
    about = f"task {item['task_id']}" if item["task_id"] else "an amendment"
    say(f"{item['item_id']}: {about}, {item['reason']}")
    say(f"owner      {item['owner']}, for {clocks.aged(item['age_seconds'])}")
    say(f"since      {clocks.both(item['since'], zone)}")
    say(f"workflow   {item['tenant_id']}/{item['workflow_id']} ({item['workflow_status']}): {item['objective']}")
    if item["kind"] == "amendment":
        _print_amendment(item)
    else:
        _print_task(item)
    words = "|".join(f"--{word}" for word in item["decide"])
    say(f"decide     remit resolve {item['item_id']} --tenant {item['tenant_id']} {words} --reason TEXT")


def _print_amendment(item: Document) -> None:
    say(f"amendment  of contract version {item['base_version']}, by {item['proposer']}: {item['why'] or 'no reason'}")
    for each in item["widens"]:
        say(f"widens     {each}")


def _print_task(item: Document) -> None:
    say(f"task       round {item['round']}, {item['attempts']} attempts, pool {item['pool']}")
    if item["detail"]:
        say(f"detail     {item['detail']}")
    if item["needed_by"]:
        say(f"needed by  {', '.join(item['needed_by'])}")
    for each in item["endings"]:
        _print_ending(each)


def _print_ending(ending: Document) -> None:
    say(f"attempt {ending['attempt']} of {ending['worker_id']} ended {ending['outcome']}")
    for name, title in (("faults", "fault"), ("failing_cases", "failing case")):
        for each in ending[name]:
            say(f"  {title}: {each}")
    for each in ending["evidence"]:
        at = f" at {each['subject']}" if each["subject"] else ""
        exit_ = f", exit {each['exit_status']}" if each["exit_status"] is not None else ""
        say(f"  evidence: {each['kind']} {each['command'] or ''} by {each['observed_by']}{exit_}{at}")
    if ending["worker_says"]:
        say(f"  the worker says: {ending['worker_says']}")
