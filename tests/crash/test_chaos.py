"""A short run of the chaos harness on its own broker, and that each of its invariants can be broken."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import msgspec
import pytest

from chaos import talk, views
from chaos.history import History
from chaos.invariants import CHECKS
from chaos.invariants.books import booked
from chaos.plants import PLANTS
from chaos.run import Outcome, Run, Wanted
from chaos.schedule import Act, order, schedule
from chaos.summary import found_out, lines
from remit.events.transitions import Transition, TransitionKind
from remit.reading import view_files
from remit.topics import ANSWERED

pytestmark = pytest.mark.xdist_group("chaos")  # all of it looks at one run
SEED = int(os.environ.get("REMIT_CHAOS_SEED", "11"))
WANTED = Wanted(seed=SEED, seconds=20, supervisors=2, workers=2, rate=5, open_at_once=40)
Harm = Callable[[History], History]


class Ran:
    """What the one run of this file came to."""

    def __init__(self, run: Run, home: Path) -> None:
        self.outcome, self.home, self.env = run.go(), home, run._env
        self.history, self.submitted = run.history, run.submitted


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """Twenty seconds of faults on real processes, and all that they left."""
    home: Path = tmp_path_factory.mktemp("chaos")
    with closing(Run(WANTED, home, lambda _line: None)) as run:
        yield Ran(run, home)


@pytest.mark.kafka
@pytest.mark.timeout(240)
def test_nothing_is_lost_doubled_or_forked_under_faults(ran: Ran) -> None:
    """Every invariant holds after kills and stops, and something was done under them."""
    assert ran.outcome.held, "\n".join(lines(WANTED, ran.outcome))
    assert ran.outcome.kills >= 3
    assert ran.outcome.workflows["accepted"] >= 10


def _without(kind: TransitionKind) -> Harm:
    def harm(history: History) -> History:
        at = next(i for i, (_, event) in enumerate(history.transitions) if event.kind is kind)
        return _with(history, transitions=history.transitions[:at] + history.transitions[at + 1 :])

    return harm


def _changed(kind: TransitionKind, change: Callable[[Transition], Transition]) -> Harm:
    def harm(history: History) -> History:
        done = list(history.transitions)
        at = next(i for i, (_, event) in enumerate(done) if event.kind is kind)
        done[at] = (done[at][0], change(done[at][1]))
        return _with(history, transitions=done)

    return harm


def _with(history: History, **parts: Sequence[object]) -> History:
    """Another history with some parts replaced; what it had worked out is not carried over."""
    kept = {"inputs": history.inputs, "transitions": history.transitions, "dispatched": history.dispatched}
    return History(**{**kept, **parts})  # type: ignore[arg-type]


def _doubled(history: History) -> History:
    return _with(history, transitions=[*history.transitions, history.transitions[-1]])


def _older_writer(event: Transition) -> Transition:
    writer = msgspec.structs.replace(event.writer, generation=0)
    return msgspec.structs.replace(event, writer=writer)


def _other_subject(event: Transition) -> Transition:
    accepted = event.accepted
    assert accepted is not None
    evidence = tuple(msgspec.structs.replace(each, subject=None) for each in accepted.evidence)
    return msgspec.structs.replace(event, accepted=msgspec.structs.replace(accepted, evidence=evidence))


def _dearer(event: Transition) -> Transition:
    booked = event.settlement
    assert booked is not None
    return msgspec.structs.replace(event, attempt_id=event.event_id)


def _undecided(history: History) -> History:
    """The last input that is answered, without its answer."""
    place = next(each.place for each in reversed(history.inputs) if each.recorded.topic in ANSWERED)
    left = [pair for pair in history.transitions if not _answers(pair[1], place)]
    return _with(history, transitions=left)


def _answers(event: Transition, place: tuple[str, int, int]) -> bool:
    cause = event.cause
    return cause is not None and (cause.topic, cause.partition, cause.offset) == place


HARMS: dict[str, Harm] = {
    "every workflow ended, or says why not": _without(TransitionKind.CONTRACT_ACCEPTED),
    "each accepted once": _doubled,
    "evidence at its subject": _changed(TransitionKind.RESULT_ACCEPTED, _other_subject),
    "one offer for each dispatch": _without(TransitionKind.DISPATCHED),
    "sequences without gap or repeat": _without(TransitionKind.CLAIMED),
    "no effect of a zombie": _changed(TransitionKind.WORKFLOW_ACCEPTED, _older_writer),
    "fold without conflict": _without(TransitionKind.CLAIMED),
    "every input decided once": _undecided,
    "every cause is on the log": lambda history: _with(history, inputs=history.inputs[:-1]),
    "budgets are the sum of settlements": _changed(TransitionKind.RESULT_ACCEPTED, _dearer),
}


@pytest.mark.kafka
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", CHECKS)
def test_each_invariant_can_be_broken(ran: Ran, name: str) -> None:
    """A history that is harmed in its way breaks the invariant, so that OK means something."""
    assert CHECKS[name](HARMS[name](ran.history), ran.submitted)


@pytest.fixture
def spoiled(ran: Ran, tmp_path: Path) -> Path:
    """A copy of what the run left on disk, to be harmed."""
    for folder in ("views", "artefacts", "logs"):
        shutil.copytree(ran.home / folder, tmp_path / folder)
    return tmp_path


def _spoil(file: Path, statement: str) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute(statement)


@pytest.mark.kafka
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE workflows SET status = 'running' WHERE workflow_id = ?", "running in the views"),
        ("UPDATE costs SET cost_gbp = cost_gbp + 0.000001 WHERE workflow_id = ?", "£"),
        ("DELETE FROM workflows WHERE workflow_id = ?", "None in the views"),
        ("INSERT INTO workflows SELECT * REPLACE ('stray' AS workflow_id) FROM workflows LIMIT 1 -- ?", "views only"),
    ],
)
def test_views_that_differ_from_the_log_are_found(ran: Ran, spoiled: Path, statement: str, said: str) -> None:
    """By a status, a fraction of a penny, a row too few or too many in the published copy."""
    workflow_id = next(key[1] for key, events in ran.history.workflows.items() if booked(events).cost)
    assert views.agree(spoiled, ran.history) == []
    _spoil(view_files(spoiled).published, statement.replace("?", f"'{workflow_id}'"))
    found = views.agree(spoiled, ran.history)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.kafka
@pytest.mark.timeout(240)
def test_views_that_differ_from_a_rebuild_are_found(ran: Ran, spoiled: Path) -> None:
    """One attempt's outcome in the projector's own database, no more."""
    env = ran.env | {"REMIT_HOME": str(spoiled)}
    _spoil(view_files(spoiled).database, "UPDATE transitions SET reason = 'spoiled' WHERE sequence = 1")
    assert views.rebuilt(spoiled, env)


@pytest.mark.kafka
@pytest.mark.timeout(240)
def test_a_transition_that_is_not_in_the_views_is_found(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """One on the log more than in the published copy."""
    monkeypatch.setattr(views, "CATCH_UP_S", 0.0)
    assert views.catch_up(ran.home, ran.history) == []
    assert views.catch_up(ran.home, _doubled(ran.history))


@pytest.mark.kafka
@pytest.mark.timeout(240)
@pytest.mark.parametrize("harm", [Path.unlink, lambda file: file.write_bytes(b"another")], ids=["gone", "changed"])
def test_a_report_that_is_not_in_the_store_is_found(ran: Ran, spoiled: Path, harm: Callable[[Path], object]) -> None:
    """Whether it is gone, or its bytes are others."""
    accepted = next(event.accepted for _, event in ran.history.transitions if event.accepted)
    sha256 = next(each.artefact.sha256 for each in accepted.outputs if each.artefact)
    folder = spoiled / "artefacts"
    assert views.stored(folder, ran.history) == []
    for file in [each for each in folder.rglob(f"*{sha256[-32:]}*") if each.is_file()]:
        file.chmod(0o644)
        harm(file)
    assert views.stored(folder, ran.history)


@pytest.mark.kafka
@pytest.mark.timeout(240)
@pytest.mark.parametrize("line", ["12:00:00 ERROR   ALARM north/w is frozen: x", "Traceback (most recent call last):"])
def test_an_alarm_in_a_log_is_found(spoiled: Path, line: str) -> None:
    """In any actor's log, at its end."""
    assert talk.alarms(spoiled / "logs") == []
    with (spoiled / "logs" / "worker-1.log").open("a") as file:
        file.write(f"{line}\n")
    assert len(talk.alarms(spoiled / "logs")) == 1


