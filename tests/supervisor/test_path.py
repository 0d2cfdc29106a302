"""The path of a workflow through the supervisor, over the log in memory."""

from pathlib import Path

from tests.supervisor.world import World, completed, two_tasks


def test_two_tasks_are_offered_claimed_inspected_and_accepted(tmp_path: Path) -> None:
    """The whole path: contract, offers in turn, claims, results, inspection, acceptance, in the drawn order."""
    world = World(tmp_path)
    world.worker()
    world.submit(two_tasks())
    world.settle()
    for _ in range(2):
        offer = world.offer()
        world.claim(offer)
        world.settle()
        world.result(offer, completed(offer, world))
        world.settle()
        world.alive()
        world.settle()
    assert world.kinds() == [
        "contract_accepted",
        "dispatched",
        "claimed",
        "result_accepted",
        "dispatched",
        "claimed",
        "inspection_requested",
        "result_accepted",
        "workflow_accepted",
    ]
    workflow = world.workflow()
    assert (workflow.status.value, workflow.development_acceptance) == ("accepted", "approved")
