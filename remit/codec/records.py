"""Which event stands in which topic, and under which name a topic's schema is kept. Pure; anyone may import it."""

from collections.abc import Mapping
from types import MappingProxyType

from remit.errors import CodecError
from remit.events.base import Event
from remit.events.inputs import Contract, Decision, Inspection, Lease, Receipt, Result
from remit.events.service import Checkpoint, DeadLetter, Dispatch, Liveness, Policy, Worker
from remit.events.transitions import Transition
from remit.topics import DISPATCHES, Topic

TOPIC_RECORDS: Mapping[str, type[Event]] = MappingProxyType(
    {
        Topic.CONTRACTS.value: Contract,
        DISPATCHES: Dispatch,
        Topic.LEASES.value: Lease,
        Topic.RESULTS.value: Result,
        Topic.INSPECTIONS.value: Inspection,
        Topic.DECISIONS.value: Decision,
        Topic.RECEIPTS.value: Receipt,
        Topic.TRANSITIONS.value: Transition,
        Topic.CHECKPOINTS.value: Checkpoint,
        Topic.WORKERS.value: Worker,
        Topic.LIVENESS.value: Liveness,
        Topic.POLICIES.value: Policy,
        Topic.DEAD_LETTERS.value: DeadLetter,
    }
)
"""Topic, as its schema is named, to the class of its events."""


def schema_topic(topic: str) -> str:
    """The name that a topic's schema goes by: its own, or `dispatches` for each pool's; CodecError if there is none."""
    name = DISPATCHES if topic.startswith(f"{DISPATCHES}.") else topic
    if name not in TOPIC_RECORDS:
        raise CodecError(f"topic {topic} has no schema")
    return name
