"""`remit projector run` and `remit rebuild`: the views, kept up with the log or made anew from it."""

import logging
import signal
from threading import Event
from types import FrameType
from typing import Any

import click

from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, say
from remit.log.kafka.log import KafkaLog
from remit.reading import view_files
from remit.roles import role

_logger = logging.getLogger(__name__)

accept_gap = click.option(
    "--accept-gap", is_flag=True, help="Go on although the log no longer holds all history; the gap is recorded."
)


@click.group()
def projector() -> None:
    """Keep the views."""


@projector.command()
@click.option("--name", default="projector", show_default=True, help="What its log lines are headed with.")
@accept_gap
@pass_invocation
def run(invocation: Invocation, name: str, accept_gap: bool) -> None:
    """Fold the log into DuckDB and publish a read-only copy, until stopped (Ctrl-C or SIGTERM)."""
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {name} %(message)s")
    files, stop = view_files(invocation.settings.home), Event()
    _stop_on_signal(stop)
    log = KafkaLog.from_settings(invocation.connected)
    try:
        service = role("projector.service")
        service.run(
            log, files, stop, accept_gaps=accept_gap, ready=lambda: _logger.info("views at %s", files.published)
        )
    finally:
        log.close()


@click.command()
@click.option(
    "--check", is_flag=True, help="Change nothing: rebuild beside the live database and compare. Exit 1 if it differs."
)
@accept_gap
@json_option
@click.pass_context
def rebuild(context: click.Context, check: bool, accept_gap: bool, as_json: bool) -> None:
    """Make the views anew from the log's first record. Only reads the log; the projector must not run."""
    invocation = context.ensure_object(Invocation)
    files, rebuilding = view_files(invocation.settings.home), role("projector.rebuild")
    log = KafkaLog.from_settings(invocation.connected)
    try:
        if check:
            verdict = rebuilding.check(log, files, accept_gaps=accept_gap)
            _report(verdict, as_json=as_json)
            context.exit(1 if verdict.differences else 0)
        records = rebuilding.rebuild(log, files, accept_gaps=accept_gap)
    finally:
        log.close()
    if as_json:
        print_json({"published": files.published, "records": records})
    else:
        say(f"Rebuilt from {records} records and published at {files.published}.")


def _report(verdict: Any, *, as_json: bool) -> None:  # noqa: ANN401 - the role's own type
    found = [{"table": each.table, "row": each.row, "how": each.how} for each in verdict.differences]
    if as_json:
        print_json(
            {
                "identical": not found,
                "compared": verdict.compared,
                "records": verdict.records,
                "digest": verdict.digest,
                "differences": found,
            }
        )
    elif found:
        say(f"{verdict.compared} differs from its rebuild from {verdict.records} records:")
        for each in verdict.differences:
            say(f"  {each}")
    else:
        say(f"Identical: {verdict.compared} and its rebuild from {verdict.records} records, digest {verdict.digest}.")


def _stop_on_signal(stop: Event) -> None:
    def stop_now(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_now)
