"""Stands between the runner and one command: starts it, and sees that nothing it started outlives it or the runner.

Run as a script of its own by `process`, on the standard library alone; nobody imports it. On Linux it adopts whatever
loses its parent, so a child that left its session and its environment behind is still found; elsewhere it ends the
command's session. The runner's end of the control pipe is its sign of life: when that closes, even by SIGKILL, all is
killed at once. A byte there, or SIGTERM, wishes an end: politely first. On the status pipe it tells `started`, or
`fault ERRNO`, then `ended CODE` (negative for a signal).
"""

import ctypes
import os
import select
import signal
import sys
import time

_SUBREAPER = 36  # prctl's PR_SET_CHILD_SUBREAPER
_GRACE_S = 2.0
_KILL_S = 10.0
_STEP_S = 0.02
_WRAPPER = "bwrap"
_GONE, _WISHED = "gone", "wished"
_THREADS = 17  # which field behind the name in /proc/PID/stat counts them
_RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)


class Guardian:
    """Watches one command."""

    def __init__(self, control: int, status: int) -> None:
        """Adopt what will lose its parent, and be woken by signals."""
        for descriptor in (control, status):
            os.set_inheritable(descriptor, False)
        self._control, self._status = control, status
        self._wake, wake_end = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        self._is_told = False
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._told)
        if sys.platform == "linux":
            ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)
        self._child = 0
        self._code: int | None = None
        self._is_wrapped = False

    def _told(self, *_: object) -> None:
        self._is_told = True

    def guard(self, argv: list[str], handed_on: list[int]) -> None:
        """Start the command, wait for its end or for a wish, and leave nothing of it."""
        self._is_wrapped = os.path.basename(argv[0]) == _WRAPPER  # noqa: PTH119 - pathlib is too slow to import here
        try:
            self._child = os.posix_spawnp(argv[0], argv, os.environ, setsid=True, setsigdef=_RESET)
        except OSError as error:
            self._say(f"fault {error.errno or 0}")
            return
        self._say("started")
        _let_go(handed_on)
        if self._watch(None) != _GONE:
            self._end_politely()
        self._kill()

    def _watch(self, until: float | None) -> str | None:
        """Wait for the command's end (None), a wish, or the runner's death; with `until` for the family's end."""
        while True:
            self._reap()
            if (self._code is not None) if until is None else not self._family():
                return None
            if self._is_told and until is None:
                return _WISHED
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return None
            if (said := self._said(left)) is not None and (said == _GONE or until is None):
                return said

    def _said(self, left: float | None) -> str | None:
        """What the runner says within the time, or until a signal comes."""
        wait = None if left is None else min(left, _STEP_S)
        ready, _, _ = select.select([self._control, self._wake], [], [], wait)
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._control not in ready:
            return None
        return _WISHED if os.read(self._control, 64) else _GONE

    def _end_politely(self) -> None:
        # A sandbox that is asked to end kills what it holds: only that is asked, and the sandbox ends after it.
        if family := [each for each in self._family() if not (self._is_wrapped and each == self._child)]:
            _send(family, signal.SIGTERM)
            self._watch(time.monotonic() + _GRACE_S)

    def _kill(self) -> None:
        """Kill until nothing is left: what a process starts while it dies is ours too."""
        end = time.monotonic() + _KILL_S
        while (family := self._family()) and time.monotonic() < end:
            _send(family, signal.SIGKILL)
            self._reap()
            time.sleep(_STEP_S / 10)
        self._reap()

    def _family(self) -> list[int]:
        """All that live and descend from here; where that can't be seen, the command's session by its negative id."""
        parents = _parents()
        if parents is None:
            return [-self._child] if _lives(-self._child) else []
        found, new = set[int](), {os.getpid()}
        while new:
            new = {each for each, parent in parents.items() if parent in new} - found
            found |= new
        return sorted(found)

    def _reap(self) -> None:
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if ended == 0:
                return
            if ended == self._child:
                self._code = os.waitstatus_to_exitcode(status)
                self._say(f"ended {self._code}")

    def _say(self, words: str) -> None:
        try:
            os.write(self._status, f"{words}\n".encode())
        except OSError:  # the runner is gone; what is left to do is done all the same
            return


def _let_go(handed_on: list[int]) -> None:
    """Close what only the command needs, so that its end is seen as an end."""
    for descriptor in handed_on:
        os.close(descriptor)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _parents() -> dict[int, int] | None:
    """The parent of each process that is no zombie; None where the system doesn't show it."""
    if sys.platform != "linux":
        return None
    found: dict[int, int] = {}
    try:
        with os.scandir("/proc") as entries:
            names = [entry.name for entry in entries if entry.name.isdigit()]
    except OSError:
        return None
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - pathlib is too slow to import here
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # gone meanwhile
        if fields[0] not in b"ZX" or int(fields[_THREADS]) > 1:  # a first thread may end before the others
            found[int(name)] = int(fields[1])
    return found


def _send(processes: list[int], number: signal.Signals) -> None:
    for each in processes:
        try:
            os.kill(each, number)
        except OSError:  # gone meanwhile, or not ours to end
            continue


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def main(words: list[str]) -> None:
    """CONTROL STATUS HANDED_ON ARGV...: two descriptors, those the command inherits with commas, its command line."""
    control, status, handed_on, *argv = words
    Guardian(int(control), int(status)).guard(argv, [int(each) for each in handed_on.split(",") if each])


if __name__ == "__main__":
    main(sys.argv[1:])
