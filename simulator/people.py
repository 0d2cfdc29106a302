"""People who work the inbox of a simulated world: they try again, stop, look away, or decide on what is gone."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from remit.events.inputs import Decision, DecisionKind
from remit.topics import Topic

from .parts import inbox

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from .ground import Ground
    from .parts import state

CHOICES = ("retry", "retry", "stop", "approve", "refuse", "late", "leave")


def work_inbox(ground: Ground, workflows: Iterable[state.Workflow], chance: Random, *, only: str | None = None) -> None:
    """Decide on what is open in these workflows, each item by chance; `only` on those of one."""
    for each in workflows:
        for item in inbox.inbox(each) if only in {None, each.workflow_id} else ():
            choice = chance.choice(CHOICES)
            if choice != "leave":
                _decide(ground, each.tenant_id, each.workflow_id, item, choice)


def _decide(ground: Ground, tenant_id: str, workflow_id: str, item: Any, choice: str) -> None:  # noqa: ANN401 - an Item
    kind = {"approve": DecisionKind.APPROVE, "refuse": DecisionKind.REFUSE}.get(choice, DecisionKind.RESOLVE)
    said = {
        "person": "user:priya",
        "task_id": item.task_id,
        "item_id": item.item_id,
        "content_sha256": item.content_sha256 if choice != "late" else "0" * 64,
        "reason": "I looked at it",
        "minutes_spent": Decimal("1.5"),
        "resolution": choice if kind is DecisionKind.RESOLVE else None,
    }
    ground.tell("person", f"{tenant_id}/{workflow_id}", f"{choice} {item.item_id} ({item.reason})")
    ground.write(Topic.DECISIONS, Decision, kind=kind, tenant_id=tenant_id, workflow_id=workflow_id, **said)
