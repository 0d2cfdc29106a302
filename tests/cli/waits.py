"""Workflows that wait for a person, as the commands' tests begin with."""

from typing import Any

from remit.events.base import Usage
from remit.events.inputs import ErrorClass, ResultBody, ResultStatus
from remit.events.service import Dispatch
from tests.supervisor.world import World, two_tasks


def failed(offer: Dispatch, error_class: str = "RETRYABLE_FAILED", **said: Any) -> ResultBody:
    """A result that says it did not work."""
    assert offer.offer is not None
    fields: dict[str, Any] = {
        "status": ResultStatus.FAILED,
        "error_class": ErrorClass(error_class),
        "message": "the disk is full",
        "usage": Usage(tokens_in=1000, tokens_out=500, tool_calls=2),
        "input_versions": offer.offer.inputs,
    }
    return ResultBody(**(fields | said))


def attempt(world: World, body: ResultBody | None = None, **said: Any) -> Dispatch:
    """One attempt on the newest offer, that fails."""
    offer = world.offer()
    world.claim(offer)
    world.settle()
    world.result(offer, body or failed(offer, **said))
    world.settle()
    return offer


def escalated(world: World, workflow_id: str = "w1", tenant_id: str = "default") -> None:
    """Task a of the workflow failed for good: its owner has it, b waits for it."""
    if "w1" not in world.incarnations:
        world.worker()
    world.submit(two_tasks(workflow_id=workflow_id), workflow_id, tenant_id)
    world.settle()
    attempt(world, error_class="PERMANENT_FAILED")
    world.alive()
    world.settle()
