"""FLOW-1, fourth run: what the policy lets no worker do is refused, or escalated at once when it was let before."""

import pytest

from remit.contract.gate import normalise
from remit.errors import ContractInvalidError
from tests.supervisor.lab import START, Lab, document
from tests.supervisor.world import POLICY, World, two_tasks


def test_a_capability_that_the_policy_does_not_know_is_refused(lab: Lab) -> None:
    """CONTRACT_INVALID, with the place."""
    asked = document()
    asked["tasks"]["code"]["capability"] = "telepathy"
    with pytest.raises(ContractInvalidError, match=r"tasks\.code\.capability"):
        normalise(asked, lab.policy, now=START)


def test_a_capability_taken_away_later_escalates_at_once(world: World) -> None:
    """Nobody could come, so the queue's wait is not waited for; the owner has it, by the reason."""
    world.submit(two_tasks())
    world.settle()
    assert world.workflow().tasks["a"].status.value == "queued"
    world.apply(
        POLICY.replace("capabilities: [shell, other]", "capabilities: [other]").replace(
            "shell: {pool: shell, outputs", "shell: {pool: shell, capability: other, outputs"
        )
    )
    world.settle()
    last = world.history()[-1]
    assert (last.kind.value, last.reason) == ("task_escalated", "no_eligible_worker")
    assert last.stop is not None
    assert last.stop.owner == "user:priya"
    assert world.workflow().tasks["a"].attempts_started == 0


def test_what_becomes_ready_after_it_was_taken_away_escalates_too(world: World) -> None:
    """The task behind a running one is looked at when its turn comes."""
    offer = world.begun()
    world.apply(
        POLICY.replace("capabilities: [shell, other]", "capabilities: [other]").replace(
            "shell: {pool: shell, outputs", "shell: {pool: shell, capability: other, outputs"
        )
    )
    world.settle()
    assert world.workflow().tasks["a"].status.value == "running"
    world.run(offer)
    world.settle()
    assert world.history()[-1].reason == "no_eligible_worker"
    assert world.workflow().tasks["b"].status.value == "escalated"
