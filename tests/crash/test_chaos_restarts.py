"""That a chaos run would see a checkpoint which tells another story than history does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from chaos import restarts
from remit.events.service import CheckpointKind
from supervisor.checkpoint import SEAL
from supervisor.packed import pack, unpack
from supervisor.state import Workflow
from tests.supervisor.test_checkpoints import checkpoints, finished, lay, save, sealed
from tests.supervisor.world import World


@pytest.fixture
def saved(tmp_path: Path) -> Iterator[World]:
    """A finished workflow and its checkpoint, on the log in memory."""
    world = World(tmp_path)
    finished(world)
    save(world)
    yield world
    world.close()


def test_a_forged_checkpoint_is_found(saved: World) -> None:
    """A state that no transition led to, sealed as a supervisor would."""
    assert restarts.agree(saved.log, {}) == []  # type: ignore[arg-type] # any log will do
    last = next(each for each in reversed(checkpoints(saved)) if each.kind is CheckpointKind.CLOSED)
    state = unpack((last.state or b"")[SEAL:])
    assert isinstance(state, Workflow)
    forged = replace(state, tasks={**state.tasks, "a": replace(state.tasks["a"], attempts_started=7)})
    lay(saved, sealed(replace(last, state=bytes(SEAL) + pack(forged))))
    assert restarts.agree(saved.log, {}) == ["default/w1: another state"]  # type: ignore[arg-type] # any log will do


def test_a_marker_that_moves_a_position_is_found(saved: World) -> None:
    """A shard said to have decided more than it has."""
    marker = next(each for each in reversed(checkpoints(saved)) if each.kind is CheckpointKind.SHARD and each.positions)
    further = tuple(replace(each, next_offset=each.next_offset + 1) for each in marker.positions)
    lay(saved, sealed(marker, positions=further))
    assert restarts.agree(saved.log, {}) == ["other positions, notes or frozen workflows"]  # type: ignore[arg-type] # any log
