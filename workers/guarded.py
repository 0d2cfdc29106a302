"""One command under its guardian, seen from the runner: start it, wait for it, end it. Only `process` imports it."""

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_GUARDIAN = str(Path(__file__).with_name("guardian.py"))
_ENDS_WITHIN_S = 15.0  # grace and killing, with some to spare
_KILLED = -9


class Guarded:
    """A command that runs; all that it starts ends with it, and with this process."""

    def __init__(
        self,
        argv: list[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        output: int,
        keep_open: tuple[int, ...] = (),
    ) -> None:
        """Start it; raises OSError when that can't be done. `output` takes what it prints."""
        control, self._control = os.pipe()
        self._status, status = os.pipe()
        handed_on = ",".join(map(str, keep_open))
        try:
            self._guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", _GUARDIAN, str(control), str(status), handed_on, *argv],
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                pass_fds=(control, status, *keep_open),
            )
        except BaseException:
            self._close()
            raise
        finally:
            os.close(control)
            os.close(status)
        self._told = b""
        self._started()

    @property
    def exit_status(self) -> int:
        """How it ended, negative for a signal; as killed where nobody was left to tell."""
        code = self._said("ended")
        return _KILLED if code is None else code

    def ended(self, timeout: float) -> bool:
        """Whether it ended; waits at most so many seconds."""
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        if self._said("ended") is None and poll.poll(timeout * 1000):
            return not self._hear() or self._said("ended") is not None
        return self._said("ended") is not None

    def end(self) -> None:
        """End all of it, politely first; returns when nothing is left. Idempotent."""
        if self._control < 0:
            return
        with contextlib.suppress(OSError):
            os.write(self._control, b"t")
        try:
            self._guardian.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._guardian.kill()
            self._guardian.wait()
        while self._hear():
            pass
        self._close()

    def _started(self) -> None:
        while self._said("started") is None and self._said("fault") is None and self._hear():
            pass
        if self._said("started") is None:
            number = self._said("fault") or 0
            self.end()
            raise OSError(number, os.strerror(number) if number else "the guardian did not start")

    def _hear(self) -> bytes:
        """What more the guardian tells; nothing once it is gone."""
        heard = os.read(self._status, 4096)
        self._told += heard
        return heard

    def _said(self, word: str) -> int | None:
        for line in self._told.decode().splitlines():
            name, _, number = line.partition(" ")
            if name == word:
                return int(number or 0)
        return None

    def _close(self) -> None:
        for descriptor in (self._control, self._status):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._control = self._status = -1
