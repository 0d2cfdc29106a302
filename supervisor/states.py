"""The folded states by key: those that something awaits as they are, those at rest packed. Pure bookkeeping."""

from collections.abc import Iterator

from .packed import at_rest, pack, unpack
from .state import State

Key = tuple[str, str]


class States:
    """Folded states; a workflow's key is (tenant, workflow)."""

    def __init__(self) -> None:
        """Start with none."""
        self._awake: dict[Key, State] = {}
        self._packed: dict[Key, bytes] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._awake) + len(self._packed)

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same states."""
        return isinstance(other, States) and dict(self.all()) == dict(other.all())

    __hash__ = None  # type: ignore[assignment]  # it changes

    def get(self, key: Key) -> State | None:
        """The state of a key, if there is one; UnreadableStateError for a packed one that can't be read."""
        if (state := self._awake.get(key)) is not None:
            return state
        packed = self._packed.get(key)
        return None if packed is None else unpack(packed)

    def put(self, key: Key, state: State) -> None:
        """Replace a state."""
        if at_rest(state):
            self._awake.pop(key, None)
            self._packed[key] = pack(state)
        else:
            self._packed.pop(key, None)
            self._awake[key] = state

    def put_packed(self, key: Key, packed: bytes) -> None:
        """Take over a state at rest in its packed form, unread."""
        self._packed[key] = packed

    def packed(self, key: Key) -> bytes | None:
        """The packed form of a state at rest."""
        return self._packed.get(key)

    def __contains__(self, key: Key) -> bool:
        """Whether there is one."""
        return key in self._awake or key in self._packed

    def awake(self) -> Iterator[tuple[Key, State]]:
        """The states of which something is awaited."""
        return iter(self._awake.items())

    def all(self) -> Iterator[tuple[Key, State]]:
        """Every state, those at rest unpacked one after another."""
        yield from self._awake.items()
        yield from ((key, unpack(packed)) for key, packed in self._packed.items())
