"""Leases from the worker's side: claims, renewals that nothing blocks, and what ends an attempt."""

import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from msgspec.structs import replace

from remit.contract.normal import OutputKind
from remit.errors import LogError, SettingsError
from remit.events.inputs import LeaseKind, ResultStatus
from remit.events.service import DispatchKind, LivenessKind, WorkerKind
from remit.log.protocols import Message, Recorded
from remit.topics import Topic
from tests.workers.rig import PATIENCE_S, Rig, dispatch, handout, offer_of, script
from workers.config import load_config
from workers.keeper import Held, Keeper
from workers.service import Service

SPIN = "import time\nend = time.monotonic() + 4\nwhile time.monotonic() < end: pass\n"
HOLD = "import ctypes\nctypes.PyDLL(None).sleep(4)\n"  # a C call that keeps the interpreter's lock


@pytest.mark.parametrize("handler", [SPIN, HOLD], ids=["pure python", "holds the interpreter lock"])
def test_renewals_go_on_whatever_the_handler_does(rig: Rig, tmp_path: Path, handler: str) -> None:
    """LEASE-3 (a), (b): more than three lease periods of work, and the lease is renewed throughout."""
    with rig.working(script(tmp_path, handler)):
        offer = rig.send(offer_of(handout(), lease_seconds=1, renewal_seconds=1))
        # A lease of one second and a configured interval of five: the offer is declined, not taken and lost.
        declined = rig.until(lambda: rig.leases(LeaseKind.DECLINE), "a decline")
    assert declined[0].reason == "lease_too_short"
    with rig.working(script(tmp_path, handler), renewal_seconds=0.3, lease_seconds=1):
        offer = rig.send(offer_of(handout(), lease_seconds=1, renewal_seconds=1, token=3))
        result = rig.result(offer)
    assert result.result is not None
    assert result.result.status is ResultStatus.COMPLETED, result.result.message
    assert len([each for each in rig.leases(LeaseKind.RENEWED) if each.attempt_id == offer.attempt_id]) >= 8


def test_an_sdk_handler_can_hold_the_interpreter_too(rig: Rig, tmp_path: Path) -> None:
    """LEASE-3 (b): a handler in Python runs in a process of its own."""
    (tmp_path / "mine.py").write_text(
        "import ctypes, remit\n@remit.worker('implement')\ndef work(attempt):\n"
        "    ctypes.PyDLL(None).sleep(4)\n    return remit.Completed()\n",
        encoding="utf-8",
    )
    argv = [sys.executable, "-m", "remit.sdk", "mine.py:work", str(tmp_path)]
    with rig.working(argv, renewal_seconds=0.3, lease_seconds=1):
        result = rig.result(rig.send(offer_of(handout(), lease_seconds=1, renewal_seconds=1)))
    assert result.result is not None
    assert result.result.status is ResultStatus.COMPLETED, result.result.message


class FlakyWriter:
    """Fails its first publishes, then takes all."""

    def __init__(self, failures: int) -> None:
        self.failures, self.taken = failures, 0
        self.seen = threading.Event()

    def append(self, messages: Sequence[Message], timeout: float = 30.0) -> list[Recorded]:  # noqa: ARG002
        if self.failures:
            self.failures -= 1
            raise LogError("not now")
        self.taken += len(messages)
        self.seen.set()
        return []

    def close(self) -> None:
        """Nothing to close."""


class Hands:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def held(lost: list[str]) -> Held:
    return Held(UUID(int=1), 30.0, 5.0, lambda: Message("leases", b"k", b"v"), lambda: lost.append("lost"), since=0.0)


def test_a_failed_renewal_is_tried_again_within_the_lease() -> None:
    """LEASE-3 (c): one failed publish costs a fraction of the interval, not the lease."""
    lost: list[str] = []
    clock, writer = Hands(), FlakyWriter(1)
    keeper = Keeper(writer, clock)
    lease = held(lost)
    keeper.hold(lease)
    clock.now = 5.0
    keeper.tend()
    assert (writer.taken, lost) == (0, [])
    assert lease.due <= 5.0 + 5.0 / 3
    clock.now = lease.due
    keeper.tend()
    assert (writer.taken, lost, lease.until) == (1, [], clock.now + 30.0)


