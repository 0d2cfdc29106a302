"""When to look at which workflow again: one date for each, the earliest that it was noted with. Pure bookkeeping."""

import heapq
from datetime import datetime

from .states import Key


class Agenda:
    """Dates by workflow; an early one costs a look in vain, a late one would miss a deadline."""

    def __init__(self) -> None:
        """Start empty."""
        self._heap: list[tuple[datetime, Key]] = []
        self._dates: dict[Key, datetime] = {}

    def note(self, key: Key, at: datetime) -> None:
        """Look at the workflow at that time, if not earlier."""
        noted = self._dates.get(key)
        if noted is None or at < noted:
            self._dates[key] = at
            heapq.heappush(self._heap, (at, key))

    def next_due(self) -> datetime | None:
        """The first date of all."""
        while self._heap and self._dates.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # an earlier date was noted in its place
        return self._heap[0][0] if self._heap else None

    def take(self, now: datetime) -> Key | None:
        """Take off the first that is due; None when none is."""
        first = self.next_due()
        if first is None or first > now:
            return None
        key = heapq.heappop(self._heap)[1]
        del self._dates[key]
        return key
