"""`remit up` and `remit down`: the embedded broker."""

import click

from remit import broker
from remit.cli.embedded import started
from remit.cli.invocation import Invocation, pass_invocation
from remit.settings import BOOTSTRAP_VARIABLE


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port of 127.0.0.1; by default the last one or any.")
@pass_invocation
def up(invocation: Invocation, port: int | None) -> None:
    """Start the embedded Kafka broker, if it isn't running, and create the topics.

    A log that never had a policy gets the shipped development policy. The first start fetches Kafka's jars into a
    cache. Data, log and record lie in REMIT_HOME (.remit).
    """
    settings = invocation.settings
    if settings.bootstrap:
        click.echo(f"A cluster is named by --bootstrap or {BOOTSTRAP_VARIABLE}: nothing was started.")
        return
    connected = started(settings, port)
    click.echo(f"Kafka runs at {connected.bootstrap}. Data: {settings.home / 'kafka'}. Stop it with: remit down")


@click.command()
@pass_invocation
def down(invocation: Invocation) -> None:
    """Stop the embedded Kafka broker. Its data stays for the next start."""
    stopped = broker.down(invocation.settings.home)
    click.echo("Kafka was stopped; its data is kept." if stopped else "No embedded broker was running.")
