"""Prints the document of `show` for people. Only `remit.cli` imports it."""

from typing import Any
from zoneinfo import ZoneInfo

from remit.cli.clocks import both
from remit.cli.output import print_table, say
from remit.cli.telling import few

Document = dict[str, Any]


def print_shown(shown: Document, zone: ZoneInfo) -> None:
    """All of it, most important first; every time in UTC and in `zone`."""
    _head(shown, zone)
    _tasks(shown)
    _people(shown, zone)
    _requirements(shown)
    _evidence(shown)
    _finals(shown)


def _head(shown: Document, zone: ZoneInfo) -> None:
    reasons = f" ({', '.join(shown['reasons'])})" if shown["reasons"] else ""
    say(f"{shown['workflow_id']}: {shown['status']}{reasons}")
    say(f"objective                 {shown['objective']}")
    say(f"owner                     {shown['owner']}, tenant {shown['tenant_id']}")
    say(f"contract                  version {shown['contract_version']}, policy {shown['policy_sha256'][:12]}")
    say(f"development_acceptance    {shown['development_acceptance']}")
    say(f"deployment_authorisation  {shown['deployment_authorisation']}")
    say(f"spent                     {_spent(shown)}")
    say(f"submitted                 {both(shown['submitted_at'], zone)} by {shown['submitter']}")
    if shown["deadline_at"]:
        say(f"deadline                  {both(shown['deadline_at'], zone)}")
    say(f"last change               {both(shown['updated_at'], zone)}, state version {shown['version']}")


def _spent(shown: Document) -> str:
    spent, limits = shown["spent"], shown["limits"]
    cost = f"£{spent['cost_gbp']:.4f}" + (f" of £{limits['cost_gbp']}" if limits["cost_gbp"] is not None else "")
    counts = [
        f"{spent[name]}{'' if limits[name] is None else f' of {limits[name]}'} {name.replace('_', ' ')}"
        for name in ("tokens", "tool_calls", "turns")
    ]
    return ", ".join([cost, *counts])


def _tasks(shown: Document) -> None:
    say()
    rows = [
        (each["task_id"], each["status"], each["round"], _attempts(each), each["worker_id"], each["waits_for"])
        for each in shown["tasks"]
    ]
    print_table(("task", "status", "round", "attempts", "worker", "waits for"), rows)
    if shown["queue"]:
        say(f"nothing is dispatched: {shown['queue']}")
    attempts = [
        (task["task_id"], each["round"], each["attempt"], each["worker_id"], each["outcome"], f"{each['cost_gbp']:.4f}")
        for task in shown["tasks"]
        for each in task["history"]
    ]
    if attempts:
        say()
        print_table(("attempt of", "round", "no.", "worker", "outcome", "cost £"), attempts)


def _attempts(task: Document) -> str:
    return f"{task['attempts']} of {task['max_attempts']}" if task["max_attempts"] else str(task["attempts"])


def _people(shown: Document, zone: ZoneInfo) -> None:
    say()
    for each in shown["outstanding_decisions"]:
        about = f" of {each['task_id']}" if each["task_id"] else ""
        why = f": {each['reason']}" if each["reason"] else ""
        say(f"outstanding decision  {each['what']}{about}, with {each['person'] or 'nobody named'}{why}")
    if not shown["outstanding_decisions"]:
        say("outstanding decision  none")
    for each in shown["next_permitted_actions"]:
        about = f" {each['task_id']}" if each["task_id"] else ""
        at = f", {both(each['at'], zone)}" if each["at"] else ""
        say(f"next permitted        {each['name']}{about} by {each['by']}{at}")
    if not shown["next_permitted_actions"]:
        say("next permitted        nothing: it has ended")


def _requirements(shown: Document) -> None:
    say()
    rows = [
        ("held" if each["held"] else "not held", each["text"], few(each["checks"])) for each in shown["requirements"]
    ]
    print_table(("requirement", "text", "checks"), rows)
    unmet = [check for each in shown["requirements"] for check in each["standing"] if not check["held"]]
    if unmet:
        say()
        print_table(("check not held", "made on", "must hold at"), [_unmet(each) for each in unmet])


def _unmet(check: Document) -> tuple[str, str, str]:
    """Whole revisions: a short one would not say which."""
    return (check["check_id"], few(check["made_on"]) or "nothing", few(check["must_hold_at"]) or "any subject")


def _evidence(shown: Document) -> None:
    if not shown["evidence"]:
        return
    say()
    rows = [
        (
            each["task_id"],
            f"{each['round']}/{each['attempt']}",
            each["verdict"],
            each["kind"],
            " ".join(part for part in (each["command"], each["form"]) if part),
            each["observed_by"],
            (each["subject"] or "")[:12],
            _result(each),
        )
        for each in shown["evidence"]
    ]
    print_table(("evidence of", "round/no.", "verdict", "kind", "command", "seen by", "subject", "result"), rows)


def _result(evidence: Document) -> str:
    if evidence["failed_cases"]:
        return f"failing: {', '.join(evidence['failed_cases'])}"
    parts = [f"exit {evidence['exit_status']}"] if evidence["exit_status"] is not None else []
    parts += [f"{evidence['passed_cases']} passed"] if evidence["passed_cases"] else []
    parts += [f"{evidence['findings']} findings"] if evidence["findings"] is not None else []
    return ", ".join(parts)


def _finals(shown: Document) -> None:
    for each in shown["final_subjects"]:
        say()
        say(f"final revision  {each['repository']} {each['revision']}")
        if each["move_branch"]:
            say(f"move {each['branch']} to it with:\n  {each['move_branch']}")
