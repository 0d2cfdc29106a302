"""The packed form of a state: JSON, deflated. What checkpoints hold, and what a closed workflow is kept as. Pure.

A seal binds packed bytes to what they are said to be, and to the fold that made them: what this build would fold
otherwise, or can't fold, it doesn't take from a checkpoint either.
"""

import zlib
from hashlib import sha256

import msgspec

from remit.codec.catalogue import catalogue
from remit.errors import CodecError
from remit.topics import Topic

from .state import STATE_SCHEMA, State, Workflow

_LEVEL = 1  # a higher one takes three times as long for a tenth less
_SEAL = 32  # bytes of a SHA-256
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(State)


class UnreadableStateError(Exception):
    """Packed bytes that should be a state are none: history must be read. Never leaves the service."""


def pack(state: State) -> bytes:
    """The state in its packed form, some 2 kB for four tasks."""
    return zlib.compress(_ENCODER.encode(state), _LEVEL)


def unpack(packed: bytes) -> State:
    """The state that `pack` was given; UnreadableStateError for other bytes."""
    try:
        return _DECODER.decode(zlib.decompress(packed))
    except (zlib.error, msgspec.DecodeError) as error:
        raise UnreadableStateError(type(error).__name__) from None


def sealed(name: str, position: int, content: bytes) -> bytes:
    """`content` behind its seal, as what `name` had at `position` by this build's fold."""
    return _seal(name, position, content) + content


def unsealed(name: str, position: int, whole: bytes) -> bytes:
    """What `sealed` was given; CodecError if any of it differs."""
    seal, content = whole[:_SEAL], whole[_SEAL:]
    if seal != _seal(name, position, content):
        raise CodecError("state: damaged, or made by another build's fold")
    return content


def _seal(name: str, position: int, content: bytes) -> bytes:
    fold = f"{STATE_SCHEMA}/{catalogue().newest(Topic.TRANSITIONS).id}"
    return sha256(f"{name}\n{position}\n{fold}\n".encode() + content).digest()


def at_rest(state: State) -> bool:
    """Whether nothing of the state is awaited any more: it is closed, and no lost lease holds budget."""
    return (
        isinstance(state, Workflow)
        and not state.open
        and all(attempt.held_until is None for task in state.tasks.values() for attempt in task.attempts)
    )
