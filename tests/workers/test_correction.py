"""A result that was sent back: the same attempt, on the same ground, once more and only once."""

import json
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from remit.contract.normal import Command, EvidenceKind, OutputKind
from remit.events.base import Usage
from remit.events.inputs import LeaseKind, Result, ResultKind, ResultStatus
from remit.events.service import Dispatch, DispatchKind
from remit.redaction import Redactor
from remit.result.envelope import WorkerUsage
from remit.topics import Topic
from tests.workers.rig import Rig, check, correction, dispatch, evidence, handout, offer_of, script
from workers.attempts import MOST_KEPT
from workers.meter import Meter

KEY = "ghp_" + "a1B2" * 9
# Leaves a file, uses something and writes no envelope that fits; corrected, it says what it was told and found.
HANDLER = """
import json, os, pathlib
place, usage = pathlib.Path(os.environ["REMIT_RESULT"]), pathlib.Path(os.environ["REMIT_USAGE"])
print("run")
if "REMIT_CORRECTION" not in os.environ:
    pathlib.Path("left.txt").write_text("of before")
    usage.write_text(json.dumps({"tokens_in": 5, "turns": 1, "model": "m"}))
    place.write_text('{"status": "done", "note": "KEY"}')
else:
    told = json.loads(pathlib.Path(os.environ["REMIT_CORRECTION"]).read_text())
    assert not place.exists() and not usage.exists()
    usage.write_text(json.dumps({"tokens_out": 2, "turns": 1}))
    output = {"told": told, "left": pathlib.Path("left.txt").read_text()}
    place.write_text(json.dumps({"status": "completed", "output": output, "evidence": []}))
""".replace("KEY", KEY)
WANTED = {"told": OutputKind.VALUE, "left": OutputKind.VALUE, "log": OutputKind.LOG}


def sent_back(rig: Rig, offer: Dispatch, *faults: str) -> tuple[Result, Result]:
    """The first result, sent back, and the second."""
    first = rig.result(offer)
    rig.send(correction(*faults, token=offer.fencing_token))
    return first, rig.result(offer, 2)


def usage_of(result: Result) -> Usage:
    used = result.result.usage if result.result else result.malformed.usage if result.malformed else None
    assert used is not None
    return used


def test_a_refused_envelope_is_mended_on_the_same_ground(rig: Rig, tmp_path: Path) -> None:
    """One more run, with the faults and the refused text without its secrets; usage is that of both runs."""
    given = handout(WANTED, (check("seen", EvidenceKind.COMMAND, "say"),), {"say": Command(argv=("echo", "seen"))})
    with rig.working(script(tmp_path, HANDLER), renewal_seconds=0.2) as service:
        first, second = sent_back(rig, rig.send(offer_of(given)), "status: not one of them")
        rig.until(lambda: not service.attempts.at_work(), "its end")
    assert (first.kind, first.submission) == (ResultKind.MALFORMED, 1)
    assert (second.kind, second.submission) == (ResultKind.SUBMITTED, 2)
    assert (second.attempt_id, second.fencing_token) == (first.attempt_id, first.fencing_token)
    assert second.result is not None
    assert second.result.status is ResultStatus.COMPLETED, second.result.message
    output = rig.output(second)
    assert (output["left"], output["told"]["submission"]) == ("of before", 2)
    assert output["told"]["faults"] == ["status: not one of them"]
    assert '"status": "done"' in output["told"]["envelope"]
    assert KEY not in output["told"]["envelope"]
    assert rig.stored(output["log"]).count(b"run\n") == 2
    assert [each.exit_status for each in evidence(second, "say")] == [0]
    before, after = usage_of(first), usage_of(second)
    assert (before.tokens_in, before.tokens_out, before.tool_calls, before.turns) == (5, 0, 0, 1)
    assert (after.tokens_in, after.tokens_out, after.tool_calls, after.turns, after.model) == (5, 2, 1, 2, "m")
    assert after.worker_seconds > before.worker_seconds
    assert not list((rig.folder / "home" / "workers" / "w-1" / "attempts").iterdir())


def test_there_is_one_correction_in_the_life_of_an_attempt(rig: Rig, tmp_path: Path) -> None:
    """A second one, and one of another lease, run nothing."""
    count = tmp_path / "calls"
    handler = f"{HANDLER}\nopen({str(count)!r}, 'a').write('x')\n"
    with rig.working(script(tmp_path, handler), slots=2):
        offer = rig.send(offer_of(handout(WANTED)))
        rig.result(offer)
        rig.send(dispatch(DispatchKind.CORRECTION, token=9))  # another attempt
        rig.send(correction("again", token=2))
        rig.send(correction("and again", token=2))
        rig.result(offer, 2)
        rig.send(correction("once more", token=2))
        rig.result(rig.send(offer_of(handout(), token=3)))  # read after all of them
    assert count.read_text(encoding="utf-8") == "xxx"  # two of the first attempt, one of the last
    assert [each.submission for each in rig.read(Topic.RESULTS) if each.attempt_id == offer.attempt_id] == [1, 2]


