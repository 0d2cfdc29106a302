"""The summary at the end of the demo: attempts, failing evidence, verdict, cost, who is waited for.

Only `remit.cli` imports it. State comes from the log; cost and time from the published views, as an analyst has them.
"""

import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from remit.cli.clocks import lasted
from remit.cli.folded import Folded
from remit.cli.output import print_table, say
from remit.cli.shown import document
from remit.cli.telling import failing_cases, few
from remit.client.history import Entry
from remit.events.transitions import Transition
from remit.reading import open_copy, view_files
from remit.reading.copy import CopyMissingError

COLUMNS = ("task", "round", "no.", "worker", "outcome", "cost £", "failing cases")
VIEWS_S = 60.0
LOOK_S = 0.2
FIGURES = """SELECT s.completion_seconds, c.cost_per_verified_completion_gbp
    FROM settled_workflows s, cost_per_verified_completion c
    WHERE s.workflow_id = ? AND c.tenant_id IS NULL AND c.workflow_type IS NULL AND c.day_utc IS NULL"""


class Figures(NamedTuple):
    """What the views say of a settled workflow; None where they have no figure."""

    completion_seconds: float | None
    cost_gbp: Decimal | None


def print_summary(folded: Folded, home: Path, check: Callable[[], None]) -> None:
    """All that a run came to; `check` is called while the views catch up."""
    shown = document(folded)
    say("\nAttempts")
    print_table(COLUMNS, attempts(folded.entries))
    _failing(folded.entries)
    say("\nVerdict")
    reasons = f" ({', '.join(shown['reasons'])})" if shown["reasons"] else ""
    say(f"workflow                      {shown['status']}{reasons}")
    for each in shown["final_subjects"]:
        say(f"final revision                {each['revision']}")
    say(f"development_acceptance: {shown['development_acceptance']}")
    say(f"deployment_authorisation: {shown['deployment_authorisation']}")
    say(f"spent so far                  £{shown['spent']['cost_gbp']:.4f}, {shown['spent']['tokens']} tokens")
    _figures(_wait_for_figures(folded, home, check) if folded.ended else Figures(None, None))
    _waiting(shown)


def attempts(entries: Iterable[Entry]) -> list[tuple[Any, ...]]:
    """One row for each attempt that ended, in the order in which they did."""
    return [_row(each.transition) for each in entries if each.transition.settlement and each.transition.attempt]


def _row(ended: Transition) -> tuple[Any, ...]:
    cost = ended.settlement.cost_gbp if ended.settlement else Decimal(0)
    outcome = "accepted" if ended.accepted else (ended.ending.outcome if ended.ending else ended.reason)
    cases = failing_cases(ended.ending.failing) if ended.ending else ()
    return (ended.task_id, ended.round, ended.attempt, ended.worker_id, outcome, f"{cost:.4f}", few(cases))


def _failing(entries: Iterable[Entry]) -> None:
    endings = [(each.transition.task_id, each.transition.ending) for each in entries if each.transition.ending]
    found = [(task, ending, evidence) for task, ending in endings for evidence in ending.failing]
    if not found:
        return
    say("\nFailing evidence (only this was handed on)")
    for task, ending, evidence in found:
        revision = evidence.subject.revision if evidence.subject else None
        to = ending.owner or ending.rework_task
        run = f"{evidence.command} ({evidence.form.value})" if evidence.form else evidence.command
        say(f"{task} -> {to}: {run}, exit {evidence.exit_status}, at {revision}")
        for case in evidence.failed_cases:
            say(f"  {case}")


def _wait_for_figures(folded: Folded, home: Path, check: Callable[[], None]) -> Figures:
    """What the published copy says, once the projector has seen the end."""
    deadline = time.monotonic() + VIEWS_S
    while time.monotonic() < deadline:
        check()
        found = _published(folded.workflow_id, home)
        if found is not None:
            return found
        time.sleep(LOOK_S)
    say("the views did not catch up in time", err=True)
    return Figures(None, None)


def _published(workflow_id: str, home: Path) -> Figures | None:
    try:
        with open_copy(view_files(home).published) as copy:
            rows = copy.query(FIGURES, [workflow_id]).rows
    except CopyMissingError:
        return None
    return Figures(*rows[0]) if rows else None


def _figures(figures: Figures) -> None:
    seconds = figures.completion_seconds
    took = "none: it has no development acceptance" if seconds is None else lasted(timedelta(seconds=float(seconds)))
    cost = "none: no completion is verified" if figures.cost_gbp is None else f"£{figures.cost_gbp:.4f}"
    say(f"cost per verified completion  {cost}")
    say(f"completion time               {took}")


def _waiting(shown: dict[str, Any]) -> None:
    say("\nWho is waited for")
    for each in shown["outstanding_decisions"]:
        about = f" of {each['task_id']}" if each["task_id"] else ""
        why = f" ({each['reason']})" if each["reason"] else ""
        say(f"{each['what']}{about}{why}: waits for {each['person'] or 'nobody named'}")
    for task in shown["tasks"]:
        if task["waits_for"] and task["status"] != "escalated":
            say(f"{task['task_id']} ({task['status']}): waits for {task['waits_for']}")
    if not shown["outstanding_decisions"] and not any(task["waits_for"] for task in shown["tasks"]):
        say("nobody: nothing is outstanding")
