"""The packed form of a state: JSON, deflated. What checkpoints hold, and what a closed workflow is kept as. Pure."""

import zlib

import msgspec

from .state import State, Workflow

_LEVEL = 1  # a higher one takes three times as long for a tenth less
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
    except (zlib.error, msgspec.DecodeError, RecursionError) as error:
        raise UnreadableStateError(type(error).__name__) from None


def at_rest(state: State) -> bool:
    """Whether nothing of the state is awaited any more: it is closed, and no lost lease holds budget."""
    return (
        isinstance(state, Workflow)
        and not state.open
        and all(attempt.held_until is None for task in state.tasks.values() for attempt in task.attempts)
    )
