"""Where a run's workflows may come to stand, by the transitions of a supervisor."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from chaos.history import History
from chaos.invariants import outcomes
from remit.codec import decode
from remit.events.transitions import Transition
from remit.topics import Topic
from tests.supervisor.behaviours import body
from tests.supervisor.world import World


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[History]:
    """One workflow, whose worker has asked its owner something: no stop tells of it, only the attempt's end."""
    world = World(tmp_path)
    offer = world.begun()
    world.result(offer, body(offer, world, "ambiguous"))
    world.settle()
    found = [(each, decode(each.topic, each.value)) for each in world.read(Topic.TRANSITIONS)]
    yield History(transitions=[(each, event) for each, event in found if isinstance(event, Transition)])
    world.close()


def test_a_workflow_whose_owner_was_asked_says_why_it_has_not_ended(asked: History) -> None:
    """Found by a run, whose last workflow was asked about in its last second."""
    assert outcomes.ended(asked, [("default", "w1")]) == []


def test_an_earlier_owner_does_not_stand_in_for_one_that_is_missing(asked: History) -> None:
    """The same question a second time, of nobody: whom the first was put to explains nothing."""
    recorded, last = asked.transitions[-1]
    assert last.ending is not None
    nobody = msgspec.structs.replace(last, ending=msgspec.structs.replace(last.ending, owner=None))
    harmed = History(transitions=[*asked.transitions, (recorded, nobody)])
    assert len(outcomes.ended(harmed, [("default", "w1")])) == 1