def test_a_correction_takes_no_slot(rig: Rig, tmp_path: Path) -> None:
    """While one is at work, an offer finds the only slot free, and both end."""
    gate = tmp_path / "gate"
    handler = f"""
import os, pathlib, time
waits = "REMIT_CORRECTION" in os.environ
while waits and not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)
"""
    with rig.working(script(tmp_path, handler), renewal_seconds=0.2) as service:
        offer = rig.send(offer_of(handout()))
        rig.result(offer)
        rig.until(lambda: service.attempts.free() == 1, "a free slot")
        renewed = len(rig.leases(LeaseKind.RENEWED))
        rig.send(correction("no"))
        rig.until(lambda: len(rig.leases(LeaseKind.RENEWED)) > renewed, "a renewal of the correction")
        rig.result(rig.send(offer_of(handout(), token=3)))
        gate.touch()
        rig.result(offer, 2)
    assert not rig.leases(LeaseKind.DECLINE)


@pytest.mark.parametrize("kind", [DispatchKind.LEASE_LOST, DispatchKind.CANCEL])
def test_an_end_meanwhile_drops_the_correction(rig: Rig, tmp_path: Path, kind: DispatchKind) -> None:
    """What is kept goes when nobody wants it any more; a correction after it runs nothing."""
    with rig.working(script(tmp_path, HANDLER), slots=2):
        offer = rig.send(offer_of(handout(WANTED)))
        rig.result(offer)
        rig.send(dispatch(kind))
        rig.send(correction("too late"))
        rig.result(rig.send(offer_of(handout(), token=3)))
    assert [each.submission for each in rig.read(Topic.RESULTS) if each.attempt_id == offer.attempt_id] == [1]


def test_a_correction_is_cancelled_like_any_attempt(rig: Rig, tmp_path: Path) -> None:
    """Its handler is ended, and the second submission says so and what was used."""
    started = tmp_path / "started"
    handler = f"""
import json, os, pathlib, time
pathlib.Path(os.environ["REMIT_USAGE"]).write_text(json.dumps({{"tokens_in": 3}}))
if "REMIT_CORRECTION" in os.environ:
    pathlib.Path({str(started)!r}).touch()
    time.sleep(600)
"""
    with rig.working(script(tmp_path, handler)):
        offer = rig.send(offer_of(handout()))
        rig.result(offer)
        rig.send(correction("no"))
        rig.until(started.exists, "the correction's start")
        rig.send(dispatch(DispatchKind.CANCEL))
        second = rig.result(offer, 2).result
    assert second is not None
    assert (second.status, second.message) == (ResultStatus.FAILED, "ended by the runner: cancel")
    assert second.usage is not None
    assert second.usage.tokens_in == 6


def test_few_grounds_are_kept(rig: Rig, tmp_path: Path) -> None:
    """The last eight, until the time for a correction is over; none beyond the end of the process."""
    grounds = rig.folder / "home" / "workers" / "w-1" / "attempts"
    tokens = range(10, 10 + MOST_KEPT + 2)
    with rig.working(script(tmp_path, ""), calls_no_model=True) as service:
        for token in tokens:
            rig.result(rig.send(offer_of(handout(), token=token)))
            rig.until(lambda: service.attempts.free() == 1, "a free slot")
        rig.until(lambda: len(list(grounds.iterdir())) == MOST_KEPT, "the oldest to be gone")
        first = offer_of(handout(), token=10)
        assert not (grounds / str(first.attempt_id)).exists()
        for work in service.attempts._kept.values():
            work.kept_until = 0.0
        rig.until(lambda: not list(grounds.iterdir()), "the rest to be gone")
        rig.result(rig.send(offer_of(handout(), token=9)))
    assert not list(grounds.iterdir())


def test_a_handler_in_python_reads_its_correction(rig: Rig, tmp_path: Path) -> None:
    """`attempt.correction` is None at first, then has the faults and the refused text."""
    (tmp_path / "mine.py").write_text(
        "import remit\n@remit.worker('implement')\ndef work(attempt):\n"
        "    attempt.usage(tokens_in=1)\n"
        "    told = attempt.correction\n"
        "    return remit.Completed({'told': [*told.faults, told.refused] if told else None})\n",
        encoding="utf-8",
    )
    argv = [sys.executable, "-m", "remit.sdk", "mine.py:work", str(tmp_path)]
    with rig.working(argv):
        _, second = sent_back(rig, rig.send(offer_of(handout({"told": OutputKind.VALUE}))), "output.told: not text")
    fault, refused = rig.output(second)["told"]
    assert fault == "output.told: not text"
    assert json.loads(refused)["output"] == {"told": None}
    assert usage_of(second).tokens_in == 2


def test_a_run_that_tells_no_usage_leaves_it_unknown(tmp_path: Path) -> None:
    """What one of two runs used is not what both used; for a worker without a model nothing was."""
    now = [0.0]
    meter = Meter(tmp_path / "usage.json", Redactor(), lambda: now[0])
    now[0] = 2.0
    meter.rest()
    now[0] = 60.0  # while nobody worked
    meter.begin_again(WorkerUsage(tokens_in=5))
    now[0] = 61.5
    assert meter.usage() is None
    known = meter.usage(calls_no_model=True)
    assert known is not None
    assert (known.tokens_in, known.worker_seconds) == (5, Decimal("3.500"))
