"""How times are shown to people: UTC, and the display zone beside it. Any command imports it."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from remit.instants import aware

UTC_NAME = "UTC"
DAY_S, HOUR_S, MINUTE_S = 86_400, 3_600, 60


def now() -> datetime:
    """This machine's time, UTC: for ages and what is left, never for a decision."""
    return datetime.now(UTC)


def both(at: datetime | None, zone: ZoneInfo) -> str:
    """`2026-03-01 12:00:00 UTC (13:00:00 CET)`; the bracket only where the zone is another, empty for None."""
    if at is None:
        return ""
    utc, local = aware(at, "at").astimezone(UTC), at.astimezone(zone)
    shown = f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    if zone.key == UTC_NAME:
        return shown
    there = f"{local:%H:%M:%S %Z}" if local.date() == utc.date() else f"{local:%Y-%m-%d %H:%M:%S %Z}"
    return f"{shown} ({there})"


def clock(at: datetime, zone: ZoneInfo) -> str:
    """`13:00:00` in the display zone, for live lines."""
    return f"{aware(at, 'at').astimezone(zone):%H:%M:%S}"


def lasted(span: timedelta) -> str:
    """`1 min 20.5 s`."""
    minutes, seconds = divmod(span.total_seconds(), 60)
    return f"{minutes:.0f} min {seconds:.1f} s" if minutes else f"{seconds:.1f} s"


def aged(seconds: float) -> str:
    """`2 d 3 h`, `3 h 5 min`, `5 min` or `12 s`: as coarse as an age is told; never negative."""
    whole = max(int(seconds), 0)
    if whole >= DAY_S:
        return f"{whole // DAY_S} d {whole % DAY_S // HOUR_S} h"
    if whole >= HOUR_S:
        return f"{whole // HOUR_S} h {whole % HOUR_S // MINUTE_S} min"
    return f"{whole // MINUTE_S} min" if whole >= MINUTE_S else f"{whole} s"
