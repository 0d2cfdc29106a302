"""An offer's grant at the worker: bound to it and in time, and signed by whom it trusts; else the offer is declined."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit import grants
from remit.contract.normal import OutputKind
from remit.events.inputs import LeaseKind, ResultStatus
from remit.events.service import Dispatch, DispatchKind, Grant
from remit.grants import public_text
from remit.topics import Topic
from supervisor.service import Supervisor
from tests.workers import house
from tests.workers.rig import WORKER, Rig, git, git_input, handout, offer_of, repository, script
from workers.config import WorkerConfig
from workers.keys import key_file, worker_key

OURS, STRANGER = (Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2))
TRUSTED = {"supervisor_keys": [public_text(OURS)]}


def with_grant(event: Dispatch, **changed: Any) -> Dispatch:
    assert event.offer is not None
    grant = msgspec.structs.replace(event.offer.grant, **changed)
    return msgspec.structs.replace(event, offer=msgspec.structs.replace(event.offer, grant=grant))


def bound(rig: Rig, key: Ed25519PrivateKey = OURS, *, token: int = 2, **changed: Any) -> Dispatch:
    """An offer whose grant is for this worker and attempt, signed."""
    event = offer_of(handout(), token=token)
    mine = {"worker_id": WORKER, "attempt_id": event.attempt_id, "worker_key": own(rig)}
    event = with_grant(event, **(mine | changed))
    assert event.offer is not None
    return with_grant(event, **msgspec.structs.asdict(grants.signed(event.offer.grant, key)))


def own(rig: Rig) -> str:
    return public_text(worker_key(rig.config(["x"])))


def declined(rig: Rig, event: Dispatch) -> str:
    rig.send(event)
    (said,) = rig.until(lambda: rig.leases(LeaseKind.DECLINE), "a decline")
    return str(said.reason)


def test_a_worker_registers_its_own_key(rig: Rig, tmp_path: Path) -> None:
    """The same at each start; its private half lies in the worker's folder, for its user alone."""
    for _ in range(2):
        with rig.working(script(tmp_path, "")):
            pass
    keys = {event.public_key for event in rig.read(Topic.WORKERS)}
    assert keys == {own(rig)}
    assert key_file(rig.config(["x"])).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "changed",
    [
        {"worker_id": "w-2"},
        {"worker_key": public_text(STRANGER)},
        {"attempt_id": UUID(int=7)},
        {"expires_at": datetime.now(UTC) - timedelta(seconds=1)},
    ],
)
def test_another_s_grant_is_declined(
    rig: Rig, tmp_path: Path, changed: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """For another worker, key or attempt, or expired; also where it trusts nobody in particular."""
    with rig.working(script(tmp_path, "")):
        assert declined(rig, bound(rig, **changed)) == "grant_invalid"
    assert "is declined, its grant: it " in caplog.text


def test_a_supervisor_that_it_does_not_trust_is_answered_once(rig: Rig, tmp_path: Path) -> None:
    """Declined at once again and again, the offer would come back as fast; the next ones end by their time-out."""
    with rig.working(script(tmp_path, ""), **TRUSTED):
        declined(rig, bound(rig, STRANGER))
        for token in (3, 4):
            rig.send(offer_of(handout(), token=token))
        event = bound(rig, token=5)
        rig.result(rig.send(event))
    assert len(rig.leases(LeaseKind.DECLINE)) == 1


def _unsigned(event: Dispatch) -> Dispatch:
    return with_grant(event, signature=None)


def _widened(event: Dispatch) -> Dispatch:
    return with_grant(event, tools=("deploy",))


@pytest.mark.parametrize(
    ("key", "tamper"),
    [(OURS, _unsigned), (OURS, _widened), (STRANGER, lambda event: event)],
    ids=["unsigned", "widened", "a stranger's"],
)
def test_with_a_trust_anchor_only_its_signature_counts(
    rig: Rig, tmp_path: Path, key: Ed25519PrivateKey, tamper: Callable[[Dispatch], Dispatch]
) -> None:
    """Unsigned, changed after signing, or signed by a stranger: declined."""
    with rig.working(script(tmp_path, ""), **TRUSTED):
        assert declined(rig, tamper(bound(rig, key))) == "grant_invalid"


def test_a_good_grant_is_taken_and_handed_on_whole(rig: Rig, tmp_path: Path) -> None:
    """The dispatch document has it as it was signed, so that a tool's server can check it."""
    handler = """
import json, os, pathlib
grant = json.loads(pathlib.Path(os.environ["REMIT_DISPATCH"]).read_text())["grant"]
(pathlib.Path(os.environ["REMIT_OUT"]) / "report").write_text(json.dumps(grant))
"""
    with rig.working(script(tmp_path, handler), **TRUSTED):
        event = bound(rig)
        assert event.offer is not None
        given = handout({"report": OutputKind.REPORT})
        contract = msgspec.json.encode(given).decode()
        event = msgspec.structs.replace(event, offer=msgspec.structs.replace(event.offer, contract=contract))
        result = rig.result(rig.send(event))
    found = msgspec.json.decode(rig.stored(rig.output(result)["report"]), type=Grant)
    assert grants.signature_faults(found, [OURS.public_key()]) == ()


def test_a_signed_offer_is_taken_by_a_worker_that_trusts_its_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both as they are: the key that the worker registered is the one that its grant is bound to, and it works."""
    monkeypatch.setattr(house, "Supervisor", partial(Supervisor, key=OURS))
    monkeypatch.setattr(house, "WorkerConfig", partial(WorkerConfig, **TRUSTED))
    made = house.House(tmp_path)
    body = "    return remit.Completed({'report': attempt.dispatch['grant']['signature']})\n"
    with made.at_work(house.python(tmp_path, body), "w-1"):
        made.submit(house.one_task())
        made.until("workflow_accepted")
    (offer,) = made.told(DispatchKind.OFFER)
    assert offer.offer is not None
    assert grants.signature_faults(offer.offer.grant, [OURS.public_key()]) == ()
    assert offer.offer.grant.worker_key is not None


@pytest.mark.parametrize("granted", ["none", "read-only", "execute"])
def test_without_the_grant_to_write_nothing_is_pushed(rig: Rig, tmp_path: Path, granted: str) -> None:
    """Whatever the task's contract says it makes: the attempt fails, and the repository has no new ref."""
    source = tmp_path / "source"
    base = repository(source, {"a": "b"})
    handler = """
import pathlib, subprocess
pathlib.Path("new").write_text("x")
subprocess.run(["git", "add", "."], check=True)
subprocess.run(["git", "commit", "-qm", "New"], check=True)
"""
    given = offer_of(handout({"revision": OutputKind.REVISION}), (git_input(source, base),))
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(with_grant(given, permissions={"repository": granted})))
    body = result.result
    assert body is not None
    assert body.status is ResultStatus.FAILED
    assert body.message == "nothing was pushed: the grant is not one to write to the repository"
    assert git(source, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
