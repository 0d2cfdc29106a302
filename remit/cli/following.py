"""Follows a workflow live and shows each step. Only `remit.cli` imports it."""

import time
from collections.abc import Callable
from contextlib import closing
from zoneinfo import ZoneInfo

from remit.cli.clocks import clock
from remit.cli.folded import Folded, fold_past
from remit.cli.output import say
from remit.cli.telling import told
from remit.client.history import Entry, Follower
from remit.log.protocols import Log

POLL_S = 0.5
Show = Callable[[Entry], None]


def follow(
    log: Log,
    tenant_id: str,
    workflow_id: str,
    show: Show,
    *,
    ended: Callable[[Folded], bool],
    deadline: float | None = None,
    check: Callable[[], None] = lambda: None,
) -> Folded:
    """Show every transition from the first on, until `ended` says so of the folded workflow.

    TimeoutError at `deadline` (monotonic seconds). `check` is called between polls; what it raises ends it too.
    """
    with closing(Follower(log, tenant_id, workflow_id)) as follower:
        folded = fold_past(follower, tenant_id, workflow_id)
        for entry in folded.entries:
            show(entry)
        while not ended(folded):
            check()
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError
            for entry in folded.take(follower.more(POLL_S)):
                show(entry)
    return folded


def live_lines(zone: ZoneInfo, *, err: bool = False) -> Show:
    """Shows each step as one line, with the log's time in `zone`."""

    def show(entry: Entry) -> None:
        line = told(entry.transition)
        if line is not None:
            say(f"{clock(entry.transition.decided_at, zone)}  {line}", err=err)

    return show
