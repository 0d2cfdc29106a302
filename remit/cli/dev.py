"""`remit dev`: broker, supervisor, projector and workers in one foreground."""

from functools import partial
from pathlib import Path

import click

from remit import broker
from remit.cli import example
from remit.cli.check import FILE
from remit.cli.children import Children, prefixed
from remit.cli.embedded import create_topics, ready
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import say
from remit.cli.serving import stop_on_signals
from remit.client.policies import apply_policy, in_force
from remit.errors import SettingsError
from remit.ids import is_id
from remit.log.kafka.log import KafkaLog
from remit.policy import load
from remit.settings import Settings

WIDTH = 14
LOOK_S = 0.5


@click.command()
@click.option("--policy", "policy_file", type=FILE, help="Put this policy in force instead of the shipped one.")
@click.option(
    "--worker",
    "workers",
    multiple=True,
    metavar="POOL=CMD",
    help="Run CMD as a worker of POOL instead of the example's workers; repeatable.",
)
@click.option("--defect", type=click.Choice(["none", "expired", "reused", "stubborn"]), default="expired", hidden=True)
@pass_invocation
def dev(invocation: Invocation, policy_file: Path | None, workers: tuple[str, ...], defect: str) -> None:
    """Run broker, supervisor, projector and workers in the foreground, until Ctrl-C.

    The workers are the example's, unless --policy or --worker is given. Exit 1 if one of them ends by itself. With
    --bootstrap that cluster is used and no broker started.
    """
    settings = invocation.settings
    own = [_worker(each) for each in workers]
    given = None if policy_file is None else load.read(policy_file)
    if given is not None:
        load.parse(given)  # its faults need no broker
    with_example = not own and given is None and example.examples() is not None
    stop = stop_on_signals()
    mine = settings.bootstrap is None and broker.running(settings.home) is None
    try:
        workflow = example.prepare(settings.home / "repositories", "password-reset-1") if with_example else None
        connected = _ready(settings, given, with_example=with_example)
        with Children(connected, settings.home / "logs", prefixed(WIDTH)) as children:
            _start(children, own)
            if with_example:
                example.start_workers(children, defect)
                example.start_shell_workers(children)
                example.start_copy_reviewer(children)
            _tell(connected, workflow, own=bool(own) or given is not None)
            while not stop.wait(LOOK_S):
                children.check()
            say("stopping ...", err=True)
    finally:
        if mine:
            broker.down(settings.home)
    say("Everything that was started is stopped; the data is kept.", err=True)


def _worker(text: str) -> tuple[str, str]:
    """Pool and command of a --worker flag."""
    pool, _, command = text.partition("=")
    if not is_id(pool) or not command.strip():
        raise SettingsError("--worker must be POOL=CMD, such as shell=./worker.sh")
    return pool, command


def _ready(settings: Settings, given: str | None, *, with_example: bool) -> Settings:
    """A cluster with topics and a policy; a policy that was given is put in force, unless it is already."""
    shipped = example.policy_for(settings.home / "repositories") if with_example else load.default_text()
    connected = ready(settings, given or shipped)
    if given is not None:
        log = KafkaLog.from_settings(connected)
        found = in_force(log)
        if found is None or found.sha256 != load.sha256(given):
            apply_policy(log, given, partial(create_topics, connected))
    return connected


def _start(children: Children, own: list[tuple[str, str]]) -> None:
    children.start("supervisor", "supervisor", "run")
    children.start("projector", "projector", "run")
    for number, (pool, command) in enumerate(own, start=1):
        name = f"{pool}-{number}"
        children.start(name, "worker", "run", "--pool", pool, "--id", name, "--exec", command)


def _tell(connected: Settings, workflow: Path | None, *, own: bool) -> None:
    say(f"Kafka at {connected.bootstrap}, home {connected.home}. Stop everything with Ctrl-C.", err=True)
    if workflow is not None:
        say(f"In another terminal:  remit submit --wait {workflow}", err=True)
        say(f"or, without an agent: remit submit --wait {example.required() / 'pipeline' / 'workflow.yaml'}", err=True)
    elif not own:
        say(f"No example workers: {example.MISSING}", err=True)
