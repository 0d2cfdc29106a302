"""What a handler saves on its way, and what the next one finds of it."""

import json
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from remit.artefacts import ArtefactStore
from remit.contract.normal import OutputKind
from remit.errors import ArtefactError
from remit.events.inputs import LeaseKind, ResultStatus
from remit.events.service import DispatchKind
from remit.redaction import Redactor
from tests.workers.rig import Rig, dispatch, handout, offer_of, script
from workers.checkpoints import MAX_BYTES, Checkpoints

KEY = "ghp_" + "a1B2" * 9
SAVES = """
import os, pathlib, time
file = pathlib.Path(os.environ["REMIT_CHECKPOINT"])
draft = file.with_suffix(".new")
draft.write_text("step 1 KEY")
draft.rename(file)
time.sleep(600)
""".replace("KEY", KEY)


def references(rig: Rig) -> list[str]:
    return [each.checkpoint for each in rig.leases(LeaseKind.RENEWED) if each.checkpoint]


def test_a_saved_file_is_stored_and_named_at_once(rig: Rig, tmp_path: Path) -> None:
    """Without its secrets, and long before the next renewal is due; what is lost with the lease is not that."""
    with rig.working(script(tmp_path, SAVES), renewal_seconds=60, lease_seconds=300):
        offer = rig.send(offer_of(handout({"checkpoint": OutputKind.VALUE}), lease_seconds=300, renewal_seconds=60))
        (reference,) = rig.until(lambda: references(rig), "a renewal that names it")
        assert rig.store.get(reference) == b"step 1 [redacted]"
        rig.send(dispatch(DispatchKind.LEASE_LOST))
        rig.result(offer)


def test_the_last_thing_saved_is_named_too(rig: Rig, tmp_path: Path) -> None:
    """A handler that saves and dies: what it left is looked at once more, while the lease is still held."""
    handler = SAVES.replace("time.sleep(600)", "os.kill(os.getpid(), 9)")
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(handout())))
    assert [rig.store.get(each) for each in references(rig)] == [b"step 1 [redacted]"]
    assert result.result is not None
    assert result.result.status is ResultStatus.FAILED


def test_the_next_attempt_is_handed_what_was_saved(rig: Rig, tmp_path: Path) -> None:
    """As a file with its reference; saved again in Python, it is named in the next renewal."""
    (tmp_path / "mine.py").write_text(
        "import remit\n@remit.worker('implement')\ndef work(attempt):\n"
        "    before = attempt.resume_from.read_text()\n"
        "    attempt.checkpoint(before + ', step 2')\n"
        "    return remit.Completed({'before': before})\n",
        encoding="utf-8",
    )
    saved = rig.store.put(b"step 1").reference
    argv = [sys.executable, "-m", "remit.sdk", "mine.py:work", str(tmp_path)]
    with rig.working(argv, renewal_seconds=60, lease_seconds=300):
        wanted = handout({"before": OutputKind.VALUE})
        result = rig.result(rig.send(offer_of(wanted, resume_from=saved, lease_seconds=300, renewal_seconds=60)))
    assert rig.output(result) == {"before": "step 1"}
    assert rig.store.get(references(rig)[-1]) == b"step 1, step 2"


@pytest.mark.parametrize("broken", ["absent", "other bytes"])
def test_a_checkpoint_that_cannot_be_read_is_no_failure(
    rig: Rig, tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    """The attempt begins anew: null in the dispatch, and a line in the log."""
    reference = f"artefact://sha256/{'a' * 64}"
    if broken == "other bytes":
        reference = rig.store.put(b"step 1").reference
        file = next(path for path in (rig.folder / "store").rglob(reference.rpartition("/")[2]))
        file.write_bytes(b"step 9")
    handler = """
import json, os, pathlib
given = json.loads(pathlib.Path(os.environ["REMIT_DISPATCH"]).read_text())
(pathlib.Path(os.environ["REMIT_OUT"]) / "given.json").write_text(json.dumps([given["resume_from"]]))
"""
    with rig.working(script(tmp_path, handler)), caplog.at_level(logging.WARNING):
        result = rig.result(rig.send(offer_of(handout({"given": OutputKind.VALUE}), resume_from=reference)))
    assert rig.output(result) == {"given": [None]}
    assert "begins anew, its checkpoint can't be read" in caplog.text


class Shaky(ArtefactStore):
    """A store that fails the first time."""

    failed = False

    def put(self, content: bytes | Path) -> Any:
        if not self.failed:
            self.failed = True
            raise ArtefactError("not now")
        return super().put(content)


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    """Of a file that is not there yet; it says how often there was a new one."""
    bench: Any = SimpleNamespace(redactor=Redactor(), store=Shaky(str(tmp_path / "store")))
    return Checkpoints(tmp_path / "checkpoint", bench, lambda: None)


def test_a_store_that_fails_is_tried_again(checkpoints: Checkpoints, tmp_path: Path) -> None:
    """The next look stores it, and the one after finds nothing new."""
    (tmp_path / "checkpoint").write_bytes(b"x")
    assert checkpoints.look() == "the checkpoint can't be kept: ArtefactError"
    assert checkpoints.look() is None
    first = checkpoints.reference
    assert first is not None
    (tmp_path / "checkpoint").write_bytes(b"another")
    assert checkpoints.look() is None
    assert checkpoints.reference not in {None, first}


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "large"])
def test_what_is_no_plain_file_is_not_stored(checkpoints: Checkpoints, tmp_path: Path, kind: str) -> None:
    """The runner follows no link and waits at no pipe: it may reach what the handler may not."""
    file = tmp_path / "checkpoint"
    (tmp_path / "secret").write_text("not the handler's", encoding="utf-8")
    match kind:
        case "link":
            file.symlink_to(tmp_path / "secret")
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case _:
            file.touch()
            os.truncate(file, MAX_BYTES + 1)
    assert checkpoints.look() is not None
    assert checkpoints.reference is None


def test_a_flood_of_checkpoints_is_no_flood_of_renewals(rig: Rig, tmp_path: Path) -> None:
    """At most one a second beside the usual ones, however many are saved; the last one is the one named."""
    (tmp_path / "mine.py").write_text(
        "import remit\n@remit.worker('implement')\ndef work(attempt):\n"
        "    for number in range(50):\n"
        "        attempt.checkpoint(f'step {number}')\n"
        "    return remit.Completed()\n",
        encoding="utf-8",
    )
    with rig.working([sys.executable, "-m", "remit.sdk", "mine.py:work", str(tmp_path)]):
        offer = rig.send(offer_of(handout()))
        result = rig.result(offer).result
    assert result is not None
    assert result.status is ResultStatus.COMPLETED, result.message
    assert result.started_at is not None
    assert result.ended_at is not None
    seconds = (result.ended_at - result.started_at).total_seconds()
    assert len(rig.leases(LeaseKind.RENEWED)) <= seconds + 2


def test_a_checkpoint_is_no_output(rig: Rig, tmp_path: Path) -> None:
    """Its file lies in `$REMIT_OUT`, where outputs are looked for by name."""
    handler = SAVES.replace("time.sleep(600)", "")
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(handout({".checkpoint": OutputKind.DOCUMENT}))))
    assert json.loads(result.result.output or "") == {} if result.result else False
