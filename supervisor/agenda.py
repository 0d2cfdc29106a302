"""When to look at which workflow again: one date for each, the earliest that it was noted with. Pure bookkeeping."""

import heapq
from collections import deque
from datetime import datetime

from .states import Key


class Agenda:
    """Dates by workflow; an early one costs a look in vain, a late one would miss a deadline.

    What falls due is set aside in one go, and then taken one by one: a workflow that is noted as due again meanwhile
    waits for the next go, behind all others.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._heap: list[tuple[datetime, Key]] = []
        self._dates: dict[Key, datetime] = {}
        self._fallen_due: deque[tuple[datetime, Key]] = deque()

    def note(self, key: Key, at: datetime) -> None:
        """Look at the workflow at that time, if not earlier."""
        noted = self._dates.get(key)
        if noted is None or at < noted:
            self._dates[key] = at
            heapq.heappush(self._heap, (at, key))

    def next_due(self) -> datetime | None:
        """The first date of all."""
        return self._fallen_due[0][0] if self._fallen_due else self._first()

    def _first(self) -> datetime | None:
        while self._heap and self._dates.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # an earlier date was noted in its place
        return self._heap[0][0] if self._heap else None

    def fall_due(self, now: datetime) -> None:
        """Set aside all that is due, the first first."""
        while (first := self._first()) is not None and first <= now:
            at, key = heapq.heappop(self._heap)
            del self._dates[key]
            self._fallen_due.append((at, key))

    def take(self) -> Key | None:
        """Take the next that was set aside; None when none is left."""
        return self._fallen_due.popleft()[1] if self._fallen_due else None
