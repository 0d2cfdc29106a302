"""`remit topics`: the topics as agreed, created, mended and listed."""

import click

from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_table
from remit.log.kafka.admin import TopicAdmin


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
