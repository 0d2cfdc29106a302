"""`remit topics` and `remit doctor`: the topics as agreed, and how a cluster's differ."""

from dataclasses import asdict

import click

from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_table
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.topology import PARTITIONS, PRESENCE, Deviation

CREATE = "remit topics create"
MEND = "remit topics create --mend"
NO_MEND = (
    "no command mends it: keys lie where the count put them. "
    "Set REMIT_PARTITIONS to the count the log was made with, or start a new topic prefix"
)


@click.group()
def topics() -> None:
    """Create and list the topics."""


@topics.command()
@click.option("--mend", is_flag=True, help="Also set deviating topic settings as required.")
@pass_invocation
def create(invocation: Invocation, mend: bool) -> None:
    """Create the topics that are missing. What exists is left as it is, unless --mend is given."""
    admin = TopicAdmin(invocation.connected)
    for name in admin.create(admin.agreed()):
        click.echo(f"created {name}")
    if mend:
        for each in admin.mend(admin.deviations()):
            click.echo(f"set {each.topic}: {each.setting} = {each.required} (was {each.found})")
    click.echo(f"{len(admin.agreed())} topics are there. Check their settings with: remit doctor")


@topics.command("list")
@json_option
@pass_invocation
def list_(invocation: Invocation, as_json: bool) -> None:
    """List the topics with partitions, clean-up and retention."""
    admin = TopicAdmin(invocation.connected)
    shown = ("cleanup.policy", "retention.ms", "message.timestamp.type")
    rows = [
        {"topic": name, "partitions": found.partitions} | {setting: found.config.get(setting) for setting in shown}
        for name, found in sorted(admin.describe(admin.names()).items())
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(("topic", "partitions", *shown), rows)


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Name every topic setting that is not as agreed, and what mends it. Exit 1 if there is one."""
    found = TopicAdmin(context.ensure_object(Invocation).connected).deviations()
    if as_json:
        print_json([asdict(each) | {"mend": mending(each)} for each in found])
    else:
        _print_findings(found)
    context.exit(1 if found else 0)


def mending(deviation: Deviation) -> str:
    """The command that mends it, or why none does."""
    if deviation.setting == PRESENCE:
        return CREATE
    return NO_MEND if deviation.setting == PARTITIONS else MEND


def _print_findings(found: tuple[Deviation, ...]) -> None:
    for each in found:
        click.echo(f"{each}\n  mend: {mending(each)}")
    if not found:
        click.echo("All topics are as agreed.")
