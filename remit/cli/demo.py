"""`remit demo`: the password-reset example from nothing to its verdict, or one guard, in one foreground."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import click

from remit import broker, documents
from remit.artefacts import ArtefactStore
from remit.cli import example
from remit.cli.children import Children
from remit.cli.embedded import ready
from remit.cli.folded import Folded
from remit.cli.following import follow, live_lines
from remit.cli.guards import shown as guards
from remit.cli.guards import workflows
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import say
from remit.cli.serving import stop_on_signals
from remit.cli.summary import print_summary
from remit.client import submission
from remit.errors import RefusedError, UnconfirmedError
from remit.log.kafka.log import KafkaLog
from remit.settings import Settings

EXAMPLE = "password-reset"
DEFECTS = ("none", "expired", "reused", "stubborn")


@dataclass(frozen=True)
class Stage:
    """Where one run takes place."""

    settings: Settings  # its own home, and topic prefix on a cluster that is named
    workflow: Path
    workflow_id: str

    @property
    def repositories(self) -> Path:
        """The folder of the example's repository and workflow file."""
        return self.workflow.parent


@click.command()
@click.argument("name", type=click.Choice((EXAMPLE, *guards.NAMES)), default=EXAMPLE)
@click.option(
    "--defect",
    type=click.Choice(DEFECTS),
    default="expired",
    show_default=True,
    help="What the scripted coding worker gets wrong at first.",
)
@pass_invocation
def demo(invocation: Invocation, name: str, defect: str) -> None:
    """Run the password-reset example: four workers, real evidence, live progress, and a summary at the end.

    Any other NAME shows one guard on a short run in which a worker misbehaves: what was tried, and what stopped it.
    Each run has a home of its own below REMIT_HOME; all that was started is stopped. Exit 1 if it ends otherwise than
    it should: accepted, or with `stubborn` escalated to the workflow's owner; a guard must have held.
    """
    stop = stop_on_signals()
    if name == EXAMPLE:
        _example(invocation, defect, stop)
    else:
        _guard(invocation, name, stop)


def _guard(invocation: Invocation, name: str, stop: Event) -> None:
    settings = _own(invocation.settings)
    try:
        guards.show(name, ready(settings, workflows.policy()), stop.is_set)
    finally:
        if settings.bootstrap is None:
            broker.down(settings.home)
    say(f"All that was started is stopped. To look again: export REMIT_HOME={settings.home}; remit show {name}")


def _example(invocation: Invocation, defect: str, stop: Event) -> None:
    stage = _stage(invocation.settings)
    try:
        connected = ready(stage.settings, example.policy_for(stage.repositories))
        with _crew(connected, defect) as children:
            folded = _run(stage, connected, children, stop)
            print_summary(folded, connected.home, children.check)
    finally:
        if stage.settings.bootstrap is None:
            broker.down(stage.settings.home)
    say(f"\nAll that was started is stopped. To look again: export REMIT_HOME={stage.settings.home}")
    say(f"then: remit show {stage.workflow_id}; remit metrics; and remit down at the end")
    _judge(folded, defect)


def _stage(settings: Settings) -> Stage:
    example.required()
    own = _own(settings)
    workflow_id = f"password-reset-{own.home.name}"
    return Stage(own, example.prepare(own.home / "repositories", workflow_id), workflow_id)


def _own(settings: Settings) -> Settings:
    """Settings of a run's own home, numbered; on a cluster of yours with a topic prefix of its own."""
    runs = settings.home.absolute() / "demo"
    runs.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(each.name) for each in runs.iterdir() if each.name.isdecimal()), default=0)
    own: dict[str, object] = {"home": runs / str(number)}
    (runs / str(number)).mkdir()
    if settings.bootstrap:
        own["topic_prefix"] = f"{settings.topic_prefix}demo-{uuid.uuid4().hex[:8]}."
    return settings.model_copy(update=own)


@contextmanager
def _crew(connected: Settings, defect: str) -> Iterator[Children]:
    """Supervisor, projector and the four workers, for as long as the block lasts."""
    with Children(connected, connected.home / "logs") as children:
        children.start("supervisor", "supervisor", "run", "--name", "demo-0")
        children.start("projector", "projector", "run")
        example.start_workers(children, defect)
        say(f"Kafka at {connected.bootstrap}; supervisor, projector and workers log to {connected.home / 'logs'}")
        yield children


def _run(stage: Stage, connected: Settings, children: Children, stop: Event) -> Folded:
    """Submit, and show each step until it is at rest."""
    log = KafkaLog.from_settings(connected)
    rules = submission.newest_policy(log, stage.workflow_id)
    store = ArtefactStore(connected.artefact_url)
    document = documents.read(stage.workflow)
    event = submission.prepare(document, stage.workflow_id, rules, store, stage.repositories)
    try:
        submission.send(log, event)
    except UnconfirmedError:
        children.check()  # a supervisor that could not start says more than the silence does
        raise
    say(f"submitted {stage.workflow_id}\n")

    def check() -> None:
        children.check()
        if stop.is_set():
            raise click.Abort

    lines = live_lines(connected.zone)
    return follow(log, event.tenant_id, event.workflow_id, lines, ended=lambda now: now.at_rest, check=check)


def _judge(folded: Folded, defect: str) -> None:
    status = folded.workflow.status.value
    wanted = "escalated" if defect == "stubborn" else "accepted"
    if status != wanted:
        raise RefusedError(f"the workflow is {status}; with the defect {defect} it should be {wanted}")
