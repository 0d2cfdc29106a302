"""`remit query`, `metrics`, `views` and `list`: what the published copy says. It needs no broker and blocks nobody.

Each states how fresh the copy is: under the text, or on stderr beside `--json`.
"""

from collections.abc import Sequence
from typing import Any

import click

from remit.cli.clocks import both
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, print_table, say
from remit.reading import Answer, Copy, Relation, open_copy, view_files

OVERALL = "all"
METRICS = (
    "verified_completion_rate",
    "cost_per_verified_completion_gbp",
    "cost_per_accepted_task_gbp",
    "median_seconds",
    "p95_seconds",
    "first_pass_rate",
    "retry_rate",
    "rework_rate",
    "escalation_rate",
    "verification_disagreement_rate",
    "human_minutes",
)
BY_TYPE = (
    "FROM metrics WHERE day_utc IS NULL AND (tenant_id IS NULL) = (workflow_type IS NULL) ORDER BY ALL NULLS FIRST"
)
STOPS = """SELECT stop_reason, sum(workflows)::BIGINT AS workflows, sum(cost_gbp) AS cost_gbp
    FROM stop_reasons GROUP BY stop_reason ORDER BY workflows DESC, stop_reason"""
LISTED = ("workflow", "status", "tasks", "spent £", "owner", "waits for", "stop reason")


@click.command()
@click.argument("sql")
@json_option
@pass_invocation
def query(invocation: Invocation, sql: str, as_json: bool) -> None:
    """Answer one SQL query from the published views. `remit views` names tables, views and columns."""
    with _copy(invocation) as copy:
        answer = copy.query(sql)
        if as_json:
            print_json(_records(answer))
        else:
            print_table(answer.columns, answer.rows)
        _state_freshness(invocation, copy, err=as_json)


@click.command()
@json_option
@pass_invocation
def metrics(invocation: Invocation, as_json: bool) -> None:
    """What verified completions cost, how long they take, and how often work is tried again."""
    with _copy(invocation) as copy:
        rates, stops = copy.query(BY_TYPE), copy.query(STOPS)
        depth = copy.query("FROM queue_depth ORDER BY ALL")
        if as_json:
            shown = {"metrics": rates, "stop_reasons": stops, "queue_depth": depth}
            print_json({name: _records(answer) for name, answer in shown.items()})
        else:
            _print_metrics(_records(rates))
            _print_titled("Why they ended:", stops)
            _print_titled("What waits where:", depth)
        _state_freshness(invocation, copy, err=as_json)


@click.command()
@json_option
@pass_invocation
def views(invocation: Invocation, as_json: bool) -> None:
    """Where the published copy lies, how to open it with DuckDB, and what every column means."""
    with _copy(invocation) as copy:
        relations = copy.relations()
        one_liner = f"duckdb -readonly {copy.path} 'FROM cost_per_verified_completion'"
        if as_json:
            print_json({"path": copy.path, "open": one_liner, "relations": [_described(each) for each in relations]})
        else:
            say(f"Copy: {copy.path}\nOpen: {one_liner}")
            for each in relations:
                _print_relation(each)
        _state_freshness(invocation, copy, err=as_json)


@click.command("list")
@click.option("--status", help="Only workflows that stand there, such as running.")
@json_option
@pass_invocation
def list_(invocation: Invocation, status: str | None, as_json: bool) -> None:
    """List the workflows: where each stands, what it cost, and whom it waits for."""
    text = "FROM workflow_list WHERE $1 IS NULL OR status = $1 ORDER BY submitted_at NULLS LAST, tenant_id, workflow_id"
    with _copy(invocation) as copy:
        found = _records(copy.query(text, [status]))
        if as_json:
            print_json(found)
        else:
            print_table(LISTED, [_line(each) for each in found])
        _state_freshness(invocation, copy, err=as_json)


def _copy(invocation: Invocation) -> Copy:
    return open_copy(view_files(invocation.settings.home).published)


def _records(answer: Answer) -> list[dict[str, Any]]:
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def _state_freshness(invocation: Invocation, copy: Copy, *, err: bool) -> None:
    """How much of the log was seen, by the log's own time."""
    fresh = copy.freshness()
    newest = both(fresh.newest_event_at, invocation.settings.zone) or "no event yet"
    skipped = f", {fresh.skipped} of them unusable" if fresh.skipped else ""
    say(f"As of {newest}: {fresh.records} records read{skipped}.", err=err)


def _print_metrics(rows: Sequence[dict[str, Any]]) -> None:
    names = [OVERALL if row["tenant_id"] is None else f"{row['tenant_id']}/{row['workflow_type']}" for row in rows]
    shown = ("settled", "accepted", *METRICS)
    print_table(("", *names), [(name, *(_cell(row[name]) for row in rows)) for name in shown])


def _cell(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    if value is None:
        return "none"
    return f"{value:.3f}" if isinstance(value, float) else value


def _print_titled(title: str, answer: Answer) -> None:
    if answer.rows:
        say(f"\n{title}")
        print_table(answer.columns, answer.rows)


def _print_relation(relation: Relation) -> None:
    say(f"\n{relation.name} ({relation.kind}): {relation.comment}")
    width = max(len(column.name) for column in relation.columns)
    for column in relation.columns:
        say(f"  {column.name.ljust(width)}  {column.comment}")


def _described(relation: Relation) -> dict[str, Any]:
    columns = [column._asdict() for column in relation.columns]
    return {"name": relation.name, "kind": relation.kind, "comment": relation.comment, "columns": columns}


def _line(row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        f"{row['tenant_id']}/{row['workflow_id']}",
        row["status"],
        f"{row['tasks_done']}/{row['tasks_total']}",
        row["spent_gbp"],
        row["owner"],
        row["waits_for"],
        row["stop_reason"],
    )
