"""`remit doctor`: what is wrong with the cluster and this machine, and the command that mends it."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime

import click

from remit.cli.invocation import Invocation
from remit.cli.output import json_option, print_json, say
from remit.doctor import Report, StandsStill, examine
from remit.log.kafka.log import KafkaLog
from remit.roles import role
from remit.settings import Settings


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Examine topics, brokers, reading and this machine: each finding with what mends it. Exit 1 if there is one.

    docs/operations.md explains every finding. Nothing is changed; to read the brokers' clocks, an empty record is
    written to a topic of doctor's own, `_doctor` behind the topic prefix.
    """
    invocation = context.ensure_object(Invocation)
    report = examine(
        invocation.settings,
        lambda: invocation.connected,
        lambda: datetime.now(UTC),
        role("projector.positions").TOPICS,
        _stalled,
    )
    if as_json:
        print_json(asdict(report))
    else:
        _print(report)
    context.exit(1 if report.findings else 0)


def _stalled(settings: Settings) -> Iterator[StandsStill]:
    with closing(KafkaLog.from_settings(settings)) as log:
        for (tenant_id, workflow_id), stall in role("supervisor.onlooker").stalled(log, datetime.now(UTC)):
            yield StandsStill(tenant_id, workflow_id, stall.task_id, stall.why)


def _print(report: Report) -> None:
    for finding in report.findings:
        say(f"{finding.check}: {finding}\n  mend: {finding.mend}")
    for unchecked in report.unchecked:
        say(f"not checked: {unchecked.check}: {unchecked.why}")
    if not report.findings:
        say("Nothing is wrong with what was checked.")
