"""What waits for people, as documents: the open items of a whole log, and one of them in full.

Only `remit.cli` imports it. Values are JSON's own, but for times, which the printers write as text.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from remit.cli.folded import Folded
from remit.cli.shown import evidence
from remit.cli.telling import failing_cases
from remit.client.keyed import results, transitions_at
from remit.client.resolving import APPROVE, REFUSE, RETRY, STOP
from remit.errors import RefusedError
from remit.events.inputs import Result
from remit.events.transitions import Transition
from remit.instants import aware
from remit.log.protocols import Log
from remit.roles import role

if TYPE_CHECKING:
    from supervisor.inbox import Item
    from supervisor.state import Workflow

Document = dict[str, Any]
WORDS = {"task": (RETRY, STOP), "amendment": (APPROVE, REFUSE)}


def open_items(log: Log, now: datetime) -> list[Document]:
    """Every open item of every workflow, the longest waiting first."""
    aware(now, "now")
    state, items = role("supervisor.state"), role("supervisor.inbox").inbox
    shards = role("supervisor.onlooker").look(log)
    workflows = [each for _, each in shards.states.awake() if isinstance(each, state.Workflow)]
    found = [(workflow, item) for workflow in workflows for item in items(workflow)]
    since = transitions_at(log, {(each.tenant_id, each.workflow_id, item.sequence) for each, item in found})
    listed = [
        _item(workflow, item, since[place].decided_at, now)
        for workflow, item in found
        if (place := (workflow.tenant_id, workflow.workflow_id, item.sequence)) in since
    ]
    return sorted(listed, key=lambda each: (each["since"], each["tenant_id"], each["item_id"]))


def _item(workflow: "Workflow", item: "Item", since: datetime, now: datetime) -> Document:
    return {
        "item_id": item.item_id,
        "kind": item.kind,
        "owner": item.owner,
        "since": since,
        "age_seconds": max(int((now - since).total_seconds()), 0),
        "tenant_id": workflow.tenant_id,
        "workflow_id": workflow.workflow_id,
        "task_id": item.task_id,
        "reason": item.reason,
        "content_sha256": item.content_sha256,
        "decide": list(WORDS[item.kind]),
    }


def item_of(folded: Folded, item_id: str) -> "Item":
    """The open item of that id; RefusedError, with what became of it where that is known."""
    item: Item | None = role("supervisor.inbox").item_of(folded.workflow, item_id)
    if item is not None:
        return item
    decided = (each.transition.resolution for each in folded.entries)
    made = next((each for each in decided if each is not None and each.item_id == item_id), None)
    became = f": {made.person} decided {made.resolution}" if made is not None else ", or not any more"
    raise RefusedError(f"no item {item_id} is open{became} (remit inbox lists those that are)")


def item_of_task(folded: Folded, task_id: str) -> "Item":
    """The open item of a task; RefusedError, with what the task is doing, if there is none."""
    workflow = folded.workflow
    found: list[Item] = [each for each in role("supervisor.inbox").inbox(workflow) if each.task_id == task_id]
    if found:
        return found[0]
    task = workflow.tasks.get(task_id)
    stands = f"it is {task.status.value}" if task is not None else "there is no such task"
    raise RefusedError(f"task {task_id} of {workflow.workflow_id} waits for nobody's decision: {stands}")


def item_in_full(log: Log, folded: Folded, item: "Item", now: datetime) -> Document:
    """An item with all that a person needs to decide on it."""
    aware(now, "now")
    workflow = folded.workflow
    since = next(each.transition.decided_at for each in folded.entries if each.transition.sequence == item.sequence)
    whole = _item(workflow, item, since, now)
    whole |= {"objective": workflow.contract.objective, "workflow_status": workflow.status.value}
    if item.task_id is None:
        return whole | _amendment(workflow, item.item_id)
    sent = results(log, workflow.tenant_id, workflow.workflow_id)
    return whole | _task(folded, item.task_id, sent)


def _amendment(workflow: "Workflow", item_id: str) -> Document:
    proposed = next(each for each in workflow.proposed if each.item_id == item_id)
    return {
        "base_version": proposed.base_version,
        "contract_version": proposed.accepted.contract_version,
        "proposer": proposed.proposer,
        "why": proposed.accepted.reason,
        "widens": list(proposed.widens),
    }


def _task(folded: Folded, task_id: str, sent: Sequence[Result]) -> Document:
    workflow = folded.workflow
    task, contract = workflow.tasks[task_id], workflow.contract.tasks[task_id]
    stop = next((each.transition.stop for each in reversed(folded.entries) if _stops(each.transition, task_id)), None)
    return {
        "task_objective": contract.objective,
        "pool": contract.pool,
        "round": task.round,
        "attempts": task.attempts_started,
        "detail": stop.detail if stop else None,
        "needed_by": list(role("supervisor.graph").downstream(workflow.contract, task_id)),
        "endings": [_ending(each, sent) for each in _endings(folded, task_id)],
    }


def _stops(transition: Transition, task_id: str) -> bool:
    return transition.task_id == task_id and transition.stop is not None


def _endings(folded: Folded, task_id: str) -> Iterator[Transition]:
    """How the attempts of the task's newest round ended, in order."""
    round_ = folded.workflow.tasks[task_id].round
    for each in folded.entries:
        transition = each.transition
        if transition.task_id == task_id and transition.ending is not None and transition.round == round_:
            yield transition


def _ending(transition: Transition, sent: Sequence[Result]) -> Document:
    ending = transition.ending
    bodies = [each.result for each in sent if each.attempt_id == transition.attempt_id and each.result is not None]
    return {
        "sequence": transition.sequence,
        "attempt": transition.attempt,
        "worker_id": transition.worker_id,
        "outcome": ending.outcome if ending else None,
        "faults": list(ending.faults) if ending else [],
        "failing_cases": list(failing_cases(ending.failing)) if ending else [],
        "evidence": evidence([transition]),
        "worker_says": bodies[-1].message if bodies else None,
    }
