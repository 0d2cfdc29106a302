"""What a tool's server and the tools' socket read: a grant in a file, a public key, and a call."""

import contextlib
import io
import json
import socket
import tempfile
import threading
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit import grants
from remit.cli import grant as command
from remit.errors import RefusedError
from remit.events.service import Grant
from workers import tool_socket
from workers.gateway import REFUSED, sayable
from workers.process import Ended

from ..making import documents, odd, texts
from ..target import LawBrokenError, Target

_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
_ATTEMPT = UUID("3f0c0a1e-0000-4000-8000-000000000001")
_AT = documents.AT.isoformat()
_CALLS = ('{"name": "lint", "args": ["-q", "src"]}\n', '{"args": [], "name": ""}\n')


@cache
def _signed() -> Grant:
    """A right grant."""
    made = Grant(
        permissions={"svc": "read-write:feature/x"},
        paths=("src/**",),
        tools=("lint",),
        expires_at=documents.AT + timedelta(hours=1),
        worker_id="w1",
        attempt_id=_ATTEMPT,
        max_tool_calls=3,
    )
    return grants.signed(made, _KEY)


@cache
def _right() -> tuple[str, ...]:
    """It alone, and as the dispatch file has it."""
    alone = msgspec.json.encode(_signed()).decode()
    return alone, f'{{"task_id": "a", "grant": {alone}}}'


def _file(dice: Random) -> bytes:
    return documents.json_file(dice, _right())


@cache
def _place() -> Path:
    return Path(tempfile.mkdtemp(prefix="remit-fuzz-")) / "grant.json"


def _verified(given: bytes) -> bool:
    """As `remit grant verify` does; what is found valid says what was signed, to the letter."""
    _place().write_bytes(given)
    out = io.StringIO()
    for as_json in (False, True):
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            refused = command.verify.callback(_place(), (grants.public_text(_KEY),), _AT, as_json)  # type: ignore[misc]
    out.getvalue().encode()
    if not refused and _claims(command._grant(_place())) != _claims(_signed()):  # noqa: SLF001 - as the command reads it
        raise LawBrokenError("a grant that nobody signed is valid")
    return not refused


def _claims(of: Grant) -> Grant:
    return msgspec.structs.replace(of, signature=None)


def _key(dice: Random) -> str:
    right = grants.public_text(_KEY)
    return texts.mutated(dice, right, most=2) if dice.randrange(4) else odd.text(dice)


def _known(given: str) -> bool:
    """A text that is taken for a key signs nothing that another key signed."""
    key = grants.read_public(given)
    is_ours = grants.key_id(key) == _signed().key_id
    if bool(grants.signature_faults(_signed(), [key])) is is_ours:
        raise LawBrokenError("a grant is judged by another key than the one that signed it")
    return True


def _call(dice: Random) -> bytes:
    return documents.json_file(dice, _CALLS) + dice.choice((b"\n", b"\n", b""))


def _answered(given: bytes) -> bool:
    """As the socket's server reads it; no tool is there, so what is understood is refused by the gateway."""
    asked: list[str] = []
    ours, theirs = socket.socketpair()
    sender = threading.Thread(target=_send, args=(theirs, given))
    sender.start()
    server: Any = SimpleNamespace(_gateway=SimpleNamespace(call=lambda name, args: _no_tool(asked, name, args)))
    with ours:
        ended = tool_socket._Server._ended(server, ours)  # noqa: SLF001 - what its thread does
    sender.join()
    if ended.exit_status != REFUSED or not ended.output.decode().startswith("refused: "):
        raise LawBrokenError("a call is answered with something else than why it is refused")
    return bool(asked)


def _no_tool(asked: list[str], name: str, arguments: list[str]) -> Ended:
    asked.extend(map(sayable, (name, *arguments)))
    json.dumps(asked).encode()
    raise RefusedError("this tool is not granted")


def _send(line: socket.socket, given: bytes) -> None:
    with contextlib.suppress(OSError), line:  # refused at its length
        line.sendall(given)


TARGETS = (
    Target("grant.file", _file, _verified),
    Target("grant.key", _key, _known),
    Target("tools.call", _call, _answered),
)
