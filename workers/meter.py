"""What an attempt has done so far: progress, time and usage. The keeper reads it while the attempt writes it."""

import json
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from remit.events.base import Usage
from remit.redaction import Redactor
from remit.result.envelope import WorkerUsage

from .left import read_left

_MAX_USAGE_BYTES = 16 * 1024
_MAX_NOTE = 256  # characters


class Meter:
    """Counts of one attempt, its correction included; it runs from the start."""

    def __init__(self, usage_file: Path, redactor: Redactor, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing done; what the worker reports comes through `usage_file`."""
        self._file, self._redactor, self._clock = usage_file, redactor, clock
        self._lock = threading.Lock()
        self._progress = 0
        self._observed = 0
        self._note: str | None = None
        self._spent_seconds = 0.0
        self._since: float | None = clock()
        self._before: list[WorkerUsage | None] = []  # what each run that is over told

    def rest(self) -> None:
        """The attempt works no more, unless it is corrected."""
        with self._lock:
            self._spent_seconds, self._since = self._seconds(), None

    def begin_again(self, told: WorkerUsage | None) -> None:
        """A correction begins: what it tells of usage is added to what the run before told, in its envelope or file."""
        with self._lock:
            self._before.append(told or self._told())
            self._since = self._clock()

    def advance(self, steps: int = 1, note: str | None = None) -> None:
        """The attempt got on; `note` says for people with what."""
        with self._lock:
            self._progress += steps
            self._note = self._redactor.text(note)[:_MAX_NOTE] if note else self._note

    def command(self) -> None:
        """One observed command begins: a tool call."""
        with self._lock:
            self._observed += 1

    def begin(self, most: int | None) -> bool:
        """Begin one call of the handler's unless it has used up its `most`, by its own word or as counted here."""
        with self._lock:
            told = sum(each.tool_calls for each in (*self._before, self._told()) if each is not None)
            if most is not None and self._observed + told >= most:
                return False
            self._observed += 1
            return True

    def progress(self) -> tuple[int, str | None]:
        """How far it is, and the last note."""
        with self._lock:
            return self._progress, self._note

    def usage(self, told: WorkerUsage | None = None, *, calls_no_model: bool = False) -> Usage | None:
        """All that was used: what the worker told (or its usage file says), and what the runner counted.

        None when the worker told nothing of a run, unless it calls no model: then the whole reservation is booked.
        """
        with self._lock:
            runs = (*self._before, told or self._told())
            if None in runs and not calls_no_model:
                return None
            known = [each or WorkerUsage() for each in runs]
            model = next((each.model for each in reversed(known) if each.model), None)
            return Usage(
                tokens_in=sum(each.tokens_in for each in known),
                tokens_out=sum(each.tokens_out for each in known),
                tool_calls=sum(each.tool_calls for each in known) + self._observed,
                turns=sum(each.turns for each in known),
                worker_seconds=Decimal(f"{self._seconds():.3f}"),
                cost_gbp=sum((each.cost_gbp for each in known), Decimal(0)),
                model=self._redactor.text(model) if model else None,
            )

    def _seconds(self) -> float:
        return self._spent_seconds + (self._clock() - self._since if self._since is not None else 0.0)

    def _told(self) -> WorkerUsage | None:
        data = read_left(self._file, _MAX_USAGE_BYTES + 1)
        if data is None or len(data) > _MAX_USAGE_BYTES:
            return None
        try:
            return WorkerUsage.model_validate(json.loads(data))
        except (ValueError, RecursionError, ValidationError):
            return None  # half written: the next look sees it
