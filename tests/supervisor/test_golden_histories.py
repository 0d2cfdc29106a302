"""What was ever written folds to the same state."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.codec.catalogue import catalogue
from remit.events.transitions import Transition, TransitionKind
from remit.topics import Topic
from supervisor.evolve import evolve
from supervisor.state import State, Workflow, initial
from tests.supervisor import bodies
from tests.supervisor.golden_history import FOLDER, digest_of, folded, path_of
from tests.supervisor.lab import Lab
from tests.supervisor.test_amendment import amend
from tests.supervisor.test_rework import accept


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_old_transitions_fold_to_the_stored_state(path: Path) -> None:
    """AVRO-1: the digest over what the state knew then equals the stored one."""
    golden = json.loads(path.read_text("utf-8"))
    assert digest_of(folded(golden["transitions"]), golden["shape"]) == golden["digest"]


def test_the_newest_schema_has_its_history() -> None:
    """AVRO-1: whoever releases a schema of transitions keeps a history: python -m tests.supervisor.golden_history."""
    assert path_of(catalogue().newest(Topic.TRANSITIONS).id).exists()


def test_what_version_1_of_the_decider_wrote_is_folded_as_it_was(lab: Lab) -> None:
    """A question of a worker escalated, and a contract version voided nothing: no history changes with a new build."""
    accept(lab, "code")
    test = lab.start("test")
    (asked,) = lab.finish(test, bodies.needs_review(test, lab))
    found = amend(lab, {"tasks": {"code": {"permissions": {"paths": ["src/a/**"]}}}})
    amended = next(each for each in found if each.kind is TransitionKind.CONTRACT_AMENDED)
    assert lab.status("test") == "awaiting_decision"
    old = evolve(state_before(lab, asked), replace(asked, decider_version=1))
    assert isinstance(old, Workflow)
    assert (old.tasks["test"].status.value, old.clock_stopped_at) == ("escalated", None)
    before = state_before(lab, amended)
    after = evolve(before, replace(amended, decider_version=1))
    assert isinstance(before, Workflow)
    assert isinstance(after, Workflow)
    assert (after.tasks, after.contract_version) == (before.tasks, 2)
    assert lab.workflow.tasks != before.tasks


def state_before(lab: Lab, transition: Transition) -> State:
    """What the transitions before it fold to."""
    state: State = initial("default", "w1")
    for each in lab.history:
        if each is transition:
            break
        state = evolve(state, each)
    return state
