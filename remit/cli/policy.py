"""`remit policy`: what operators allow. `check` needs no broker."""

from pathlib import Path

import click

from remit.cli.check import FILE
from remit.policy import load


@click.group()
def policy() -> None:
    """Check a policy."""


@policy.command()
@click.argument("file", type=FILE, required=False)
def check(file: Path | None) -> None:
    """Check a policy file, by default the shipped one. Every fault is one line; exit 2 if there is any."""
    text = load.read(file)
    parsed = load.parse(text)
    click.echo(f"valid: policy {load.sha256(text)} ({file or 'shipped'}), environment {parsed.environment}")
    click.echo(f"pools: {', '.join(parsed.pools)}")
    click.echo(f"task types: {', '.join(parsed.task_types)}")
