"""Cancelling: the answer is a transition that stopped something, or a refusal with its reason."""

import pytest

from remit.client.cancelling import cancel
from remit.errors import RefusedError, UnconfirmedError
from remit.events.transitions import TransitionKind
from tests.client.conftest import serving
from tests.supervisor.world import World, two_tasks

TENANT = "default"


def test_a_queued_workflow_is_stopped_and_never_dispatched(world: World) -> None:
    """FLOW-4 (a): the cancelling transition was read; nothing is offered afterwards, and what needs it ends too."""
    world.submit(two_tasks())
    world.settle()
    with serving(world):
        found = cancel(world.log, TENANT, "w1", task_id=None, reason="not needed")
        world.worker()
    assert found.kind is TransitionKind.WORKFLOW_STOPPED
    assert world.workflow().status.value == "stopped"
    world.settle()
    assert "dispatched" not in world.kinds()


def test_an_offered_task_is_stopped_and_its_late_claim_refused(world: World) -> None:
    """FLOW-4 (b): the claim that comes later is stale."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    with serving(world):
        found = cancel(world.log, TENANT, "w1", task_id="a", reason="not needed")
    assert (found.kind, found.task_id) == (TransitionKind.TASK_STOPPED, "a")
    world.claim(world.offer())
    world.settle()
    assert "claimed" not in world.kinds()


def test_a_running_workflow_is_stopped_at_once(world: World) -> None:
    """FLOW-4 (c): its reason is `cancelled`; the worker is told."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    world.claim(world.offer())
    world.settle()
    with serving(world):
        cancel(world.log, TENANT, "w1", task_id=None, reason="not needed")
    assert world.workflow().stop_reason == "cancelled"
    assert [each.task_id for each in world.sent(kind="cancel")] == ["a"]


def test_refusals(served: World) -> None:
    """An unknown workflow never reaches the log; an unknown task and an ended workflow are answered with why."""
    with pytest.raises(RefusedError, match="no workflow w1 of tenant default"):
        cancel(served.log, TENANT, "w1", task_id=None, reason="x")
    assert served.read("decisions") == []
    served.submit(two_tasks())
    assert wait_for(served, "contract_accepted")
    with pytest.raises(RefusedError, match="no such task"):
        cancel(served.log, TENANT, "w1", task_id="z", reason="x")
    cancel(served.log, TENANT, "w1", task_id=None, reason="x")
    with pytest.raises(RefusedError, match="it has ended already"):
        cancel(served.log, TENANT, "w1", task_id=None, reason="x")


def test_no_answer_is_unconfirmed(world: World) -> None:
    """KOPS-6: requested, unconfirmed: exit 3; asked again, it is one cancellation."""
    world.submit(two_tasks())
    world.settle()
    with pytest.raises(UnconfirmedError, match="to cancel again is safe"):
        cancel(world.log, TENANT, "w1", task_id=None, reason="x", timeout=1.2)
    world.settle()
    assert world.workflow().status.value == "stopped"


def wait_for(world: World, kind: str) -> bool:
    """Until the served supervisor has written a transition of that kind."""
    reader = world.log.reader()
    end = 0
    for _ in range(600):
        if kind in world.kinds():
            return True
        end += len(reader.poll(1, 0.05))
    return False
