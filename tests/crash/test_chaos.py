"""A short run of the chaos harness on its own broker, and that each of its invariants can be broken."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from chaos.history import History, Key
from chaos.invariants import CHECKS
from chaos.run import Outcome, Run, Wanted
from chaos.schedule import Act, order, schedule
from chaos.summary import lines
from remit.events.transitions import Transition, TransitionKind
from remit.topics import ANSWERED

SEED = int(os.environ.get("REMIT_CHAOS_SEED", "11"))
WANTED = Wanted(seed=SEED, seconds=20, supervisors=2, workers=2, rate=5, open_at_once=40)
Harm = Callable[[History], History]


class Ran:
    """What the one run of this file came to."""

    def __init__(self, outcome: Outcome, history: History, submitted: list[Key]) -> None:
        self.outcome, self.history, self.submitted = outcome, history, submitted


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """Twenty seconds of faults on real processes, and all that they left."""
    home: Path = tmp_path_factory.mktemp("chaos")
    with closing(Run(WANTED, home, lambda _line: None)) as run:
        yield Ran(run.go(), run.history, run.submitted)


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
