"""Files that a worker's command or an earlier process leaves behind: any bytes under any name end in a fault."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from remit.artefacts import ArtefactStore
from remit.contract.normal import OutputKind
from remit.errors import EnvelopeInvalidError
from remit.events.base import Amounts
from remit.redaction import Redactor
from remit.result.envelope import FileOutput
from tests.workers.rig import Rig, correction, handout, offer_of, script
from workers.channel import Channel
from workers.gateway import Gateway
from workers.job import Ground
from workers.meter import Meter
from workers.outputs import Collector, Leftovers
from workers.process import Ended
from workers.spool import Spool

NOTHING = Leftovers(None, None, None, b"", ())


@pytest.fixture
def collector(tmp_path: Path) -> Collector:
    """One that infers a value from a file of `$REMIT_OUT`."""
    ground = Ground(tmp_path)
    for folder in (ground.out, ground.workspace):
        folder.mkdir()
    bench: Any = SimpleNamespace(redactor=Redactor(), store=ArtefactStore(str(tmp_path / "store")))
    return Collector(bench, ground, {"report": OutputKind.VALUE})


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b'"\\ud800"', "half a surrogate pair"),
        (b"NaN", "no JSON numbers"),
        (b"[" * 5_000, "nested deeper than 64"),
        (b'{"a": 1, "a": 2}', "key stands twice"),
        (b"9" * 5_000, "more than 64 characters"),
        (b"\xff\xfe[\x00]\x00", "not UTF-8"),
        (b"", "not valid JSON"),
    ],
)
def test_a_file_that_is_no_value_is_a_fault_with_its_rule(collector: Collector, data: bytes, rule: str) -> None:
    """The runner reads it by the rules that the supervisor reads the output by, so that the worker hears of it."""
    (collector.ground.out / "report.json").write_bytes(data)
    with pytest.raises(EnvelopeInvalidError, match=rf"output\.report: in its file: .*{rule}"):
        collector.collect({}, NOTHING)


def test_a_file_that_is_a_value_is_the_output(collector: Collector) -> None:
    """Any JSON value, not mappings alone."""
    (collector.ground.out / "report.json").write_bytes(json.dumps(["fine", 1, None]).encode())
    assert collector.collect({}, NOTHING).values == {"report": ["fine", 1, None]}


@pytest.mark.parametrize("name", ["a\x00b", "a" * 4_000, "../" * 1_000, "circle/x", "."])
def test_a_name_that_stands_for_no_file_is_a_fault(collector: Collector, name: str) -> None:
    """Names that no file can have, and links in a circle, are files that are not there."""
    (collector.ground.out / "circle").symlink_to("circle")
    with pytest.raises(EnvelopeInvalidError, match="a file must lie in"):
        collector.read(FileOutput(file=name))


class _Idle(Channel):
    """A line whose commands are not run."""

    def _run(self, *_: Any) -> Ended:
        return Ended(0, b"")


def test_what_a_handler_says_can_be_written_into_a_record(tmp_path: Path) -> None:
    """Half a surrogate pair in its note or its command would else end the renewals, and lose the result."""
    bench: Any = SimpleNamespace(redactor=Redactor(), clock=lambda: datetime.now(UTC))
    unbounded = SimpleNamespace(remaining=Amounts(), grant=SimpleNamespace(max_tool_calls=None))
    job: Any = SimpleNamespace(until=float("inf"), offer=unbounded)
    line, meter = _Idle(job, bench), Meter(tmp_path / "usage.json", Redactor())
    gateway = Gateway(job, bench, meter, line.asked)
    line._answer(json.loads('{"op": "progress", "note": "half \\ud800"}'), {}, meter, gateway)
    line._answer(json.loads('{"op": "run", "argv": ["\\udfff", 5]}'), {}, meter, gateway)
    assert meter.progress()[1] == "half ?"
    assert line.asked[0].argv == ["?", "5"]


@pytest.mark.parametrize("data", [b"", b"[" * 100_000, b'{"attempt_id": ' + b"[" * 100_000, b"\xff", b"{}"])
def test_a_spooled_file_that_cannot_be_read_is_set_aside(tmp_path: Path, data: bytes) -> None:
    """Others are still sent, and the next look does not meet it again."""
    spool = Spool(tmp_path)
    (tmp_path / f"{UUID(int=1)}.result").write_bytes(data)
    assert spool.waiting() == []
    assert [path.suffix for path in tmp_path.iterdir()] == [".unreadable"]


@pytest.mark.parametrize("name", ["out", "workspace"])
def test_a_link_in_place_of_a_folder_fails_the_attempt(rig: Rig, tmp_path: Path, name: str) -> None:
    """The runner follows it nowhere, not even to clean up for a correction."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "result.json").write_text('{"status": "completed", "output": {}, "evidence": []}')
    handler = f"""
import os, pathlib, shutil
place = pathlib.Path(os.environ["REMIT_{"OUT" if name == "out" else "WORKSPACE"}"])
shutil.rmtree(place)
place.symlink_to({str(tmp_path / "theirs")!r})
"""
    with rig.working(script(tmp_path, handler)):
        offer = rig.send(offer_of(handout()))
        first = rig.result(offer).result
        rig.send(correction("no"))
        second = rig.result(offer, 2).result
    for each in (first, second):
        assert each is not None
        assert each.message == f"the command put a link in place of its folder {name}"
    assert (tmp_path / "theirs" / "result.json").exists()
