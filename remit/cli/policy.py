"""`remit policy`: what operators allow. `check` needs no broker."""

from pathlib import Path

import click

from remit.cli.answers import one_document
from remit.cli.check import FILE
from remit.cli.clocks import both
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, say
from remit.cli.prices import Rate, price_list, prices_of, snippet
from remit.client import policies
from remit.errors import RefusedError
from remit.policy import load


@click.group()
def policy() -> None:
    """Check, apply and show the policy, and price models for it."""


@policy.command()
@click.argument("file", type=FILE, required=False)
def check(file: Path | None) -> None:
    """Check a policy file, by default the shipped one. Every fault is one line; exit 2 if there is any."""
    text = load.read(file)
    parsed = load.parse(text)
    click.echo(f"valid: policy {load.sha256(text)} ({file or 'shipped'}), environment {parsed.environment}")
    click.echo(f"pools: {', '.join(parsed.pools)}")
    click.echo(f"task types: {', '.join(parsed.task_types)}")


@policy.command()
@click.argument("file", type=FILE)
@json_option
@pass_invocation
def apply(invocation: Invocation, file: Path, as_json: bool) -> None:
    """Put a policy on the log; it holds for the workflows that begin from then on.

    Creates the dispatch topics of its pools. Exit 2: invalid. 3: the log did not acknowledge it in time.
    """
    with one_document(as_json=as_json):
        text = load.read(file)
        load.parse(text)  # its faults need no broker
        event = policies.apply_policy(invocation.log, text, invocation.create_topics)
    if as_json:
        print_json({"outcome": "applied", "policy_sha256": event.policy_sha256, "author": event.author})
    else:
        say(f"policy {event.policy_sha256} is applied, by {event.author}")


@policy.command()
@json_option
@pass_invocation
def show(invocation: Invocation, as_json: bool) -> None:
    """Show the policy in force, as its file stands. Exit 1 if none was applied."""
    with one_document(as_json=as_json):
        found = _in_force(invocation)
    if as_json:
        head = {"policy_sha256": found.sha256, "author": found.author, "applied_at": found.applied_at.isoformat()}
        print_json(head | {"policy": found.policy.model_dump(mode="json")})
        return
    applied = both(found.applied_at, invocation.settings.zone)
    say(f"policy {found.sha256}, applied {applied} by {found.author}", err=True)
    say(found.text.rstrip("\n"))


@policy.command()
@click.argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option("--usd-gbp", "rate", required=True, metavar="RATE", help="Pounds for one dollar, such as 0.79.")
@click.option(
    "--as-of", metavar="DAY", help="The day of that rate and of the prices, like 2026-07-01; by default today."
)
def prices(models: tuple[str, ...], rate: str, as_of: str | None) -> None:
    """Print price entries for models, in pounds for 1,000 tokens, to be put into a policy.

    They come from the maintained list that pip install 'remit[prices]' brings, as MODEL or PROVIDER/MODEL; nothing is
    fetched. Of prices by length of context the dearest is taken. Exit 1 if the list does not know one.
    """
    listed, source = price_list()
    given = Rate.of(rate, as_of)
    found = prices_of(models, listed, given.usd_gbp, given.as_of)
    click.echo("\n".join(snippet(found, source, given.usd_gbp, given.as_of)))


def _in_force(invocation: Invocation) -> policies.InForce:
    found = policies.in_force(invocation.log)
    if found is None:
        raise RefusedError("no policy was applied yet: remit policy apply FILE")
    return found
