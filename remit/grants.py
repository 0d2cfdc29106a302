"""Grants as signed claims: what a supervisor signs, and what anybody can check offline. Pure; anyone may import it.

A signature is Ed25519 over the RFC 8785 form of all other fields that are set, so that a later field voids none. Keys
travel as Base64 of their 32 raw bytes. A storage format: what was signed once must verify for ever.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from remit.errors import InvalidInputError
from remit.events.service import Grant
from remit.ids import sha256
from remit.instants import aware

KEY_BYTES = 32


def public_text(key: Ed25519PrivateKey) -> str:
    """The public half of a key, as it travels: Base64."""
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def read_public(text: str) -> Ed25519PublicKey:
    """The public key that a text says; raises InvalidInputError for anything else."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != KEY_BYTES:
        raise InvalidInputError(f"a public key must be Base64 of {KEY_BYTES} bytes, as `remit keys show` prints it")
    return Ed25519PublicKey.from_public_bytes(raw)


def key_id(key: Ed25519PublicKey) -> str:
    """Which key it is: SHA-256 of its raw bytes."""
    return sha256(key.public_bytes_raw())


def signed(grant: Grant, key: Ed25519PrivateKey) -> Grant:
    """The grant under the key's id and signature; the same grant and key always give the same."""
    named = msgspec.structs.replace(grant, key_id=key_id(key.public_key()), signature=None)
    return msgspec.structs.replace(named, signature=base64.b64encode(key.sign(_claims(named))).decode())


def signature_faults(grant: Grant, keys: Sequence[Ed25519PublicKey]) -> tuple[str, ...]:
    """Why the grant is not one that a holder of these keys signed, for one worker and attempt; empty when it is."""
    if grant.signature is None:
        return ("it is not signed",)
    known = [key for key in keys if key_id(key) == grant.key_id]
    if not known:
        return ("it is signed with a key that is not among those trusted",)
    if not _holds(grant, known[0]):
        return ("its signature does not fit what it says",)
    unbound = [name for name in ("worker_id", "attempt_id") if getattr(grant, name) is None]
    return tuple(f"it names no {name}" for name in unbound)


def scope_faults(grant: Grant, dispatch: Any, worker_key: str | None) -> tuple[str, ...]:  # noqa: ANN401 - a Dispatch, or what has its ids
    """What of the grant speaks of another worker or attempt than the dispatch that it came with."""
    return tuple(_misfits(grant, dispatch, worker_key))


def _misfits(grant: Grant, dispatch: Any, worker_key: str | None) -> Iterator[str]:  # noqa: ANN401 - as above
    if grant.worker_id not in {None, dispatch.worker_id}:
        yield "it is for another worker"
    if grant.worker_key not in {None, worker_key}:
        yield "it is bound to another worker's key"
    if grant.attempt_id not in {None, dispatch.attempt_id}:
        yield "it is for another attempt"


def expiry_fault(grant: Grant, now: datetime) -> str | None:
    """That it has expired by then; `now` is aware."""
    return "it has expired" if aware(now, "now") >= grant.expires_at else None


def _holds(grant: Grant, key: Ed25519PublicKey) -> bool:
    try:
        key.verify(base64.b64decode(grant.signature or "", validate=True), _claims(grant))
    except (InvalidSignature, ValueError):  # binascii's error is one
        return False
    return True


def _claims(grant: Grant) -> bytes:
    plain: dict[str, Any] = msgspec.to_builtins(grant)
    return rfc8785.dumps({name: value for name, value in plain.items() if name != "signature" and value is not None})
