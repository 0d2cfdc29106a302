"""Clocks that are off or jump: what the log's own time protects, and what a supervisor's clock can still do."""

from datetime import datetime, timedelta

import pytest

from tests.supervisor.world import Clock, World, two_tasks


class Ahead(Clock):
    """Another clock, so many seconds ahead of the world's."""

    def __init__(self, other: Clock, seconds: float) -> None:
        self._other, self._by = other, timedelta(seconds=seconds)

    def __call__(self) -> datetime:
        return self._other() + self._by


def running(world: World) -> None:
    """One task is claimed; its lease is thirty seconds."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    world.claim(world.offer())
    world.settle()
    assert world.kinds()[-1] == "claimed"


def test_a_clock_that_jumps_back_takes_no_time_back(world: World) -> None:
    """A partition's time is the highest append time so far: no decision is older than the one before it."""
    running(world)
    world.forward(20)
    world.cancel(task_id="b")
    world.settle()
    world.forward(-600)
    world.cancel()
    world.settle()
    times = [each.decided_at for each in world.history() if each.cause and each.cause.topic == "decisions"]
    assert len(times) >= 2
    assert times == sorted(times)
    assert "lease_expired" not in world.kinds()
    world.restart()
    world.settle()
    assert world.shards.state(("default", "w1")) == world.state()


def off(world: World, seconds: float) -> None:
    """Another supervisor takes over, whose clock is so many seconds ahead, or behind."""
    true = world.clock
    world.clock = Ahead(true, seconds)
    world.restart()
    world.clock = true


@pytest.mark.parametrize("seconds", [8, -8])
def test_a_supervisor_s_clock_that_is_off_ends_leases_early_or_late_by_as_much(world: World, seconds: int) -> None:
    """A lease of thirty seconds, on a clock that is eight ahead or behind; doctor tells from five on."""
    off(world, seconds)
    running(world)
    world.forward(30 - seconds - 1)
    world.settle()
    assert "lease_expired" not in world.kinds()
    world.forward(2)
    world.settle()
    assert "lease_expired" in world.kinds()


@pytest.mark.parametrize("seconds", [60, -60])
def test_a_clock_that_is_far_off_begins_nothing_and_counts_nothing(world: World, seconds: int) -> None:
    """Workers seem gone, or claims too late: no attempt is counted, and a right clock goes on with what waits."""
    off(world, seconds)
    world.worker()
    world.submit(two_tasks())
    world.settle()
    for offer in world.sent():
        world.claim(offer)
    world.settle()
    assert "claimed" not in world.kinds()
    assert world.workflow().tasks["a"].attempts_started == 0
    world.forward(61)
    world.restart()
    world.worker()
    world.settle()
    world.run(world.offer())
    assert "result_accepted" in world.kinds()
