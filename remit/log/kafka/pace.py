"""How many records a batch may have, so that handling it keeps the group's patience. Only the session uses it.

A member that polls too late is taken out of its group, and its batch is handed out again. If that took as long each
time, the shard would stand still for ever; so the next batch is as much smaller as the last one was too slow.
"""

from collections.abc import Callable

SHARE = 3
"""A batch may take one third of the longest time between two polls."""


class Pace:
    """Told when a batch goes out and when the next is asked for."""

    def __init__(self, patience: float, clock: Callable[[], float]) -> None:
        """`patience` is the longest time between two polls; `clock` only ever rises. Both in seconds."""
        self._allowed = patience / SHARE
        self._clock = clock
        self._most: int | None = None
        self._handed, self._at = 0, clock()

    def limit(self, wanted: int) -> int:
        """How many of the `wanted` records the next batch may have, at least one."""
        spent, handed = self._clock() - self._at, self._handed
        self._handed = 0
        if handed and spent > self._allowed:
            self._most = max(1, int(handed * self._allowed / spent))
        elif handed and self._most is not None:
            self._most = 2 * self._most if 2 * self._most < wanted else None
        return wanted if self._most is None else min(wanted, self._most)

    def hand_out(self, count: int) -> None:
        """Note that so many records are handed out now."""
        self._handed, self._at = count, self._clock()
