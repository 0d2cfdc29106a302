"""Reads a reader up to a pinned end: the replay of a takeover and every other catch-up. Anyone may import it.

The end is pinned once, as the high watermark. Only `position()` tells when it is reached: commit markers and aborted
records take offsets that no record shows.
"""

import time
from collections.abc import Iterator, Mapping

from remit.errors import LogError
from remit.log.protocols import Partition, Reader, Recorded

BATCH = 500
WAIT_S = 0.2


def replay(
    reader: Reader, positions: Mapping[Partition, int], pins: Mapping[Partition, int], *, timeout: float
) -> Iterator[list[Recorded]]:
    """Assign `positions` and yield non-empty batches until every pin is reached.

    `pins` are ends as `Reader.ends` gives them; a partition without one is read along. Records behind a pin may be
    among those yielded. LogError when a partition short of its pin has not moved for `timeout` seconds.
    """
    reader.assign(positions)
    seen = {partition: positions[partition] for partition in pins}
    moved_at = time.monotonic()
    while any(seen[partition] < pin for partition, pin in pins.items()):
        if batch := reader.poll(BATCH, WAIT_S):
            yield batch
        now = {partition: reader.position(partition) for partition in pins}
        if now != seen:
            # The consumer of this generator may have taken long over the batch: time counts from here.
            seen, moved_at = now, time.monotonic()
        elif time.monotonic() - moved_at > timeout:
            raise LogError(_stuck(seen, pins, timeout))


def _stuck(seen: Mapping[Partition, int], pins: Mapping[Partition, int], timeout: float) -> str:
    short = ", ".join(
        f"{partition.topic}[{partition.number}] at {seen[partition]} of {pin}"
        for partition, pin in sorted(pins.items())
        if seen[partition] < pin
    )
    return f"the last stable offset has not reached the pinned end for {timeout:.0f} s, a transaction hangs: {short}"
