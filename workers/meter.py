"""What an attempt has done so far: progress and usage. The keeper reads it while the attempt writes it."""

import json
import threading
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from remit.events.base import Usage
from remit.redaction import Redactor
from remit.result.envelope import WorkerUsage

_MAX_USAGE_BYTES = 16 * 1024
_MAX_NOTE = 256  # characters


class Meter:
    """Counts of one attempt."""

    def __init__(self, usage_file: Path, redactor: Redactor) -> None:
        """Nothing done; what the worker reports comes through `usage_file`."""
        self._file, self._redactor = usage_file, redactor
        self._lock = threading.Lock()
        self._progress = 0
        self._observed = 0
        self._note: str | None = None

    def advance(self, steps: int = 1, note: str | None = None) -> None:
        """The attempt got on; `note` says for people with what."""
        with self._lock:
            self._progress += steps
            self._note = self._redactor.text(note)[:_MAX_NOTE] if note else self._note

    def command(self) -> None:
        """One observed command begins: a tool call."""
        with self._lock:
            self._observed += 1

    def progress(self) -> tuple[int, str | None]:
        """How far it is, and the last note."""
        with self._lock:
            return self._progress, self._note

    def usage(self, seconds: float, told: WorkerUsage | None = None, *, calls_no_model: bool = False) -> Usage | None:
        """All that was used: what the worker told (or its usage file says), and what the runner counted.

        None when the worker told nothing, unless it calls no model: then the whole reservation is booked.
        """
        told = told or self._told()
        if told is None and not calls_no_model:
            return None
        told = told or WorkerUsage()
        return Usage(
            tokens_in=told.tokens_in,
            tokens_out=told.tokens_out,
            tool_calls=told.tool_calls + self._observed,
            worker_seconds=Decimal(f"{max(seconds, 0.0):.3f}"),
            cost_gbp=told.cost_gbp,
            model=self._redactor.text(told.model) if told.model else None,
        )

    def _told(self) -> WorkerUsage | None:
        try:
            if self._file.stat().st_size > _MAX_USAGE_BYTES:
                return None
            return WorkerUsage.model_validate(json.loads(self._file.read_bytes()))
        except (OSError, ValueError, RecursionError, ValidationError):
            return None  # not there, or half written: the next look sees it
