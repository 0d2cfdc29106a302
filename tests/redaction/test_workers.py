"""Law 12 for what a worker leaves: every field that its handler fills, each with a secret of another shape."""

import json
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from remit.contract.normal import Command, EvidenceKind, OutputKind
from remit.redaction import finds
from remit.topics import Topic
from tests.redaction.canaries import assert_clean, file_bytes, log_bytes, texts
from tests.workers.rig import Rig, check, handout, offer_of, script
from workers.sender import Sender

STATUSES = ("completed", "failed", "blocked", "needs_review")
HANDLER = """
import json, os, pathlib, subprocess, sys
words = json.loads(pathlib.Path({given!r}).read_text())
pathlib.Path("note.md").write_text(words["file"])
(pathlib.Path(os.environ["REMIT_OUT"]) / "left.txt").write_text(words["left"])
print(words["stdout"])
print(words["stderr"], file=sys.stderr)
pathlib.Path(os.environ["REMIT_USAGE"]).write_text(json.dumps({{"model": words["model"], "note": words["note"]}}))
pathlib.Path(os.environ["REMIT_RESULT"]).write_text(words["envelope"])
"""
PLACES = (
    *("file", "left", "stdout", "stderr", "model", "note", "value", "key", "deep", "text", "message", "told model"),
    *("command", "argv", "evidence note", "checks", "passed", "failed", "repository", "revision", "observed", "odd"),
)
secrets = st.lists(texts(), min_size=len(PLACES), max_size=len(PLACES))


def envelope(status: str, word: dict[str, str]) -> dict[str, Any]:
    """A result whose every text is somebody's secret."""
    said = {
        "kind": "command",
        "command": word["command"][:500],
        "argv": ["curl", word["argv"]],
        "note": word["evidence note"],
        "checks": [word["checks"]],
        "passed_cases": [word["passed"]],
        "failed_cases": [word["failed"]],
        "subject": {"repository": word["repository"], "revision": word["revision"]},
        "output": {"file": "note.md"},
    }
    output = {
        "value": {word["key"]: [word["value"], {"deep": {"deeper": word["deep"]}}]},
        "document": {"file": "note.md"},
        "text": word["text"],
    }
    found = {"status": status, "output": output, "evidence": [said], "message": word["message"]}
    found["usage"] = {"model": word["told model"]}
    return found | ({"blocked_reason": "input"} if status == "blocked" else {})


@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each try starts processes
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.sampled_from(STATUSES), secrets, st.booleans(), st.booleans())
def test_no_word_of_a_worker_lets_a_secret_through(
    status: str, given_: list[tuple[str, str]], malformed: bool, spooled: bool
) -> None:
    """REDACT-2: log, store and home, spool included, are clean byte by byte, and so by the inspector's own rules."""
    word = {place: text for place, (_, text) in zip(PLACES, given_, strict=True)}
    said = envelope(status, word) | ({word["odd"]: word["odd"]} if malformed else {})
    word["envelope"] = json.dumps(said)
    with TemporaryDirectory() as folder:
        rig = Rig(Path(folder) / "rig")
        _work(rig, Path(folder), word, spooled=spooled)
        for canary, _ in given_:
            written = (each for each in log_bytes(rig.log) if not each[0].startswith("dispatches"))  # the test's own
            # An attempt's folder is its handler's own, and goes once the result is sent.
            files = (each for each in file_bytes(rig.folder) if "/attempts/" not in each[0])
            assert_clean(canary, written, files)
        stored = [path for path in (rig.folder / "store").rglob("*") if path.is_file()]
        assert stored
        assert [finds(path.read_text("utf-8")) for path in stored] == [[] for _ in stored]


def _hold(held: threading.Event, sender: Sender) -> bool:
    if not sender._spool.waiting():
        return True
    held.set()
    return False


def _work(rig: Rig, folder: Path, word: dict[str, str], *, spooled: bool) -> None:
    (folder / "given.json").write_text(json.dumps(word), "utf-8")
    kinds = {"value": OutputKind.VALUE, "document": OutputKind.DOCUMENT, "text": OutputKind.REPORT}
    kinds |= {"left": OutputKind.DOCUMENT, "log": OutputKind.LOG}
    echo = Command(argv=(sys.executable, "-c", "import sys; print(sys.argv[1:])", word["observed"]))
    given = handout(kinds, (check("c", EvidenceKind.COMMAND, "echo"),), {"echo": echo})
    command = script(folder, HANDLER.format(given=str(folder / "given.json")))
    with pytest.MonkeyPatch.context() as patch:
        held = threading.Event()
        if spooled:
            patch.setattr(Sender, "flush", lambda self: _hold(held, self))
        with rig.working(command, keep_workspaces=False):
            offer = rig.send(offer_of(given))
            if spooled:
                assert held.wait(60), "nothing was spooled"
            else:
                rig.result(offer)
    spool = rig.folder / "home" / "workers" / "w-1" / "spool"
    assert bool(list(spool.glob("*.result"))) is spooled
    assert (rig.read(Topic.RESULTS) == []) is spooled
