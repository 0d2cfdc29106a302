"""What waits for a person, as items with an id and a content hash: functions of a workflow's state.

A decision names an item and the hash of exactly what was looked at. Pure; decide and the command line use it.
"""

from dataclasses import dataclass

from remit import ids
from remit.contract.normal import task_hash

from .state import AwaitingDecision, Escalated, Proposed, Task, Workflow

TASK, AMENDMENT = "task", "amendment"


@dataclass(frozen=True, slots=True)
class Item:
    """One open item; `sequence` is that of the transition that put it there."""

    item_id: str
    kind: str  # task or amendment
    sequence: int
    owner: str
    reason: str
    content_sha256: str
    task_id: str | None = None


def item_id(workflow_id: str, sequence: int) -> str:
    """`WORKFLOW/SEQUENCE`: unique within a tenant."""
    return f"{workflow_id}/{sequence}"


def inbox(workflow: Workflow) -> tuple[Item, ...]:
    """Every open item, the oldest first; none of a workflow that has ended."""
    if not workflow.open:
        return ()
    tasks = (_of_task(workflow, task) for task in workflow.tasks.values())
    found = [each for each in tasks if each is not None]
    found += [_of_amendment(each) for each in workflow.proposed]
    return tuple(sorted(found, key=lambda item: item.sequence))


def item_of(workflow: Workflow, wanted: str | None) -> Item | None:
    """The open item of that id."""
    return next((each for each in inbox(workflow) if each.item_id == wanted), None)


def _of_task(workflow: Workflow, task: Task) -> Item | None:
    match task.phase:
        case Escalated(reason=reason, owner=owner, sequence=sequence):
            pass
        case AwaitingDecision(reason=reason, owner=owner, sequence=sequence):
            pass
        case _:
            return None
    named = item_id(workflow.workflow_id, sequence)
    content = {
        "item_id": named,
        "task_id": task.task_id,
        "round": task.round,
        "reason": reason,
        "contract_sha256": task_hash(workflow.contract, task.task_id),
        "policy_sha256": workflow.policy_sha256,
    }
    return Item(named, TASK, sequence, owner, reason, ids.digest(content), task.task_id)


def _of_amendment(proposed: Proposed) -> Item:
    sequence = int(proposed.item_id.rpartition("/")[2])
    reason = "; ".join(proposed.widens)
    return Item(proposed.item_id, AMENDMENT, sequence, proposed.owner, reason, proposed.accepted.contract_sha256)
