"""Virtual time: one clock, and what is to happen when. Nothing here reads the real time."""

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Action = Callable[[], None]


class Timeline:
    """Actions in the order of their times, then of their making. Times are seconds since the start."""

    def __init__(self) -> None:
        """Begin at zero, with nothing to happen."""
        self.now = 0.0
        self._numbers = count()
        self._actions: list[tuple[float, int, Action]] = []
        self._brokers: list[tuple[float, int, Action]] = []

    def clock(self, ahead: float = 0.0) -> datetime:
        """The time as a clock shows it that is so many seconds ahead."""
        return START + timedelta(milliseconds=round((self.now + ahead) * 1000))

    def at(self, when: float, action: Action) -> None:
        """Let it happen then, or at once if that is over."""
        heapq.heappush(self._actions, (when, next(self._numbers), action))

    def after(self, seconds: float, action: Action) -> None:
        """Let it happen in so many seconds."""
        self.at(self.now + seconds, action)

    def by_broker(self, seconds: float, action: Action) -> None:
        """Let the broker do it in so many seconds, also while a process waits for it."""
        heapq.heappush(self._brokers, (self.now + seconds, next(self._numbers), action))

    def run_until(self, end: float) -> None:
        """Let everything happen up to that time; may be called from within an action, which then lasts as long."""
        while (first := self._next()) and first[0][0] <= end:
            when, _, action = heapq.heappop(first)
            self.now = max(self.now, when)
            action()
        self.now = max(self.now, end)

    def wait(self, seconds: float) -> None:
        """What a process that waits for the broker lets pass: only the broker acts."""
        end = self.now + seconds
        while self._brokers and self._brokers[0][0] <= end:
            when, _, action = heapq.heappop(self._brokers)
            self.now = max(self.now, when)
            action()
        self.now = max(self.now, end)

    def _next(self) -> list[tuple[float, int, Action]] | None:
        waiting = [each for each in (self._actions, self._brokers) if each]
        return min(waiting, key=lambda each: each[0][:2]) if waiting else None
