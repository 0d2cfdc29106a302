"""Where to read on: stored positions held against what the log still has. The service and the rebuild import it.

History that is gone is never passed over silently: it is refused, or accepted by an operator and recorded.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from remit.errors import HistoryGapError, RefusedError
from remit.log.outgoing import partitions_in
from remit.log.protocols import Partition, Reader
from remit.topics import Topic

from .tables import Values

NOT_READ = frozenset({Topic.LEASES, Topic.LIVENESS, Topic.CHECKPOINTS})
"""Short-lived or derived: what matters of them is in transitions. So it is with dispatches."""

TOPICS = tuple(topic for topic in Topic if topic not in NOT_READ)


class Start(NamedTuple):
    """Where reading begins, and the gaps that were accepted for it."""

    positions: dict[Partition, int]
    gaps: list[Values]


def all_partitions(count: int) -> list[Partition]:
    """Every partition that is read, when the sharded topics have `count`."""
    return [Partition(topic.value, number) for topic in TOPICS for number in range(partitions_in(topic, count))]


def start(reader: Reader, stored: Mapping[Partition, int], count: int, *, accept_gaps: bool = False) -> Start:
    """Positions to read from: as stored, 0 where nothing is.

    Raises HistoryGapError where the log no longer holds one (unless gaps are accepted), RefusedError where the log
    ends before one: then it isn't the log that the database was made from.
    """
    partitions = all_partitions(count)
    if foreign := stored.keys() - set(partitions):
        raise RefusedError(
            f"the database has positions of {_named(min(foreign))}, which is not read: partition counts differ"
        )
    earliest, ends = reader.starts(partitions), reader.ends(partitions)
    begun = Start({}, [])
    for partition in partitions:
        wanted = stored.get(partition, 0)
        if wanted > ends[partition]:
            raise RefusedError(
                f"{_named(partition)} ends at {ends[partition]}, the database is at {wanted}: not its log"
            )
        if wanted < earliest[partition]:
            begun.gaps.append(_gap(partition, wanted, earliest[partition], accept_gaps=accept_gaps))
        begun.positions[partition] = max(wanted, earliest[partition])
    return begun


def _gap(partition: Partition, expected: int, earliest: int, *, accept_gaps: bool) -> dict[str, Any]:
    if not accept_gaps:
        raise HistoryGapError(
            f"{_named(partition)}: expected offset {expected}, the earliest available is {earliest}; "
            "history is missing. --accept-gap goes on without it and records the gap"
        )
    return {
        "topic": partition.topic,
        "partition": partition.number,
        "expected_offset": expected,
        "earliest_offset": earliest,
    }


def _named(partition: Partition) -> str:
    return f"{partition.topic}[{partition.number}]"
