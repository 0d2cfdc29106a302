"""A short run of every target, and that the harness finds what was planted: crash, hang, death, memory, broken law."""

import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from fuzz.child import BOUND_S
from fuzz.orders import TARGETS, Finding, Order, Tally
from fuzz.said import BESIDE
from fuzz.table import as_bytes, kept, lines
from fuzz.target import LawBrokenError, Outcome, Target, dice, outcome
from fuzz.watch import fuzz_all, targets_of
from remit.ids import sha256
from supervisor import intake
from supervisor.step import written
from tests.fuzz.planted import BAD

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("REMIT_FUZZ_SEED", "7"))
SECONDS = 0.12
INPUTS = 12
PLANTED_SEED = 29  # breaks each planted target within so many inputs
PLANTED = "tests.fuzz.planted"
ALL = targets_of(TARGETS)


@pytest.mark.parametrize("name", ALL)
def test_every_input_is_taken_or_refused(name: str) -> None:
    """RETRY-4, VALID-10, REDACT-7 and their kind: bad input is an answer that says where, in bounded time."""
    until = time.process_time() + SECONDS
    for number in itertools.count():
        began = time.process_time()
        assert outcome(ALL[name], ALL[name].make(dice(SEED, name, number))) in Outcome, number
        assert time.process_time() - began < BOUND_S, number
        if time.process_time() > until:
            return


def test_an_input_is_known_by_seed_and_number() -> None:
    """The same in this process and in another, whose strings hash otherwise; another seed gives another."""
    script = f"from tests.fuzz.test_fuzz import print_marks; print_marks({SEED})"
    environment = {**os.environ, "PYTHONHASHSEED": "99", "TMPDIR": tempfile.gettempdir()}
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert ran.stdout.decode() == marks(SEED)
    assert ALL["redaction.text"].make(dice(SEED, "redaction.text", 0)) != ALL["redaction.text"].make(
        dice(SEED + 1, "redaction.text", 0)
    )


def marks(seed: int) -> str:
    """A digest of some inputs of each target."""
    return "".join(
        f"{name} {sha256(b''.join(as_bytes(each.make(dice(seed, name, number))) for number in range(2)))}\n"
        for name, each in ALL.items()
    )


def print_marks(seed: int) -> None:
    """For another process."""
    sys.stdout.write(marks(seed))


def test_a_fault_inside_a_decision_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """RETRY-4: the supervisor survives it and its workflow alone stands still; the harness tells it all the same."""

    def broken(state: Any, *rest: Any) -> Any:
        if state.workflow_id == BESIDE:
            return written(state, *rest)
        raise ZeroDivisionError

    target = ALL["supervisor.inputs"]
    given = target.make(dice(SEED, target.name, 0))
    monkeypatch.setattr(intake, "written", broken)
    with pytest.raises(LawBrokenError, match="a fault inside a decision"):
        target.judge(given)


TOGETHER = pytest.mark.xdist_group("planted")  # all of it looks at one run


@pytest.fixture(scope="module")
def planted() -> dict[str, Tally]:
    """Some inputs of each planted target, on two children."""
    orders = [Order(target=name, seed=PLANTED_SEED, inputs=INPUTS) for name in targets_of(PLANTED)]
    return fuzz_all(orders, 2, PLANTED)


@TOGETHER
@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("crash", "KeyError at remit/contract/references.py"),
        ("hang", "hang: more than 2 s of processor time"),
        ("die", "killed by SIGABRT"),
        ("swell", "MemoryError at tests/fuzz/planted.py"),
        ("recurse", "RecursionError at tests/fuzz/planted.py"),
        ("break", "LawBrokenError (twice is not once)"),
        ("mumble", "LawBrokenError (CodecError says nothing)"),
    ],
)
def test_what_was_planted_is_found(planted: dict[str, Tally], target: str, what: str, tmp_path: Path) -> None:
    """By what it is, with the number that makes it again; the child's death costs none of the others."""
    tally = planted[target]
    assert tally.findings
    assert all(each.what.startswith(what) for each in tally.findings), tally.findings
    assert tally.inputs == INPUTS
    found = tally.findings[0]
    assert targets_of(PLANTED)[target].make(dice(PLANTED_SEED, target, found.number)) == BAD
    assert kept(found, targets_of(PLANTED)[target], tmp_path).read_bytes() == as_bytes(BAD)


@TOGETHER
def test_a_finding_is_replayed_by_the_command_that_it_names(planted: dict[str, Tally]) -> None:
    """Exit 1 with the same finding, its trace and its input's file; an input that is fine is exit 0."""
    found = planted["crash"].findings[0]
    ran = _run(*found.replay(PLANTED).split()[1:])
    assert ran.returncode == 1
    assert found.what in ran.stdout
    assert "Traceback" in ran.stdout
    assert ".input" in ran.stdout
    fine = _run("-m", "fuzz", "--targets", PLANTED, "--target", "crash", "--seed", str(PLANTED_SEED), "--only", _fine())
    assert fine.returncode == 0, fine.stdout


def _run(*words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "TMPDIR": tempfile.gettempdir()}  # where findings are written
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def _fine() -> str:
    """An input on which nothing breaks."""
    target = targets_of(PLANTED)["crash"]
    return str(next(number for number in range(99) if target.make(dice(PLANTED_SEED, "crash", number)) != BAD))


def test_an_input_that_can_not_be_made_is_a_finding_too(tmp_path: Path) -> None:
    """A fault in the making is told by its trace; no file pretends to be the input."""

    def make(_: object) -> object:
        raise ZeroDivisionError

    path = kept(Finding("t", 7, 0, "ZeroDivisionError", "trace"), Target("t", make, bool), tmp_path)
    assert path.read_text("utf-8") == "it can't even be made: ZeroDivisionError"
    assert path.with_suffix(".trace").read_text("utf-8") == "trace"


@TOGETHER
def test_the_table_says_what_each_target_must_have_and_has(planted: dict[str, Tally]) -> None:
    """Inputs, the least, accepted, refused, the slowest, findings; then the sum."""
    head, *rows, whole, memory = lines(planted, dict.fromkeys(planted, INPUTS))
    assert head.split() == ["target", "inputs", "least", "accepted", "refused", "slowest", "findings"]
    assert [row.split()[0] for row in rows] == list(planted)
    assert int(whole.split()[1]) == sum(each.inputs for each in planted.values())
    assert whole.split()[2] == str(INPUTS * len(planted))
    assert memory.startswith("most memory: ")
