"""Brokers: their release and their clocks. Pure."""

from datetime import timedelta

from remit.doctor.facts import Brokers
from remit.doctor.finding import Finding

CLOCK_TOLERANCE = timedelta(seconds=5)
_RELEASES = ((22, "older than 4.0"), (26, "4.0"), (28, "4.1"), (30, "4.2"), (31, "4.3"), (34, "4.4"))
"""First metadata level that is above a release."""
OLDEST_LEVEL = 22
TEARING_LEVELS = range(30, 34)
"""4.3 and 4.4: KAFKA-20734."""
_UPGRADE = "upgrade the brokers to Kafka 4.2.0, which Remit is tested with; at least 4.0 is needed"
_NOT_ALONE = (
    "run Kafka 4.2.0, or three brokers. The embedded broker is a 4.2.0: "
    "unset KAFKA_BOOTSTRAP_SERVERS and --bootstrap, then remit up"
)
_SET_CLOCK = "timedatectl set-ntp true, there and here"


def release(level: int | None) -> str:
    """The Kafka release whose highest metadata level this is; without one it is an old broker, or no Apache Kafka."""
    if level is None:
        return _RELEASES[0][1]
    return next((name for above, name in _RELEASES if level < above), "newer than 4.4")


def too_old(brokers: Brokers) -> tuple[Finding, ...]:
    """Brokers before 4.0."""
    return tuple(
        Finding("old-broker", f"broker {number}", f"Kafka is {release(level)}, or no Apache Kafka", _UPGRADE)
        for number, level in brokers.levels.items()
        if level is None or level < OLDEST_LEVEL
    )


def tearing(brokers: Brokers) -> tuple[Finding, ...]:
    """A single broker of a release that, killed, may complete transactions without their markers."""
    if len(brokers.levels) != 1:
        return ()
    return tuple(
        Finding(
            "tearing-broker",
            f"broker {number}",
            f"Kafka is {release(level)} on one node: a kill can tear or hang transactions (KAFKA-20734)",
            _NOT_ALONE,
        )
        for number, level in brokers.levels.items()
        if level in TEARING_LEVELS
    )


def clocks(brokers: Brokers) -> tuple[Finding, ...]:
    """Brokers whose append time differs from this machine's clock: deadlines and leases go by the log's."""
    return tuple(
        Finding("clock", f"broker {number}", _off(ahead), _SET_CLOCK, {"ahead_s": ahead.total_seconds()})
        for number, ahead in brokers.ahead.items()
        if abs(ahead) > CLOCK_TOLERANCE
    )


def _off(ahead: timedelta) -> str:
    way = "ahead of" if ahead > timedelta() else "behind"
    allowed = CLOCK_TOLERANCE.total_seconds()
    return f"its clock is {abs(ahead).total_seconds():.1f} s {way} this machine's, allowed are {allowed:.0f} s"
