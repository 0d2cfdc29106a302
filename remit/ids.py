"""Ids and digests: every id and hash that Remit takes. Pure but for `new_event_id`; anyone may import it.

A storage format: derived ids and digests must come out the same for ever.
"""

import hashlib
import re
from typing import Any
from uuid import UUID

import rfc8785
from uuid_utils.compat import uuid5, uuid7

NAMESPACE = UUID("6f1d8a52-4f0e-5b8e-9d3a-72656d697421")
ID_PATTERN = r"[A-Za-z0-9._:-]{1,128}"
_ID = re.compile(ID_PATTERN)


def new_event_id() -> UUID:
    """A fresh UUIDv7, for events that clients and workers write; never called in a pure module."""
    return uuid7()


def transition_id(cause: UUID, sequence: int) -> UUID:
    """Id of the transition with that sequence, caused by that event."""
    return uuid5(cause, str(sequence))


def dispatch_id(transition: UUID, worker_id: str) -> UUID:
    """Id of the dispatch that a transition sends to one worker."""
    return uuid5(transition, f"dispatch/{worker_id}")


def timer_id(key: str, sequence: int, timer: str) -> UUID:
    """Id of a timer's firing: `key` as `tenant/workflow`, `sequence` of the transition that set it."""
    return uuid5(NAMESPACE, f"{key}/{sequence}/{timer}")


def attempt_id(tenant_id: str, workflow_id: str, task_id: str, fencing_token: int) -> UUID:
    """Id of the attempt that one dispatch starts."""
    return uuid5(NAMESPACE, f"{tenant_id}/{workflow_id}/{task_id}/{fencing_token}")


def checkpoint_id(key: str, generation: int, position: int) -> UUID:
    """Id of a checkpoint: its record's key, its writer's generation, the last sequence or first offset it speaks of."""
    return uuid5(NAMESPACE, f"checkpoint/{key}/{generation}/{position}")


def dead_letter_id(topic: str, partition: int, offset: int) -> UUID:
    """Id of a dead letter, from the coordinates of the record that it speaks of."""
    return uuid5(NAMESPACE, f"dead-letter/{topic}/{partition}/{offset}")


def idempotency_key(tenant_id: str, workflow_id: str, task_id: str, round_: int) -> str:
    """Key that every attempt of one task in one round shares."""
    return f"{tenant_id}/{workflow_id}/{task_id}/{round_}"


def is_id(text: str) -> bool:
    """Whether a user may choose `text` as an id."""
    return _ID.fullmatch(text) is not None


def sha256(data: bytes) -> str:
    """SHA-256 of `data`, 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_json(value: Any) -> bytes:  # noqa: ANN401  (any JSON value)
    """The RFC 8785 form of a JSON value; floats and ints beyond 2**53 are refused by the library."""
    return rfc8785.dumps(value)


def digest(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """SHA-256 over the canonical JSON of a value."""
    return sha256(canonical_json(value))
