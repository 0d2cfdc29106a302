"""Grants: what is signed verifies offline, and nothing else does."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit import grants
from remit.errors import InvalidInputError
from remit.events.service import Dispatch, DispatchKind, Grant

ATTEMPT, OTHER = UUID(int=1), UUID(int=2)
UNTIL = datetime(2026, 7, 1, 12, tzinfo=UTC)
KEY, STRANGER = (Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2))
GRANT = Grant(
    permissions={"repository": "read-write:feature/x", "database": "none"},
    paths=("accounts/**",),
    tools=("search",),
    expires_at=UNTIL,
    worker_id="w-1",
    worker_key="a2V5",
    attempt_id=ATTEMPT,
    max_tool_calls=3,
)
CHANGED: dict[str, Any] = {
    "permissions": {"repository": "read-write:main"},
    "paths": (),
    "tools": ("search", "deploy"),
    "expires_at": UNTIL + timedelta(seconds=1),
    "worker_id": "w-2",
    "worker_key": None,
    "attempt_id": OTHER,
    "max_tool_calls": None,
    "key_id": grants.key_id(STRANGER.public_key()),
    "signature": "AAAA",
}


def faults(grant: Grant, *keys: Ed25519PrivateKey) -> tuple[str, ...]:
    return grants.signature_faults(grant, [key.public_key() for key in keys or (KEY,)])


def test_a_signed_grant_verifies_by_the_public_key_alone() -> None:
    """Also through JSON, as it stands in a dispatch, and among several trusted keys."""
    signed = grants.signed(GRANT, KEY)
    travelled = msgspec.json.decode(msgspec.json.encode(signed), type=Grant)
    assert faults(travelled, STRANGER, KEY) == ()
    assert grants.signed(GRANT, KEY) == signed


def test_what_was_signed_once_verifies_for_ever() -> None:
    """The form that is signed is fixed: this signature was made by the first version."""
    assert grants.signed(GRANT, KEY).signature == GOLDEN


@pytest.mark.parametrize("field", [each for each in Grant.__struct_fields__ if each not in {"signature", "key_id"}])
def test_no_field_can_be_changed(field: str) -> None:
    """A wider, longer or other grant under the same signature is refused."""
    changed = msgspec.structs.replace(grants.signed(GRANT, KEY), **{field: CHANGED[field]})
    assert faults(changed) == ("its signature does not fit what it says",)


def test_every_field_is_tried() -> None:
    """A new field of a grant has its forgery above."""
    assert set(CHANGED) == set(Grant.__struct_fields__)


def test_what_nobody_trusted_signed_is_refused() -> None:
    """Unsigned, signed by a stranger, a stranger's under our key's name, a signature that is none."""
    ours, theirs = grants.signed(GRANT, KEY), grants.signed(GRANT, STRANGER)
    unknown = ("it is signed with a key that is not among those trusted",)
    assert faults(GRANT) == ("it is not signed",)
    assert faults(theirs) == unknown
    assert faults(msgspec.structs.replace(ours, key_id=CHANGED["key_id"])) == unknown
    for signature in (theirs.signature, "AAAA", "?", ""):
        forged = msgspec.structs.replace(ours, signature=signature)
        assert faults(forged) == ("its signature does not fit what it says",)


def test_a_grant_for_nobody_is_no_grant() -> None:
    """Even a signed one must name worker and attempt, else everybody could use it."""
    loose = msgspec.structs.replace(GRANT, worker_id=None, attempt_id=None)
    assert faults(grants.signed(loose, KEY)) == ("it names no worker_id", "it names no attempt_id")


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"worker_id": "w-2"}, "it is for another worker"),
        ({"worker_key": "b3RoZXI="}, "it is bound to another worker's key"),
        ({"attempt_id": OTHER}, "it is for another attempt"),
    ],
)
def test_anybody_else_s_grant_is_of_no_use(changed: dict[str, Any], fault: str) -> None:
    """It fits only the worker, the key and the attempt that it names."""
    dispatch = new_dispatch()
    assert grants.scope_faults(GRANT, dispatch, "a2V5") == ()
    assert grants.scope_faults(msgspec.structs.replace(GRANT, **changed), dispatch, "a2V5") == (fault,)


def test_it_ends() -> None:
    """From its expiry on it is over."""
    assert grants.expiry_fault(GRANT, UNTIL - timedelta(microseconds=1)) is None
    assert grants.expiry_fault(GRANT, UNTIL) == "it has expired"


@pytest.mark.parametrize("text", ["", "no", "a2V5", "?" * 44, "A" * 43 + "="[:0]])
def test_what_is_no_public_key_is_said(text: str) -> None:
    """By its form, without the value."""
    with pytest.raises(InvalidInputError, match="Base64 of 32 bytes"):
        grants.read_public(text)


def test_a_public_key_travels_as_text() -> None:
    """And comes back as the same key."""
    assert grants.read_public(grants.public_text(KEY)) == KEY.public_key()


def new_dispatch() -> Dispatch:
    return Dispatch(
        event_id=OTHER,
        tenant_id="default",
        workflow_id="w1",
        occurred_at=UNTIL,
        producer="test",
        kind=DispatchKind.OFFER,
        worker_id="w-1",
        pool="coders",
        task_id="coding",
        attempt_id=ATTEMPT,
        fencing_token=2,
        state_version=2,
    )


GOLDEN = "+vFMtafBVcsxv0/kfwa1Nt5M6RrXcc0Ik0/EwBrgHMFERdsMX89XP8iFn2uBtEXflNdKhpgWwaDL3wd1JpNCAQ=="
