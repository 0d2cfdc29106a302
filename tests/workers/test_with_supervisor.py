"""Runner and supervisor together, as they are: what leases, corrections and checkpoints come to."""

from pathlib import Path

import pytest

from remit.events.inputs import LeaseKind
from remit.events.service import DispatchKind
from remit.events.transitions import Recovery
from remit.policy.model import Timeouts
from tests.workers.house import POLICY, House, one_task, python


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A log with a policy: leases of three seconds, renewed every second."""
    return House(tmp_path)


def test_a_long_tool_call_keeps_its_lease(house: House, tmp_path: Path) -> None:
    """LEASE-1: more than three leases long, eight renewals, one offer, nobody else is asked, and it is accepted."""
    body = "    attempt.run(['sleep', '9.5'])\n    return remit.Completed({'report': 'done'})\n"
    with house.at_work(python(tmp_path, body), "busy", "idle"):
        house.submit(one_task())
        house.until("workflow_accepted")
    (offer,) = house.told(DispatchKind.OFFER)
    (claimed,) = [each for each in house.history() if each.kind.value == "claimed"]
    assert claimed.attempt_id == offer.attempt_id
    assert house.kinds().count("dispatched") == 1
    renewals = [each for each in house.leases(LeaseKind.RENEWED) if each.attempt_id == offer.attempt_id]
    assert len(renewals) >= 8
    causes = {each.cause.event_id for each in house.history() if each.cause}
    assert not causes & {each.event_id for each in renewals}


def test_a_handler_that_raises_is_called_once_for_each_attempt(house: House, tmp_path: Path) -> None:
    """IDEM-7 (a): max_attempts calls, each with a `dispatched` transition of its own, then the owner."""
    count = tmp_path / "calls"
    body = (
        f"    open({str(count)!r}, 'a').write(attempt.dispatch['attempt_id'] + '\\n')\n    raise RuntimeError('no')\n"
    )
    with house.at_work(python(tmp_path, body), "w-1"):
        house.submit(one_task(max_attempts=3))
        house.until("attempt_failed", 3)
    calls = count.read_text(encoding="utf-8").split()
    dispatched = [str(each.attempt_id) for each in house.history() if each.kind.value == "dispatched"]
    assert calls == dispatched
    assert len(set(calls)) == 3
    assert house.kinds().count("claimed") == 3
    last = house.history()[-1].ending
    assert last is not None
    assert (last.recovery, last.recovery_reason) == (Recovery.ESCALATE, "attempts_exhausted")


def test_a_malformed_envelope_is_mended_by_the_same_attempt(house: House, tmp_path: Path) -> None:
    """One correction, no attempt more, and the mended result is accepted."""
    body = """
    if attempt.correction is None:
        return remit.Completed({'undeclared': 1})
    return remit.Completed({'report': ' '.join(attempt.correction.faults)})
"""
    with house.at_work(python(tmp_path, body), "w-1"):
        house.submit(one_task(max_attempts=1))
        house.until("workflow_accepted")
    kinds = house.kinds()
    assert (kinds.count("correction_requested"), kinds.count("claimed")) == (1, 1)
    assert [each.attempt_id for each in house.told(DispatchKind.CORRECTION)] == [
        each.attempt_id for each in house.told(DispatchKind.OFFER)
    ]


def test_the_next_attempt_goes_on_where_the_last_one_saved(tmp_path: Path) -> None:
    """What an attempt saved before its lease was lost is handed to the one after it."""
    body = """
    import time
    if attempt.resume_from is None:
        attempt.checkpoint('half way')
        time.sleep(600)
    return remit.Completed({'report': attempt.resume_from.read_text()})
"""
    impatient = POLICY.replace("renewal_seconds: 1", "renewal_seconds: 1, no_progress_seconds: 4")
    house = House(tmp_path, impatient)
    with house.at_work(python(tmp_path, body), "w-1"):
        house.submit(one_task())
        house.until("workflow_accepted")
    (lost,) = [each.ending for each in house.history() if each.kind.value == "lease_expired"]
    assert lost is not None
    assert lost.checkpoint is not None
    assert house.store.get(lost.checkpoint) == b"half way"
    offered = [each.offer.resume_from for each in house.told(DispatchKind.OFFER) if each.offer]
    assert offered == [None, lost.checkpoint]


def test_no_progress_is_noticed_long_after_three_leases() -> None:
    """LEASE-3: by default a handler may be silent for longer than that."""
    times = Timeouts()
    assert times.no_progress_seconds > 3 * times.lease_seconds
    assert times.renewal_seconds * 3 <= times.lease_seconds
