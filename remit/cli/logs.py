"""`remit logs`: what the attempts of a task wrote, and with `-f` what it is doing, until it is at rest."""

from contextlib import closing
from typing import TYPE_CHECKING
from uuid import UUID
from zoneinfo import ZoneInfo

import click

from remit.artefacts import ArtefactStore
from remit.cli.attempt_logs import begun, heading, log_lines, task_of
from remit.cli.clocks import clock
from remit.cli.folded import Folded, fold_log, fold_past
from remit.cli.following import POLL_S
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import say
from remit.cli.telling import told
from remit.cli.tenants import tenant_of, tenant_option
from remit.client.history import Entry, Follower
from remit.client.keyed import results
from remit.client.notes import Notes
from remit.log.protocols import Log

if TYPE_CHECKING:
    from supervisor.state import Attempt

AT_REST = frozenset({"completed", "failed", "stopped", "quarantined", "escalated", "awaiting_decision"})


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@click.argument("task_id", metavar="TASK")
@click.option("-f", "--follow", "follows", is_flag=True, help="Go on until the task is at rest, with progress notes.")
@click.option("--attempt", "number", type=click.IntRange(min=1), help="Only attempts of that number in their round.")
@click.option("--commands", is_flag=True, help="Also what the commands wrote that the runner ran.")
@tenant_option
@pass_invocation
def logs(
    invocation: Invocation,
    /,
    *,
    workflow_id: str,
    task_id: str,
    follows: bool,
    number: int | None,
    commands: bool,
    tenant: str | None,
) -> None:
    """Print the logs of a task's attempts, as their workers handed them in, redacted.

    A log that can't be read is told of in its place. Exit 1 if workflow or task is unknown.
    """
    tenant_id = tenant_of(invocation.log, tenant)
    folded = fold_log(invocation.log, tenant_id, workflow_id)
    task_of(folded.workflow, task_id)
    store = ArtefactStore(invocation.settings.artefact_url)
    printer = Printer(invocation.log, store, task_id, number, commands=commands)
    if follows:
        _follow(invocation.log, tenant_id, workflow_id, printer, invocation.settings.zone)
    else:
        printer.print(folded, everything=True)


class Printer:
    """Prints each attempt's log once, as soon as it ended."""

    def __init__(self, log: Log, store: ArtefactStore, task_id: str, number: int | None, *, commands: bool) -> None:
        """Nothing was printed yet."""
        self.task_id = task_id
        self._log, self._store, self._number, self._commands = log, store, number, commands
        self._printed: set[UUID] = set()

    def print(self, folded: Folded, *, everything: bool) -> None:
        """The attempts that ended and were not printed before; with `everything` those at work too."""
        task = task_of(folded.workflow, self.task_id)
        due = [each for each in begun(task, self._number) if self._is_due(each, everything=everything)]
        sent = results(self._log, folded.tenant_id, folded.workflow_id) if due else []
        for attempt in due:
            self._printed.add(attempt.attempt_id)
            say(heading(attempt))
            for line in log_lines(attempt, sent, self._store, commands=self._commands):
                say(line)
        if everything and not due:
            say(f"task {self.task_id} is {task.status.value}: no attempt to show", err=True)

    def _is_due(self, attempt: "Attempt", *, everything: bool) -> bool:
        return attempt.attempt_id not in self._printed and (everything or not attempt.open)


def _follow(log: Log, tenant_id: str, workflow_id: str, printer: Printer, zone: ZoneInfo) -> None:
    """Logs of ended attempts as they come, between them each step of the task and each note of its worker."""
    task_id = printer.task_id
    with (
        closing(Follower(log, tenant_id, workflow_id)) as follower,
        closing(Notes(log, tenant_id, workflow_id)) as notes,
    ):
        folded = fold_past(follower, tenant_id, workflow_id)
        printer.print(folded, everything=False)
        while not _at_rest(folded, task_id):
            for entry in folded.take(follower.more(POLL_S)):
                _step(entry, task_id, zone)
            for at, note in notes.of_task(task_id):
                say(f"{clock(at, zone)}  {task_id}: {note}")
            printer.print(folded, everything=False)


def _step(entry: Entry, task_id: str, zone: ZoneInfo) -> None:
    line = told(entry.transition) if entry.transition.task_id == task_id else None
    if line is not None:
        say(f"{clock(entry.transition.decided_at, zone)}  {line}")


def _at_rest(folded: Folded, task_id: str) -> bool:
    return folded.ended or task_of(folded.workflow, task_id).status.value in AT_REST
