"""A handler's line to the tools for whatever language it is in: `remit-tool` on its PATH, and a socket of the attempt.

One JSON line asks, one JSON line and the output answer. Only this role imports it.
"""

import contextlib
import json
import os
import select
import shlex
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from remit.errors import RefusedError
from remit.sdk import tool

from .gateway import REFUSED, Gateway
from .process import Ended

VARIABLE = "REMIT_TOOLS"
_MAX_REQUEST = 1 << 20
_PATIENCE_S = 30.0  # for a request to come whole
_AT_ONCE = 16  # calls that are open: each takes descriptors, which all attempts share
_AGAIN_S = 0.1
_LONGEST = 100  # bytes of a socket's path, which the system bounds


@contextmanager
def served(gateway: Gateway) -> Iterator[dict[str, str]]:
    """Answer until the end of the block, then end the tools that still run; yields the variables that lead there."""
    folder = gateway.job.ground.bin
    script = folder / "remit-tool"
    script.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-I", "-S", tool.__file__])} "$@"\n', "utf-8")
    script.chmod(0o755)
    path = folder / "tools.sock"
    with socket.socket(socket.AF_UNIX) as listening, _reachable(path) as address:
        listening.bind(address)
        listening.listen()
        server = _Server(listening, gateway)
        try:
            yield {VARIABLE: str(path)}
        finally:
            server.close()
            with contextlib.suppress(OSError):  # the handler may have put anything there
                path.unlink()  # a correction binds it anew


@contextmanager
def _reachable(path: Path) -> Iterator[str]:
    """The path as a socket's address: through its open folder where it is too long for one."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class _Server:
    """Accepts in one thread, and answers each call in one of its own; calls beyond the most at once wait their turn."""

    def __init__(self, listening: socket.socket, gateway: Gateway) -> None:
        self._listening, self._gateway = listening, gateway
        self._listening.setblocking(False)
        self._woken, self._waking = socket.socketpair()  # its name is the handler's to remove: no way to wake by it
        self._closing = threading.Event()
        self._free = threading.Semaphore(_AT_ONCE)
        self._answering: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, name="tools", daemon=True)
        self._accepting.start()

    def close(self) -> None:
        """Take no more calls, end those that run, and wait for their threads."""
        self._closing.set()
        self._gateway.stop.set("ended")
        self._waking.close()
        self._free.release()
        self._accepting.join()
        self._woken.close()
        for each in self._answering:
            each.join()

    def _accept(self) -> None:
        either = select.poll()
        either.register(self._listening, select.POLLIN)
        either.register(self._woken, select.POLLIN)
        while True:
            self._free.acquire()
            either.poll()
            if self._closing.is_set():
                return
            self._answering = [each for each in self._answering if each.is_alive()]
            if not self._take():
                self._free.release()
                self._closing.wait(_AGAIN_S)

    def _take(self) -> bool:
        """Answer the next caller in a thread of its own; whether there is one."""
        try:
            caller, _ = self._listening.accept()
        except OSError:  # it is gone again, or descriptors are short for now
            return False
        thread = threading.Thread(target=self._answer, args=(caller,), name="tool", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # threads are short
            caller.close()
            return False
        self._answering.append(thread)
        return True

    def _answer(self, caller: socket.socket) -> None:
        try:
            with caller, contextlib.suppress(OSError):  # the caller may be gone
                caller.settimeout(_PATIENCE_S)
                ended = self._ended(caller)
                head = {"exit_status": ended.exit_status, "size": len(ended.output)}
                caller.sendall(json.dumps(head).encode() + b"\n" + ended.output)
        finally:
            self._free.release()

    def _ended(self, caller: socket.socket) -> Ended:
        try:
            name, arguments = _request(caller)
        except (ValueError, TypeError, KeyError, RecursionError):
            return Ended(REFUSED, b"refused: a call is one JSON line with name and args\n")
        try:
            return self._gateway.call(name, arguments)
        except RefusedError as error:
            return Ended(REFUSED, f"refused: {error}\n".encode())


def _request(caller: socket.socket) -> tuple[str, list[str]]:
    with caller.makefile("rb") as lines:
        asked = json.loads(lines.readline(_MAX_REQUEST))
    name, arguments = asked["name"], asked["args"]
    if not isinstance(name, str) or not isinstance(arguments, list) or not all(isinstance(a, str) for a in arguments):
        raise TypeError
    return name, arguments
