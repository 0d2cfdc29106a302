"""Results on their way into the log: none holds up another, none is lost, and nothing ends the thread that sends."""

import errno
import json
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from remit.errors import LogError, TopologyError
from remit.events.inputs import ResultKind
from remit.log.memory import MemoryLog
from remit.log.memory.log import MemoryWriter
from remit.log.protocols import Message, Recorded
from remit.topics import MAX_MESSAGE_BYTES, Topic
from tests.workers.rig import PATIENCE_S, Rig, handout, offer_of, script
from workers import sender
from workers.attempt import Malformation
from workers.report_back import MAX_RESULT_BYTES, result_message
from workers.sender import Sender
from workers.spool import Spool, Waiting
from workers.writing import Author

FIRST, SECOND = UUID(int=1), UUID(int=2)


def message(value: bytes = b"v") -> Message:
    return Message(Topic.RESULTS, b"default/wf:1", value)


class Choosy:
    """A writer that refuses one value, and keeps what it took."""

    def __init__(self, refused: bytes | None = None) -> None:
        self.refused, self.taken = refused, list[bytes]()

    def append(self, messages: Sequence[Message], timeout: float = 30.0) -> list[Recorded]:  # noqa: ARG002
        if messages[0].value == self.refused:
            raise LogError("not this one")
        self.taken += [each.value for each in messages]
        return []

    def close(self) -> None:
        """Nothing to close."""


def test_one_result_that_fails_holds_up_no_other(tmp_path: Path) -> None:
    """The log takes the second though it refuses the first, which stays for another try."""
    spool, writer, sent = Spool(tmp_path), Choosy(b"first"), list[tuple[UUID, int]]()
    spool.put(FIRST, message(b"first"))
    spool.put(SECOND, message(b"second"))
    assert not Sender(spool, writer, lambda *each: sent.append(each)).flush()
    assert (writer.taken, sent) == ([b"second"], [(SECOND, 1)])
    assert [each.attempt_id for each in spool.waiting()] == [FIRST]


def test_each_submission_is_kept_by_itself(tmp_path: Path) -> None:
    """A mended result does not take the place of the first, whose acknowledgement may still be on its way."""
    spool, writer, sent = Spool(tmp_path), Choosy(), list[tuple[UUID, int]]()
    spool.put(FIRST, message(b"refused"))
    spool.put(FIRST, message(b"mended"), 2)
    assert Sender(spool, writer, lambda *each: sent.append(each)).flush()
    assert (writer.taken, sent) == ([b"refused", b"mended"], [(FIRST, 1), (FIRST, 2)])


def test_a_result_that_no_log_will_take_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A record over the limit is kept as `.refused` and named in the log, frees its slot and is not tried again."""
    spool, sent = Spool(tmp_path), list[tuple[UUID, int]]()
    spool.put(FIRST, message(b"x" * MAX_MESSAGE_BYTES))
    spool.put(SECOND, message())
    assert Sender(spool, MemoryLog().writer(), lambda *each: sent.append(each)).flush()
    assert sent == [(FIRST, 1), (SECOND, 1)]
    assert spool.waiting() == []
    assert [path.name for path in tmp_path.iterdir()] == [f"{FIRST}.refused"]
    assert f"attempt {FIRST} is set aside" in caplog.text


def test_an_envelope_with_countless_faults_is_answered_with_some(rig: Rig, tmp_path: Path) -> None:
    """AVRO-4: the first faults, each cut, and how many more; the record fits and the next result follows it."""
    envelope = {"status": "completed", "output": {}, "evidence": []} | {f"k{n}": 0 for n in range(20_000)}
    (tmp_path / "envelope").write_text(json.dumps(envelope, separators=(",", ":")), encoding="utf-8")
    handler = f"""import os, pathlib
pathlib.Path(os.environ['REMIT_RESULT']).write_text(pathlib.Path({str(tmp_path / "envelope")!r}).read_text())"""
    with rig.working(script(tmp_path, handler), slots=2):
        results = [rig.result(rig.send(offer_of(handout(), token=token))) for token in (2, 3)]
    assert [each.kind for each in results] == [ResultKind.MALFORMED] * 2
    for each in results:
        assert each.malformed is not None
        assert each.malformed.faults[0] == "k0 is not a known key"
        assert each.malformed.faults[-1] == "and 19980 more faults"
        assert len(each.malformed.faults) == 21


def test_a_malformation_that_is_too_large_says_its_size(rig: Rig) -> None:
    """Whatever its faults are, the record fits; text and faults give way to the size."""
    author = Author(rig.config(["x"]), UUID(int=9), lambda: datetime.now(UTC), "key")
    made = result_message(author, offer_of(handout()), Malformation("x", ("y" * 300,) * 80_000, None))
    assert len(made.value) <= MAX_RESULT_BYTES
    assert f"at most {MAX_RESULT_BYTES}".encode() in made.value


class Passing(Choosy):
    """A writer whose first append fails with an error of another kind."""

    def __init__(self) -> None:
        super().__init__()
        self.failures, self.seen = [TopologyError("topics are not as agreed")], threading.Event()

    def append(self, messages: Sequence[Message], timeout: float = 30.0) -> list[Recorded]:
        if self.failures:
            raise self.failures.pop()
        super().append(messages, timeout)
        self.seen.set()
        return []


def test_no_error_of_log_or_disk_ends_the_sender(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a disk error and a topology error the thread tries again, and sends."""
    monkeypatch.setattr(sender, "_AGAIN_S", 0.01)
    spool, writer, sent = Spool(tmp_path), Passing(), list[tuple[UUID, int]]()
    faults, real = [OSError("disk")], spool.waiting

    def waiting() -> list[Waiting]:
        if faults:
            raise faults.pop()
        return real()

    monkeypatch.setattr(spool, "waiting", waiting)
    at_work = Sender(spool, writer, lambda *each: sent.append(each))
    at_work.start()
    at_work.submit(FIRST, message())
    assert writer.seen.wait(PATIENCE_S)
    at_work.close(PATIENCE_S)
    assert (faults, writer.failures, sent) == ([], [], [(FIRST, 1)])


def test_a_full_disk_costs_no_result(rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the spool can't keep goes straight into the log, and the slot is free again."""

    def full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(Spool, "put", full)
    with rig.working(script(tmp_path, "")) as service:
        rig.result(rig.send(offer_of(handout())))
        rig.until(lambda: service.attempts.free() == 1, "a free slot")


def test_what_an_earlier_process_left_is_sent_before_it_registers(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result counts while its own incarnation is the known one, so the log has it before the next shows itself."""
    spool = Spool(rig.folder / "home" / "workers" / "w-1" / "spool")
    spool.put(FIRST, message(b"finished"))
    order: list[str] = []
    real = MemoryWriter.append

    def append(self: MemoryWriter, messages: Sequence[Message], timeout: float = 30.0) -> list[Recorded]:
        order.extend(each.topic for each in messages)
        return real(self, messages, timeout)

    monkeypatch.setattr(MemoryWriter, "append", append)
    with rig.working(script(tmp_path, "")):
        pass
    assert order[:2] == [Topic.RESULTS, Topic.WORKERS]
    assert spool.waiting() == []
