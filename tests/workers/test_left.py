"""What a handler left is read without waiting, and nowhere but where it lies."""

import os
import socket
from pathlib import Path

import pytest

from remit.contract.normal import Command, EvidenceKind, ReportFormat
from remit.events.inputs import LeaseKind, ResultStatus
from tests.workers.rig import Rig, check, correction, evidence, handout, offer_of, script
from workers.left import read_left
from workers.reports import MAX_BYTES


def test_a_plain_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    """The first bytes, so that a caller that asks for one more knows of too many."""
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert (read_left(file, 4), read_left(file, 9)) == (b"1234", b"12345")


@pytest.mark.parametrize("kind", ["nothing", "link", "pipe", "folder", "socket", "unreadable name"])
def test_all_else_is_as_nothing(tmp_path: Path, kind: str) -> None:
    """A pipe without a writer would else hold the reader for ever."""
    (tmp_path / "theirs").write_bytes(b"not the handler's")
    file = tmp_path / ("a\0b" if kind == "unreadable name" else "file")
    match kind:
        case "link":
            file.symlink_to("theirs")
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(file))
    assert read_left(file, 9) is None


@pytest.mark.parametrize("name", ["REMIT_USAGE", "REMIT_RESULT", "REMIT_CHECKPOINT"])
def test_a_pipe_in_place_of_a_file_holds_nothing_up(rig: Rig, tmp_path: Path, name: str) -> None:
    """LEASE-3: renewals go on with it there, other attempts' too, and the attempt comes to its end."""
    gate, there = tmp_path / "gate", tmp_path / "there"
    handler = f"""
import os, pathlib, time
os.mkfifo(os.environ["{name}"])
pathlib.Path({str(there)!r}).touch()
while not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)
"""
    with rig.working(script(tmp_path, handler), renewal_seconds=0.1):
        offer = rig.send(offer_of(handout()))
        rig.until(there.exists, "the pipe")
        so_far = len(rig.leases(LeaseKind.RENEWED))
        rig.until(lambda: len(rig.leases(LeaseKind.RENEWED)) >= so_far + 3, "renewals")
        gate.touch()
        result = rig.result(offer).result
    assert result is not None
    assert result.status is ResultStatus.COMPLETED, result.message


def test_a_pipe_in_place_of_the_refused_text_holds_no_correction_up(rig: Rig, tmp_path: Path) -> None:
    """What was refused is then taken from what the runner made of the command's files."""
    handler = """
import os
if "REMIT_CORRECTION" not in os.environ:
    os.mkfifo(os.environ["REMIT_RESULT"])
"""
    with rig.working(script(tmp_path, handler)):
        offer = rig.send(offer_of(handout()))
        rig.result(offer)
        rig.send(correction("no"))
        second = rig.result(offer, 2).result
    assert second is not None
    assert second.status is ResultStatus.COMPLETED, second.message


@pytest.mark.parametrize(("size", "is_kept"), [(MAX_BYTES, True), (MAX_BYTES + 1, False)])
def test_a_report_beyond_its_bound_is_none(rig: Rig, tmp_path: Path, size: int, *, is_kept: bool) -> None:
    """No more than the bound is ever read: a check's command may leave a file larger than this machine's memory."""
    making = ("python", "-c", f"import sys; open(sys.argv[1], 'wb').truncate({size})", "{report}")
    suite = Command(argv=making, report=ReportFormat.JUNIT)
    given = handout({}, (check("c", EvidenceKind.TEST_RUN, "suite"),), {"suite": suite})
    with rig.working(script(tmp_path, "")):
        result = rig.result(rig.send(offer_of(given)))
    (run,) = evidence(result, "suite")
    assert run.exit_status == 0
    assert (run.report is not None) is is_kept
