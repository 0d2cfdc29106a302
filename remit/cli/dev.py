"""`remit dev`: broker, supervisor, projector and example workers in one foreground."""

import click

from remit import broker
from remit.cli import example
from remit.cli.children import Children, prefixed
from remit.cli.embedded import ready
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import say
from remit.cli.serving import stop_on_signals
from remit.policy import load
from remit.settings import Settings

WIDTH = 14
LOOK_S = 0.5


@click.command()
@click.option("--defect", type=click.Choice(["none", "expired", "reused", "stubborn"]), default="expired", hidden=True)
@pass_invocation
def dev(invocation: Invocation, defect: str) -> None:
    """Run broker, supervisor, projector and the example's workers in the foreground, until Ctrl-C.

    Exit 1 if one of them ends by itself. With --bootstrap that cluster is used and no broker started.
    """
    settings = invocation.settings
    stop = stop_on_signals()
    mine = settings.bootstrap is None and broker.running(settings.home) is None
    folder = settings.home / "repositories"
    try:
        workflow = example.prepare(folder, "password-reset-1") if example.examples() else None
        connected = ready(settings, example.policy_for(folder) if workflow else load.default_text())
        with Children(connected, settings.home / "logs", prefixed(WIDTH)) as children:
            _start(children, defect, has_examples=workflow is not None)
            _tell(connected, workflow)
            while not stop.wait(LOOK_S):
                children.check()
            say("stopping ...", err=True)
    finally:
        if mine:
            broker.down(settings.home)
    say("Everything that was started is stopped; the data is kept.", err=True)


def _start(children: Children, defect: str, *, has_examples: bool) -> None:
    children.start("supervisor", "supervisor", "run")
    children.start("projector", "projector", "run")
    if has_examples:
        example.start_workers(children, defect)
        example.start_shell_workers(children)


def _tell(connected: Settings, workflow: object) -> None:
    say(f"Kafka at {connected.bootstrap}, home {connected.home}. Stop everything with Ctrl-C.", err=True)
    if workflow is None:
        say(f"No example workers: {example.MISSING}", err=True)
    else:
        say(f"In another terminal:  remit submit --wait {workflow}", err=True)
        say(f"or, without an agent: remit submit --wait {example.required() / 'pipeline' / 'workflow.yaml'}", err=True)
