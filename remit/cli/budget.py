"""`remit budget`: every limit with what is left of it, every booking, and whether these add up to the penny."""

from typing import Any
from zoneinfo import ZoneInfo

import click

from remit.cli import clocks
from remit.cli.answers import one_document
from remit.cli.budgeting import AMOUNTS, document
from remit.cli.folded import fold_log
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_table, say
from remit.cli.tenants import tenant_of, tenant_option

Document = dict[str, Any]
MEASURES = ("cost_gbp", "tokens", "tool_calls", "turns", "attempts", "seconds")
TITLES = {"cost_gbp": "£", "tool_calls": "tool calls"}
SUMS = ("of", "what", "limit", "spent", "reserved", "held", "remaining")
BOOKINGS = (
    "seq",
    "when",
    "attempt of",
    "round/no.",
    "worker",
    "outcome",
    "tokens",
    "calls",
    "turns",
    "s",
    "£",
    "price",
)


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@tenant_option
@json_option
@pass_invocation
def budget(invocation: Invocation, workflow_id: str, tenant: str | None, as_json: bool) -> int:
    """Show what a workflow and its tasks may spend, have spent, reserve, hold and have left; and every booking.

    The bookings are read from the events and added up apart from the state. Exit 1 if the two differ in any digit, or
    if the workflow is unknown.
    """
    with one_document(as_json=as_json):
        folded = fold_log(invocation.log, tenant_of(invocation.log, tenant), workflow_id)
        told = document(folded, clocks.now())
    if as_json:
        print_json(told)
    else:
        print_budget(told, invocation.settings.zone)
    return 0 if told["reconciled"]["holds"] else 1


def print_budget(told: Document, zone: ZoneInfo) -> None:
    """All of it, for people."""
    say(f"{told['workflow_id']}: {told['status']}, policy {told['policy_sha256'][:12]}")
    rows = [*_rows("workflow", told["workflow"])]
    for task in told["tasks"]:
        rows += _rows(f"task {task['task_id']}", task)
    print_table(SUMS, rows)
    say()
    print_table(BOOKINGS, [_booking(each, zone) for each in told["bookings"]])
    _print_prices(told["bookings"])
    _print_reconciled(told["reconciled"])
    say(told["silent_attempts"])


def _rows(name: str, lines: Document) -> list[tuple[Any, ...]]:
    return [(name, TITLES.get(measure, measure), *_cells(lines[measure])) for measure in MEASURES]


def _cells(line: Document) -> tuple[Any, ...]:
    none = "no limit"
    limit = none if line["limit"] is None else line["limit"]
    left = none if line["remaining"] is None else line["remaining"]
    return (limit, line["spent"], line["reserved"], line["held"], left)


def _booking(booking: Document, zone: ZoneInfo) -> tuple[Any, ...]:
    usage = booking["usage"]
    marks = [name for name in ("estimated", "late", "overrun") if booking[name]]
    return (
        booking["sequence"],
        clocks.both(booking["at"], zone),
        booking["task_id"],
        f"{booking['round']}/{booking['attempt']}",
        booking["worker_id"],
        ", ".join([booking["outcome"], *marks]),
        usage["tokens_in"] + usage["tokens_out"],
        usage["tool_calls"],
        usage["turns"],
        usage["worker_seconds"],
        booking["cost_gbp"],
        booking["price"]["name"],
    )


def _print_prices(bookings: list[Document]) -> None:
    """Each price entry that was used, with its values: one name may have had others under an earlier policy."""
    used = {tuple(sorted(each["price"].items())): each["price"] for each in bookings}
    for price in used.values():
        values = ", ".join(f"{name} £{value}" for name, value in price.items() if name != "name")
        say(f"price {price['name']}: {values}")


def _print_reconciled(found: Document) -> None:
    booked, folded = found["booked"], found["folded"]
    sums = f"sum of {found['bookings']} bookings"
    if found["holds"]:
        say(f"reconciles: {sums} £{booked['cost_gbp']} = folded total £{folded['cost_gbp']}")
        return
    for name in AMOUNTS:
        if booked[name] != folded[name]:
            say(f"does not reconcile: {sums} is {booked[name]} {name}, the folded total is {folded[name]}")
    for attempt_id in found["mispriced"]:
        say(f"does not reconcile: attempt {attempt_id} was not booked with its usage at its price")
