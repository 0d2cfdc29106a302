"""No lease or offer ends for a silence that was none: what came in time and lies unread. Only `watch` imports it.

Where a clock is off or jumps, leases may end early or late by as much; what comes after that is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from remit.codec import decode
from remit.errors import CodecError
from remit.events.inputs import Lease, LeaseKind, Result
from remit.events.transitions import Transition, TransitionKind
from remit.log.protocols import Partition, Recorded
from remit.topics import Topic

from .laws import hold
from .parts import state
from .policy import LEASE_S
from .reading import read

if TYPE_CHECKING:
    from .ground import Ground
    from .process import SupervisorProcess

LAW = "6 (nothing in time expires)"
OFF = frozenset({"skew", "jump"})
SIGNS = frozenset({LeaseKind.CLAIM, LeaseKind.RENEWED})


def check(ground: Ground, process: SupervisorProcess, before: state.State, event: Transition) -> None:
    """Hold the end of a lease or an offer to what its worker wrote."""
    off = any(each.kind in OFF and each.at <= ground.timeline.now for each in ground.plan.faults)
    if off or not isinstance(before, state.Workflow):
        return
    if event.kind is TransitionKind.LEASE_EXPIRED and event.reason == "silence":
        _lease(ground, process, event)
    elif event.kind is TransitionKind.OFFER_EXPIRED and event.reason == "offer":
        _offer(ground, process, before, event)


def _lease(ground: Ground, process: SupervisorProcess, event: Transition) -> None:
    signs = list(_signs(ground, process, event))
    heard = max((each.appended_at for each, read_ in signs if read_), default=None)
    if heard is None:
        return
    over = heard + timedelta(seconds=LEASE_S)
    unread = [each for each, read_ in signs if not read_ and each.appended_at < over]
    hold(
        not unread, LAW, f"the lease of {event.task_id} #{event.fencing_token} ended, and {_places(unread)} lay unread"
    )


def _offer(ground: Ground, process: SupervisorProcess, before: state.Workflow, event: Transition) -> None:
    phase = before.tasks[event.task_id or ""].phase
    until = phase.until if isinstance(phase, state.Offered) else datetime.max.replace(tzinfo=event.decided_at.tzinfo)
    unread = [each for each, read_ in _signs(ground, process, event) if not read_ and each.appended_at < until]
    hold(
        not unread, LAW, f"the offer of {event.task_id} #{event.fencing_token} ended, and {_places(unread)} lay unread"
    )


def _signs(ground: Ground, process: SupervisorProcess, event: Transition) -> Iterator[tuple[Recorded, bool]]:
    """What the attempt's own worker wrote, and whether the supervisor had read it."""
    shards = process.session.shards
    places = [Partition(topic, shard) for topic in (Topic.LEASES, Topic.RESULTS) for shard in shards]
    for recorded in read(ground.log, places):
        if _is_of(recorded, event):
            yield recorded, recorded.offset < process.session.position(recorded.source)


def _is_of(recorded: Recorded, event: Transition) -> bool:
    try:
        said = decode(recorded.topic, recorded.value)
    except CodecError:
        return False
    if not isinstance(said, Lease | Result) or (isinstance(said, Lease) and said.kind not in SIGNS):
        return False
    named = (said.attempt_id, said.fencing_token, said.worker_id)
    return named == (event.attempt_id, event.fencing_token, event.worker_id)


def _places(records: list[Recorded]) -> str:
    return ", ".join(f"{each.topic}[{each.partition}]@{each.offset}" for each in records)
