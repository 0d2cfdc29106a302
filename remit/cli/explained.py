"""What `explain` says of a workflow's tasks, as documents: causes, workers, dispatches, checks.

Only `remit.cli` imports it. Values are JSON's own, but for times and money, which the printers write as text.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from remit.cli.folded import Folded
from remit.contract.normal import Check, Requirement
from remit.errors import RefusedError
from remit.events.transitions import Transition
from remit.instants import aware
from remit.log.protocols import Log
from remit.policy.model import Policy
from remit.roles import role

if TYPE_CHECKING:
    from supervisor.explaining import Crew
    from supervisor.load import Load
    from supervisor.state import Workflow

Document = dict[str, Any]
FREE = frozenset({"waiting", "queued", "backing_off"})
"""Statuses in which a task has no worker: who could take it is shown."""


class Room:
    """What is known beside a workflow: its policy, and the workers with what they have to do."""

    def __init__(self, policy: Policy, crew: "Crew") -> None:
        """Both as read at one moment."""
        self.policy, self.crew = policy, crew


def room(log: Log, workflow: "Workflow", now: datetime) -> Room:
    """Read registrations, liveness, policies, and all open attempts; RefusedError if the pinned policy is not there."""
    aware(now, "now")
    return _room(log, workflow, now, role("supervisor.onlooker").look(log).load)


def _room(log: Log, workflow: "Workflow", now: datetime, load: "Load") -> Room:
    with closing(role("supervisor.directory").Directory(log, lambda: now)) as directory:
        policy = directory.policies.get(workflow.policy_sha256)
        if policy is None:
            raise RefusedError(f"policy {workflow.policy_sha256[:12]}, which the workflow pins, can't be read")
        registered, registry, governing = dict(directory.registered()), directory.registry(), directory.governing()
    return Room(policy, role("supervisor.explaining").Crew(registered, registry, load, governing))


def queue_of(log: Log, workflow: "Workflow", now: datetime) -> str | None:
    """Why nothing of the workflow goes to a worker now; None if something is about to.

    Other workflows' attempts are left out: workers tell of them in their free slots.
    """
    aware(now, "now")
    empty: str | None = role("supervisor.actions").empty_because(workflow)
    if empty is not None:
        return empty
    load = role("supervisor.load").Load()
    load.change(None, workflow)
    around = _room(log, workflow, now, load)
    causes = [_cause(workflow, each, around) for each, task in workflow.tasks.items() if task.status.value == "queued"]
    if any(each["cause"] == "its turn" for each in causes):
        return None
    return "; ".join(f"{each['task_id']}: {each['cause']}: {each['because']}" for each in causes)


def whole(folded: Folded, around: Room) -> Document:
    """Every task with its cause, and every check with where it stands."""
    workflow = folded.workflow
    return {
        "workflow_id": workflow.workflow_id,
        "tenant_id": workflow.tenant_id,
        "status": workflow.status.value,
        "development_acceptance": workflow.development_acceptance,
        "queue": role("supervisor.actions").empty_because(workflow),
        "tasks": [_cause(workflow, task_id, around) for task_id in workflow.tasks],
        "checks": [_check(workflow, *each) for each in _checks(workflow)],
    }


def one(folded: Folded, task_id: str, around: Room) -> Document:
    """One task: its cause, who could take it, how each of its dispatches was chosen, and its checks."""
    workflow = folded.workflow
    wanted = {task_id, *role("supervisor.graph").upstream(workflow.contract, task_id)}
    return {
        "workflow_id": workflow.workflow_id,
        "tenant_id": workflow.tenant_id,
        **_cause(workflow, task_id, around),
        "workers": _workers(workflow, task_id, around),
        "dispatches": [_dispatch(each.transition) for each in folded.entries if _is_offer(each.transition, task_id)],
        "checks": [_check(workflow, *each) for each in _checks(workflow) if each[1].task in wanted],
    }


def _cause(workflow: "Workflow", task_id: str, around: Room) -> Document:
    cause, particulars = role("supervisor.explaining").cause(workflow, task_id, around.policy, around.crew)
    status = workflow.tasks[task_id].status.value
    return {"task_id": task_id, "status": status, "cause": cause.value, "because": particulars}


def _workers(workflow: "Workflow", task_id: str, around: Room) -> list[Document]:
    if workflow.tasks[task_id].status.value not in FREE:
        return []
    seen = role("supervisor.explaining").workers_seen(workflow, task_id, around.policy, around.crew)
    return [asdict(each) for each in seen]


def _is_offer(transition: Transition, task_id: str) -> bool:
    return transition.task_id == task_id and transition.dispatch is not None


def _dispatch(transition: Transition) -> Document:
    offer = transition.dispatch
    if offer is None:
        return {}
    return {
        "sequence": transition.sequence,
        "at": transition.decided_at,
        "round": transition.round,
        "attempt": offer.attempt,
        "worker_id": transition.worker_id,
        "registry_offset": offer.registry_offset,
        "price": msgspec.to_builtins(offer.price),
        "reserved": msgspec.to_builtins(offer.reserved),
        "candidates": msgspec.to_builtins(offer.candidates),
    }


def _checks(workflow: "Workflow") -> Iterator[tuple[Requirement, Check]]:
    for requirement in workflow.contract.requirements:
        for check in requirement.checks:
            yield requirement, check


def _check(workflow: "Workflow", requirement: Requirement, check: Check) -> Document:
    standing = role("supervisor.decide.acceptance").standing(workflow, check)
    return {
        "requirement_id": requirement.id,
        "requirement": requirement.text,
        "mandatory": requirement.mandatory,
        "security": requirement.security,
        "task_id": check.task,
        "kind": check.kind.value,
        "command": check.command,
        **standing._asdict(),
        "because": None if standing.held else _why_not(workflow, check, standing.made_on, standing.must_hold_at),
    }


def _why_not(workflow: "Workflow", check: Check, made_on: tuple[str, ...], must_hold_at: tuple[str, ...]) -> str:
    if made_on and not set(made_on) & set(must_hold_at):
        return "made on another subject" if must_hold_at else "there is no final subject yet"
    status = workflow.tasks[check.task].status.value
    return f"task {check.task} is {status}" if status != "completed" else "no evidence of it was accepted"
