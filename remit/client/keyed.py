"""Reads what lies under the keys of a few workflows, up to the end that it had. The command line imports it.

Records of other workflows are passed over undecoded.
"""

from collections.abc import Collection, Iterator
from contextlib import closing

from remit.client.history import HUNG_S
from remit.codec import decode
from remit.errors import CodecError
from remit.events.base import Event
from remit.events.inputs import Result
from remit.events.transitions import Transition
from remit.log.catch_up import replay
from remit.log.protocols import Log, Partition, Recorded
from remit.topics import Topic, partition_of, workflow_key

Place = tuple[str, str, int]
"""Tenant, workflow, sequence."""


def read_keyed(log: Log, topic: Topic, keys: Collection[bytes]) -> Iterator[tuple[Recorded, Event]]:
    """Every readable record of a sharded topic under one of `keys`, shard by shard in log order; LogError."""
    here = {Partition(topic, partition_of(key, log.partitions)) for key in keys}
    if not here:
        return
    with closing(log.reader()) as reader:
        starts, pins = reader.starts(here), reader.ends(here)
        for batch in replay(reader, starts, pins, timeout=HUNG_S):
            for recorded in batch:
                event = _event(recorded) if recorded.key in keys else None
                if event is not None:
                    yield recorded, event


def _event(recorded: Recorded) -> Event | None:
    """None for bytes that this build can't read: whoever decides on them has said so in the log."""
    try:
        return decode(recorded.topic, recorded.value)
    except CodecError:
        return None


def transitions_at(log: Log, places: Collection[Place]) -> dict[Place, Transition]:
    """The transitions with those sequences, in one reading of their shards."""
    wanted = frozenset(places)
    keys = {workflow_key(tenant_id, workflow_id) for tenant_id, workflow_id, _ in wanted}
    found = (event for _, event in read_keyed(log, Topic.TRANSITIONS, keys) if isinstance(event, Transition))
    at = (((each.tenant_id, each.workflow_id, each.sequence), each) for each in found)
    return {place: each for place, each in at if place in wanted}


def results(log: Log, tenant_id: str, workflow_id: str) -> list[Result]:
    """Every result that workers sent for a workflow, whatever became of it."""
    found = read_keyed(log, Topic.RESULTS, {workflow_key(tenant_id, workflow_id)})
    return [event for _, event in found if isinstance(event, Result)]
