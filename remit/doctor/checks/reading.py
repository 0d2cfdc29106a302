"""What can't be read yet, and what nobody reads: hung transactions and lag. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from remit.doctor.facts import OpenEnd, Reading, Unread
from remit.doctor.finding import Finding
from remit.instants import aware
from remit.log.protocols import Partition

LONGEST_OPEN = timedelta(seconds=10 + 20)
"""A supervisor's transaction timeout, and what the broker may take to act on it."""
LATE = timedelta(seconds=60)
VIEWS = "views"
_START = {"supervisors": "remit supervisor run", VIEWS: "remit projector run"}
_MORE = "remit supervisor run --name NAME (another one shares the shards); see Sizing in docs/operations.md"


def hung_transactions(ends: Iterable[OpenEnd], now: datetime, bootstrap: str) -> tuple[Finding, ...]:
    """Partitions that an open transaction has hidden for longer than one can live."""
    aware(now, "now")
    return tuple(
        _hung(each, now - each.since, bootstrap)
        for each in ends
        if each.since is not None and now - each.since > LONGEST_OPEN
    )


def lag(readings: Iterable[Reading], now: datetime) -> tuple[Finding, ...]:
    """Partitions in which a record waits for its reader for longer than a minute."""
    aware(now, "now")
    return tuple(
        _late(reading, each, now - each.oldest)
        for reading in readings
        for each in reading.unread
        if each.oldest is not None and now - each.oldest > LATE
    )


def foreign_views(readings: Iterable[Reading]) -> tuple[Finding, ...]:
    """Views that are further than the log: they were made from another one."""
    return tuple(
        Finding(
            "foreign-views",
            named(each.partition),
            f"the views are at offset {each.position}, the log ends at {each.end}: they were made from another log",
            "remit rebuild",
            {"position": each.position, "end": each.end},
        )
        for reading in readings
        if reading.reader == VIEWS
        for each in reading.unread
        if each.position > each.end
    )


def named(partition: Partition) -> str:
    """`remit.results[3]`."""
    return f"{partition.topic}[{partition.number}]"


def _hung(each: OpenEnd, age: timedelta, bootstrap: str) -> Finding:
    topic, number = each.partition
    says = (
        f"a transaction has been open for {age.total_seconds():.0f} s: the last stable offset is {each.stable_end}, "
        f"the high watermark {each.end}; nothing between them is read"
    )
    mend = (
        f"stop the producer that left it open, or kafka-transactions.sh --bootstrap-server {bootstrap} abort "
        f"--topic {topic} --partition {number} --start-offset {each.stable_end}"
    )
    return Finding(
        "hung-transaction", named(each.partition), says, mend, {"stable_end": each.stable_end, "end": each.end}
    )


def _late(reading: Reading, each: Unread, age: timedelta) -> Finding:
    nobody = f"no member of the {reading.reader}' group consumes now: " if reading.members == 0 else ""
    says = (
        f"{nobody}{reading.reader} are at offset {each.position} of {each.end}; "
        f"the first unread record waits since {age.total_seconds():.0f} s"
    )
    mend = _MORE if reading.members else _START[reading.reader]
    return Finding("lag", named(each.partition), says, mend, {"position": each.position, "end": each.end})
