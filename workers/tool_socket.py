"""A handler's line to the tools for whatever language it is in: `remit-tool` on its PATH, and a socket of the attempt.

One JSON line asks, one JSON line and the output answer. Only this role imports it.
"""

import contextlib
import json
import os
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
            server.close(address)
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
    """Accepts in one thread, and answers each call in one of its own."""

    def __init__(self, listening: socket.socket, gateway: Gateway) -> None:
        self._listening, self._gateway = listening, gateway
        self._closing = False
        self._answering: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, name="tools", daemon=True)
        self._accepting.start()

    def close(self, address: str) -> None:
        """Take no more calls, end those that run, and wait for their threads."""
        self._closing = True
        self._gateway.stop.set("ended")
        with socket.socket(socket.AF_UNIX) as waking, contextlib.suppress(OSError):
            waking.connect(address)
        self._accepting.join()
        for each in self._answering:
            each.join()

    def _accept(self) -> None:
        while True:
            caller, _ = self._listening.accept()
            if self._closing:
                caller.close()
                return
            self._answering = [each for each in self._answering if each.is_alive()]
            thread = threading.Thread(target=self._answer, args=(caller,), name="tool", daemon=True)
            self._answering.append(thread)
            thread.start()

    def _answer(self, caller: socket.socket) -> None:
        with caller, contextlib.suppress(OSError):  # the caller may be gone
            caller.settimeout(_PATIENCE_S)
            ended = self._ended(caller)
            head = {"exit_status": ended.exit_status, "size": len(ended.output)}
            caller.sendall(json.dumps(head).encode() + b"\n" + ended.output)

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