def test_a_lease_that_ran_out_unrenewed_is_a_hard_stop() -> None:
    """The worker ends its own attempt when its lease is over, once, and renews it no more."""
    lost: list[str] = []
    clock, writer = Hands(), FlakyWriter(100)
    keeper = Keeper(writer, clock)
    keeper.hold(held(lost))
    for second in range(1, 40):
        clock.now = float(second)
        keeper.tend()
    assert lost == ["lost"]


def test_a_released_lease_is_renewed_no_more() -> None:
    """LEASE-10: once the log has the result, no renewal follows it."""
    clock, writer = Hands(), FlakyWriter(0)
    keeper = Keeper(writer, clock)
    lease = held([])
    keeper.hold(lease)
    clock.now = 5.0
    keeper.tend()
    keeper.release(lease.attempt_id)
    clock.now = 100.0
    keeper.tend()
    assert writer.taken == 1


def test_the_keeper_renews_from_its_own_thread() -> None:
    """Nobody has to call it."""
    writer = FlakyWriter(0)
    keeper = Keeper(writer)
    keeper.start()
    keeper.hold(
        Held(UUID(int=1), 3.0, 0.01, lambda: Message("leases", b"k", b"v"), lambda: None, since=time.monotonic())
    )
    assert writer.seen.wait(PATIENCE_S)
    keeper.close()


def test_start_up_refuses_a_renewal_that_comes_too_late() -> None:
    """LEASE-3: both values are named."""
    with pytest.raises(SettingsError, match=r"renewal_seconds \(30\) must be below lease_seconds \(30\)"):
        load_config(worker_id="w", pool="p", argv=["x"], home=Path(), renewal_seconds=30, lease_seconds=30)


def test_the_default_interval_is_a_sixth_of_the_lease() -> None:
    """LEASE-3: no more than one third."""
    config = load_config(worker_id="w", pool="p", argv=["x"], home=Path())
    assert config.renewal_seconds <= config.lease_seconds / 3


FAMILY = """
import os, pathlib, subprocess, sys, time
stray = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
plain = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
file = pathlib.Path({place!r})
file.with_suffix(".new").write_text(f"{{os.getpid()}} {{stray.pid}} {{plain.pid}}")
file.with_suffix(".new").rename(file)
time.sleep(600)
"""


@pytest.mark.parametrize("kind", [DispatchKind.LEASE_LOST, DispatchKind.CANCEL])
def test_lease_lost_and_cancel_end_the_whole_family(rig: Rig, tmp_path: Path, kind: DispatchKind) -> None:
    """The process group dies, and so does a child that left it; the result says why."""
    place = tmp_path / "pids"
    with rig.working(script(tmp_path, FAMILY.format(place=str(place)))):
        offer = rig.send(offer_of(handout()))
        rig.until(place.exists, "the handler's start")
        pids = [int(word) for word in place.read_text(encoding="utf-8").split()]
        rig.send(dispatch(kind))
        result = rig.result(offer)
    assert result.result is not None
    assert kind.value in (result.result.message or "")
    assert not [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("kind", [DispatchKind.LEASE_LOST, DispatchKind.CANCEL])
def test_a_word_about_another_lease_ends_nothing(rig: Rig, tmp_path: Path, kind: DispatchKind) -> None:
    """An end that names another fencing token is passed over; the work comes to its own end."""
    started, gate = tmp_path / "started", tmp_path / "gate"
    handler = (
        f"import pathlib, time\npathlib.Path({str(started)!r}).touch()\n"
        f"while not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)\n"
    )
    with rig.working(script(tmp_path, handler), slots=2):
        offer = rig.send(offer_of(handout()))
        rig.until(started.exists, "the handler's start")
        rig.send(replace(dispatch(kind), fencing_token=offer.fencing_token + 1))
        marker = rig.send(offer_of(handout(), token=3))  # claimed once the word before it was read
        rig.until(lambda: len(rig.leases(LeaseKind.CLAIM)) == 2, "the next claim")
        gate.touch()
        results = [rig.result(each).result for each in (offer, marker)]
    assert [each.status for each in results if each] == [ResultStatus.COMPLETED] * 2


def test_the_deadline_ends_an_attempt_whatever_it_does(rig: Rig, tmp_path: Path) -> None:
    """LEASE-8: a handler that ignores the polite signal is killed at its deadline, though its lease is renewed."""
    handler = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)\n"
    with rig.working(script(tmp_path, handler), renewal_seconds=0.2):
        result = rig.result(rig.send(offer_of(handout(), deadline_seconds=1)))
    assert len(rig.leases(LeaseKind.RENEWED)) >= 3
    assert result.result is not None
    assert "deadline" in (result.result.message or "")


