"""Results that are not acknowledged yet, each in its own file: fsynced before it is sent, gone once the log has it.

A broker's outage or a crash of the worker thus loses no result; what lies here at start is sent first. What is spooled
has been redacted and encoded. Only this role imports it.
"""

import logging
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import msgspec

from remit.artefacts import write_durably
from remit.log.protocols import Message
from remit.typed_json import read_json

log = logging.getLogger("remit.worker")
_SUFFIX = ".result"


class _Spooled(msgspec.Struct, frozen=True):
    """A storage format: one message as JSON, its bytes as Base64."""

    attempt_id: UUID
    topic: str
    key: bytes
    value: bytes
    partition: int | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    submission: int = 1


class Waiting(NamedTuple):
    """A result that is not acknowledged yet, and its file."""

    path: Path
    attempt_id: UUID
    submission: int
    message: Message


class Spool:
    """A folder of unsent results."""

    def __init__(self, folder: Path) -> None:
        """Use this folder; one worker process at a time does."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, attempt_id: UUID, message: Message, submission: int = 1) -> Path:
        """Keep a message durably, and return where; each submission of an attempt has a file of its own."""
        kept = _Spooled(
            attempt_id=attempt_id,
            topic=message.topic,
            key=message.key,
            value=message.value,
            partition=message.partition,
            headers=message.headers,
            submission=submission,
        )
        path = self._folder / f"{attempt_id}{f'.{submission}' if submission > 1 else ''}{_SUFFIX}"
        write_durably(path, msgspec.json.encode(kept))
        return path

    def waiting(self) -> list[Waiting]:
        """What is not acknowledged yet, oldest first; a file that can't be read is set aside and named in the log."""
        found = sorted(self._folder.glob(f"*{_SUFFIX}"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        return [read for path in found if (read := self._read(path)) is not None]

    def done(self, path: Path) -> None:
        """The log has it."""
        path.unlink(missing_ok=True)

    def refuse(self, path: Path) -> None:
        """The log will never have it: set it aside for people to look at."""
        path.rename(path.with_suffix(".refused"))

    def _read(self, path: Path) -> Waiting | None:
        try:
            kept = read_json(path.read_bytes(), _Spooled)
        except (msgspec.MsgspecError, OSError) as error:
            log.warning("the spooled result %s can't be read (%s); set aside", path.name, type(error).__name__)
            path.rename(path.with_suffix(".unreadable"))
            return None
        message = Message(kept.topic, kept.key, kept.value, kept.partition, kept.headers)
        return Waiting(path, kept.attempt_id, kept.submission, message)