def test_what_a_run_came_to_is_said_and_judged_apart() -> None:
    """Too few kills or workflows are told and are no failure; a plant is found by its own invariant alone."""
    small = Outcome(Counter({"kill worker": 99}), {}, Counter(accepted=500))
    assert any("NOT reached, 99 kills over 500 workflows" in line for line in lines(WANTED, small))
    assert small.held
    assert Outcome(Counter({"kill worker": 100}), {}, Counter(accepted=500)).reached
    for name, plant in PLANTS.items():
        assert plant.seen_by in CHECKS
        planted = replace(WANTED, plant=name)
        assert not found_out(planted, Outcome(violations={"another": ["x"], plant.seen_by: []}))
        assert found_out(planted, Outcome(violations={plant.seen_by: ["x"]}))


def test_a_seed_replays_its_schedule() -> None:
    """The same seed gives the same faults and orders; another seed gives others."""
    assert schedule(7, 60, 3, 3) == schedule(7, 60, 3, 3) != schedule(8, 60, 3, 3)
    assert [order(7, "supervisor-1", life) for life in range(9)] == [order(7, "supervisor-1", n) for n in range(9)]


def test_a_long_run_kills_enough() -> None:
    """Five minutes have at least a hundred kills in their schedule, the broker's among them."""
    faults = schedule(7, 300, 3, 3)
    kills = [fault for fault in faults if fault.act in {Act.KILL, Act.RENAME}]
    assert len(kills) >= 100
    assert {fault.target for fault in kills} >= {"broker", "projector", "supervisor-1", "supervisor-2", "worker-1"}