def test_a_background_process_does_not_outlive_its_handler(rig: Rig, tmp_path: Path) -> None:
    """What the handler leaves running ends with it, even where it left group and parent."""
    place = tmp_path / "pid"
    handler = f"""
import pathlib, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
pathlib.Path({str(place)!r}).write_text(str(child.pid))
"""
    with rig.working(script(tmp_path, handler)):
        rig.result(rig.send(offer_of(handout())))
    pid = int(place.read_text(encoding="utf-8"))
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_slots_bound_the_attempts_at_once(rig: Rig, tmp_path: Path) -> None:
    """Two slots: two claims, the third offer is declined as busy, and liveness shows the free slots."""
    gate = tmp_path / "gate"
    handler = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)\n"
    with rig.working(script(tmp_path, handler), slots=2):
        offers = [rig.send(offer_of(handout(), token=token)) for token in (11, 12, 13)]
        declined = rig.until(lambda: rig.leases(LeaseKind.DECLINE), "a decline")
        rig.until(lambda: 0 in [each.free_slots for each in rig.read(Topic.LIVENESS)], "a full worker")
        gate.touch()
        for offer in offers[:2]:
            rig.result(offer)
        rig.until(lambda: rig.read(Topic.LIVENESS)[-1].free_slots == 2, "free slots")
    assert [(each.attempt_id, each.reason) for each in declined] == [(offers[2].attempt_id, "busy")]
    assert len(rig.leases(LeaseKind.CLAIM)) == 2


def test_it_registers_once_its_position_is_known_and_retires_at_the_end(rig: Rig, tmp_path: Path) -> None:
    """The registration comes first, an offer sent right after it is seen, and stopping says goodbye."""
    with rig.working(script(tmp_path, ""), capabilities=["implement"]) as service:
        rig.result(rig.send(offer_of(handout())))
        service.stop()
        refused = rig.send(offer_of(handout(), token=9))
        rig.until(lambda: len(rig.read(Topic.WORKERS)) == 2, "the goodbye")
    first, last = rig.read(Topic.WORKERS)
    assert (first.kind, first.capabilities, first.slots) == (WorkerKind.REGISTERED, ("implement",), 1)
    assert (last.kind, last.incarnation) == (WorkerKind.RETIRED, first.incarnation)
    assert rig.read(Topic.LIVENESS)[-1].kind is LivenessKind.LEAVING
    assert refused.attempt_id not in [each.attempt_id for each in rig.leases(LeaseKind.CLAIM)]


def test_a_new_process_takes_no_old_offer(rig: Rig, tmp_path: Path) -> None:
    """KOPS-8: an offer that a killed process had read and not claimed is not claimed by the next; it times out."""
    rig.send(offer_of(handout(), token=4))
    with rig.working(script(tmp_path, "")):
        fresh = rig.send(offer_of(handout(), token=5))
        rig.result(fresh)
    assert [each.attempt_id for each in rig.leases(LeaseKind.CLAIM)] == [fresh.attempt_id]


def test_two_processes_of_one_worker_are_refused(rig: Rig, tmp_path: Path) -> None:
    """The spool and the workspaces belong to one process at a time."""
    with rig.working(script(tmp_path, "")), pytest.raises(SettingsError, match="runs already"):
        Service(rig.log, rig.config(["x"]), rig.store)


def test_renewals_carry_progress_and_usage(rig: Rig, tmp_path: Path) -> None:
    """What the handler prints is progress, what it reports is usage so far."""
    handler = """
import json, os, pathlib, time
pathlib.Path(os.environ["REMIT_USAGE"]).write_text(json.dumps({"tokens_in": 7}))
for _ in range(15):
    print("step", flush=True)
    time.sleep(0.1)
"""
    with rig.working(script(tmp_path, handler), renewal_seconds=0.2):
        rig.result(rig.send(offer_of(handout({"log": OutputKind.LOG}))))
    renewed = rig.leases(LeaseKind.RENEWED)
    steps = [each.progress or 0 for each in renewed]
    assert steps == sorted(steps)
    assert steps[0] != steps[-1]
    assert renewed[-1].usage is not None
    assert renewed[-1].usage.tokens_in == 7
