"""Random walks of two supervisors over one log: torn passes, aborted steps, kills, hand-overs, compared with a fold."""

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from remit.errors import FencedError, StepAbortedError
from remit.log.protocols import Message, Partition
from supervisor import checkpointer
from supervisor.service import Supervisor
from supervisor.shard import Shards
from tests.supervisor.test_takeover import NAMES, RARE, Frozen, _clocks, folded, freeze_before_commit, moves
from tests.supervisor.world import World, two_tasks

SEEDS = range(12)


def compare(live: Shards, world: World) -> None:
    """What a supervisor holds of its shards is what a fold of the whole log holds of them."""
    fresh, mine = folded(world), set(live.generations)
    states = dict(fresh.states.all())
    assert dict(live.states.all()) == {key: state for key, state in states.items() if fresh.shard_of(key) in mine}
    assert live.decided == {place: offset for place, offset in fresh.decided.items() if place[1] in mine}
    assert live.sequences == {shard: last for shard, last in fresh.sequences.items() if shard in mine}
    assert _clocks(live) == {place: at for place, at in _clocks(fresh).items() if place[1] in mine}
    assert (live.unfoldable, fresh.unfoldable, live.counts["position_alarm"]) == ({}, {}, 0)


def turn(supervisor: Supervisor) -> None:
    with suppress(Frozen):
        try:
            supervisor.turn(0.0)
        except FencedError:
            supervisor._fencings.clear()


def begin_a_pass(world: World, supervisor: Supervisor) -> None:
    if supervisor._checkpointer is not None:
        supervisor._checkpointer.due = world.clock()
    turn(supervisor)


def abort_a_step(supervisor: Supervisor) -> None:
    """Let the next step fail after all of its bookkeeping was done."""
    session: Any = supervisor._session

    def aborted(messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        del session.step
        session.prepare(messages, offsets).abort()
        raise StepAbortedError("aborted")

    session.step = aborted
    turn(supervisor)


def kill_in_a_step(world: World, *, opened: bool) -> None:
    freeze_before_commit(world.supervisor, opened=opened)
    for _ in range(3):
        turn(world.supervisor)
    world.restart()


def _play(plays: Mapping[str, Callable[[], None]], name: str) -> None:
    plays[name]()


def walk(world: World, dice: random.Random) -> None:
    plays = moves(world)
    names = [name for name in (*NAMES, *RARE) if name != "restart"]

    def both() -> list[Supervisor]:
        return [world.supervisor, *world.others]

    steps: dict[Callable[[], object], int] = {
        lambda: _play(plays, dice.choice(names)): 25,
        lambda: turn(dice.choice(both())): 45,
        lambda: begin_a_pass(world, dice.choice(both())): 12,
        lambda: world.log.expire_session(dice.choice(["s1", "s2"])): 4,
        lambda: abort_a_step(dice.choice(both())): 4,
        lambda: kill_in_a_step(world, opened=dice.random() < 0.5): 5,
        world.restart: 5,
    }
    for each in dice.choices(list(steps), list(steps.values()), k=dice.randint(30, 120)):
        each()
    for _ in range(3):
        for name in ("s1", "s2"):
            world.log.expire_transaction(name)
        for supervisor in both() * 40:
            turn(supervisor)
        world._inspected()


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_memory_and_log_agree(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """STATE-3, KTXN-1: nothing is lost, doubled or forked, also behind checkpoints that were torn or refused."""
    dice = random.Random(seed)  # noqa: S311 - a walk, no secret
    monkeypatch.setattr(checkpointer, "PART", dice.choice([1, 1, 2, 5]))
    world = World(tmp_path)
    world.worker(slots=9)
    for name in ("w1", "w3", "w4"):
        world.submit(two_tasks(workflow_id=name), name)
    world.another("s2")
    walk(world, dice)
    serving = [each.shards for each in (world.supervisor, *world.others) if each.shards is not None]
    assert serving
    for shards in serving:
        compare(shards, world)
    world.log.expire_session("s2")
    for each in world.others:
        each._session.close()
    world.restart()
    world.settle()
    compare(world.shards, world)
    assert len(world.shards.generations) == 2
    assert not [each for each in caplog.messages if "history is read" in each and "no marker" not in each]
    world.close()
