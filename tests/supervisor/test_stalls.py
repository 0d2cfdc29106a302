"""FLOW-1: every open workflow has a next event with a deadline or a person; what has none is an alarm."""

import logging
from datetime import timedelta

import pytest
from msgspec.structs import replace

from remit.events.transitions import StopReason as Reason
from supervisor.onlooker import stalled
from supervisor.stalls import overdue, stalls
from supervisor.state import Completed, Escalated, Stopped, Waiting, Workflow
from tests.supervisor.lab import Lab
from tests.supervisor.world import World, two_tasks


def altered(lab: Lab, task_id: str, **changed: object) -> Workflow:
    task = replace(lab.workflow.tasks[task_id], **changed)
    return replace(lab.workflow, tasks=lab.workflow.tasks | {task_id: task})


def test_a_workflow_under_way_has_a_next_event(lab: Lab) -> None:
    """From the queue to the inspection each phase has its own wait."""
    assert not list(stalls(lab.workflow, lab.waits()))
    lab.start("code")
    assert not list(stalls(lab.workflow, lab.waits()))


def test_what_nothing_moves_is_named(lab: Lab) -> None:
    """A task behind a stopped one, one with an owner of no name, one without its wait, an end that nobody drew."""
    (behind,) = [
        each for each in stalls(altered(lab, "code", phase=Stopped(Reason.REFUSED)), ()) if each.task_id == "test"
    ]
    assert behind.why == "it is waiting, and nothing will move it"
    nobody = altered(lab, "code", phase=Escalated("x", ""))
    assert [each.task_id for each in stalls(nobody, lab.waits())] == ["code"]
    lab.start("code")
    assert [each.task_id for each in stalls(lab.workflow, ())] == ["code"]
    ended = replace(lab.workflow, tasks={each: replace(t, phase=Completed()) for each, t in lab.workflow.tasks.items()})
    assert [each.task_id for each in stalls(ended, ())] == [None]


def test_a_wait_is_overdue_a_minute_after_its_end(lab: Lab) -> None:
    """A supervisor fires within seconds: a minute says that none runs, or that it is behind."""
    first = min(each.due_at for each in lab.waits())
    assert overdue(lab.waits(), first + timedelta(seconds=59)) is None
    late = overdue(lab.waits(), first + timedelta(seconds=60))
    assert late is not None
    assert late.why.startswith("its queue_wait was due at 2026-03-01 12:10:00 UTC")


def test_the_supervisor_raises_an_alarm_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """It looks after each decision; a workflow that stands still is said once, not at every look."""
    world.submit(two_tasks())
    world.settle()
    shards, key = world.shards, ("default", "w1")
    state = shards.state(key)
    assert isinstance(state, Workflow)
    still = {each: replace(task, phase=Waiting()) for each, task in state.tasks.items()}
    shards.put(key, replace(state, tasks=still))
    with caplog.at_level(logging.ERROR, logger="remit.supervisor"):
        for _ in range(2):
            shards.remember(key, {}, world.supervisor._directory.policies)
    assert len([each for each in caplog.records if "stands still" in each.message]) >= 1
    assert len({each.message for each in caplog.records}) == len(caplog.records)
    assert key in shards.stalled


def test_an_onlooker_finds_what_is_overdue(world: World) -> None:
    """With nobody deciding, a queued task's wait passes its end: the workflow is named, with the task."""
    world.submit(two_tasks())
    world.settle()
    assert not list(stalled(world.log, world.clock()))
    found = list(stalled(world.log, world.clock() + timedelta(days=1)))
    assert {key for key, _ in found} == {("default", "w1")}
    assert "was due at" in found[0][1].why
