"""The packed form of a state: JSON, deflated. What checkpoints hold, and what a closed workflow is kept as. Pure."""

import zlib

import msgspec

from remit.errors import CodecError

from .state import State, Workflow

_LEVEL = 1  # a higher one takes three times as long for a tenth less
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(State)


def pack(state: State) -> bytes:
    """The state in its packed form, some 2 kB for four tasks."""
    return zlib.compress(_ENCODER.encode(state), _LEVEL)


def unpack(packed: bytes) -> State:
    """The state that `pack` was given; CodecError for bytes that are none of this build's."""
    try:
        return _DECODER.decode(zlib.decompress(packed))
    except (zlib.error, msgspec.DecodeError) as error:
        raise CodecError(f"state: not a packed state ({type(error).__name__})") from None


def check(packed: bytes) -> None:
    """CodecError for bytes that are damaged; cheaper than `unpack`, as nothing is read of them."""
    try:
        zlib.decompress(packed)
    except zlib.error:
        raise CodecError("state: damaged") from None


def at_rest(state: State) -> bool:
    """Whether nothing of the state is awaited any more: it is closed, and no lost lease holds budget."""
    return (
        isinstance(state, Workflow)
        and not state.open
        and all(attempt.held_until is None for task in state.tasks.values() for attempt in task.attempts)
    )
