"""The state of a whole log as a takeover would hold it, by one who joins no group and decides nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from remit.log.protocols import Log, Message, Partition, Recorded

from .directory import Directory
from .inputs import TimerName
from .shard import Shards
from .stalls import Stall, overdue, stalls
from .state import Workflow
from .states import Key
from .takeover import take_over
from .timers import waits

HEARD = frozenset({TimerName.SILENCE, TimerName.NO_PROGRESS, TimerName.INCARNATION})
"""Waits that depend on what was heard of a worker, which an onlooker didn't listen to."""


def look(source: Log, *, from_checkpoints: bool = True) -> Shards:
    """Fold every shard, from the checkpoints where these may be used or from history's start."""
    return take_over(source, Onlooker(source), lambda: datetime.now(UTC), from_checkpoints=from_checkpoints)


def stalled(source: Log, now: datetime) -> Iterator[tuple[Key, Stall]]:
    """The open workflows that stand still: frozen, without a next event, or with one that is a minute past."""
    shards, directory = look(source), Directory(source, lambda: now)
    yield from ((key, Stall(None, f"it is frozen: {reason}")) for key, reason in shards.frozen.items())
    for key, state in shards.states.awake():
        policy = directory.policies.get(state.policy_sha256) if isinstance(state, Workflow) else None
        if not isinstance(state, Workflow) or key in shards.frozen or policy is None:
            continue
        timers = list(waits(state, shards.leases, directory.incarnations(), policy.timeouts))
        late = overdue((each for each in timers if each.name not in HEARD), now)
        yield from ((key, each) for each in (*stalls(state, timers), *((late,) if late else ())))


class Onlooker:
    """As much of `Session` as a takeover asks for: it holds every shard and consumes nothing."""

    epoch = 0

    def __init__(self, source: Log) -> None:
        """Of that log."""
        self._log = source
        self.shards = frozenset(range(source.partitions))

    def poll(self, limit: int, timeout: float) -> list[Recorded]:  # noqa: ARG002 - the protocol
        """Nothing."""
        return []

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Nothing was committed by anyone that it knows of."""
        return dict.fromkeys(partitions, -1)

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """High watermarks."""
        reader = self._log.reader()
        try:
            return reader.ends(partitions)
        finally:
            reader.close()

    def resume(self, positions: Mapping[Partition, int]) -> None:
        """Nothing is consumed."""

    def position(self, partition: Partition) -> int:
        """It has none."""
        raise NotImplementedError(partition)

    def step(self, messages: Sequence[Message], offsets: Mapping[Partition, int]) -> None:
        """It writes nothing."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""
