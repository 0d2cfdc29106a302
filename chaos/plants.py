"""Faults of the product, planted in the supervisors of a run: one guard each is taken away, and the run must see it.

The product knows nothing of it. `python -m chaos --plant NAME` ends well only if the plant's invariant was broken.
"""

from collections.abc import Callable
from dataclasses import dataclass

from remit.log.protocols import Partition
from supervisor import takeover
from supervisor.shard import Shards

from .points import PointedProducer
from .schedule import Act, Order, order

VARIABLE = "CHAOS_PLANT"
Orders = Callable[[int, str, int], Order | None]
ZOMBIE_S = 8.5
"""Longer than a session, so that another has taken over; shorter than a record may wait to be sent."""
STEPS = 15


@dataclass(frozen=True)
class Plant:
    """How it is planted, which invariant must see it, and what supervisors are ordered to do to themselves."""

    install: Callable[[], None]
    seen_by: str
    orders: Orders = order
    alone: bool = False  # no other faults are done, for these could hide it


def _repeats() -> None:
    """A takeover forgets which inputs were decided, and reads them all from the start."""

    def from_the_first(partition: Partition, shards: Shards, committed: int, *, first: int) -> int:  # noqa: ARG001 - the signature
        return first

    takeover.start = from_the_first
    Shards.is_decided = lambda *_: False  # type: ignore[method-assign] # planting a fault


def _unfenced() -> None:
    """A step sends no offsets, so nothing fences a process whose shards were taken over while it was stopped."""
    PointedProducer.send_offsets_to_transaction = lambda *_: None  # type: ignore[method-assign] # planting a fault


def _in_midst(_seed: int, target: str, life: int) -> Order | None:
    """Stop the first supervisor between deciding a step and writing it, until another has its shards."""
    stops = target == "supervisor-1" and life % 2 == 0
    return Order("before_flush", STEPS, Act.STOP, ZOMBIE_S) if stops else None


PLANTS = {
    "repeats": Plant(_repeats, "every input decided once"),
    "unfenced": Plant(_unfenced, "no effect of a zombie", _in_midst, alone=True),
}
