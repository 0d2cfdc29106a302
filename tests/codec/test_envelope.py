"""Envelope, causation, keys and headers: what the one constructor makes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.codec import TOPIC_RECORDS, decode
from remit.errors import CodecError
from remit.events.base import Cause, Event
from remit.events.envelope import cause_of, key_of, message, new_event
from remit.events.inputs import Decision, DecisionKind, Lease
from remit.events.service import Checkpoint, CheckpointKind, DeadLetter, Dispatch, Liveness, Policy, Worker
from remit.events.transitions import Transition
from remit.log.protocols import Message, Recorded
from remit.topics import SHARDED
from tests.codec.samples import bare, full
from tests.strategies import topics_and_events

NOW = datetime(2026, 7, 19, 12, tzinfo=UTC)
with_ = msgspec.structs.replace


def recorded(sent: Message, offset: int, partition: int = 3) -> Recorded:
    """A message as it lies in the log."""
    return Recorded(sent.topic, sent.partition or partition, offset, NOW, sent.key, sent.value, sent.headers)


def decision(**fields: Any) -> Decision:
    """A person's approval, made by the constructor."""
    envelope: dict[str, Any] = {"tenant_id": "acme", "workflow_id": "w-1", "producer": "cli/1", "clock_now": NOW}
    return new_event(Decision, **(envelope | {"kind": DecisionKind.APPROVE, "person": "ada"} | fields))


def headers_of(event: Event, topic: str, traceparent: str | None = None) -> dict[str, str]:
    """The headers of an event's message, by name."""
    return {name: value.decode() for name, value in message(event, topic, traceparent).headers}


@given(topics_and_events(), st.integers(0, 31), st.integers(0, 2**63 - 1))
@settings(max_examples=60, deadline=None)
def test_what_follows_names_its_cause(written: tuple[str, Event], partition: int, offset: int) -> None:
    """Through the log and back, an event's cause is the id and the coordinates of the record it followed from."""
    topic, first = written
    if isinstance(first, Transition) and not first.workflow_id + first.tenant_id:
        first = with_(first, workflow_id="w")
    sent = message(first, topic)
    lies = Recorded(topic, partition, offset, NOW, sent.key, sent.value, sent.headers)
    second = decision(cause=cause_of(lies, decode(topic, lies.value)))
    read = decode("decisions", message(second, "decisions").value)
    assert read.cause == Cause(event_id=first.event_id, topic=topic, partition=partition, offset=offset)
    assert decision().cause is None


def test_fresh_ids_rise_and_derived_ids_are_kept() -> None:
    """A client's id is a UUIDv7, each another; a derived id is taken as it is."""
    ids = [decision().event_id for _ in range(100)]
    assert {each.version for each in ids} == {7}
    assert len(set(ids)) == 100
    assert decision(event_id=ids[0]).event_id == ids[0]
    assert decision().occurred_at == NOW


def test_every_event_has_the_key_of_its_topic() -> None:
    """Sharded topics by workflow, a worker's by worker, dead letters by coordinates, policies by hash."""
    keys = {topic: key_of(full(cls)) for topic, cls in TOPIC_RECORDS.items()}
    workflow = "text é/text é".encode()
    worker = full(Worker)
    assert keys.pop("dispatches") == keys.pop("workers") == keys.pop("liveness") == worker.worker_id.encode()
    assert keys.pop("dead-letters") == "text é/123456789/123456789".encode()
    assert keys.pop("policies") == full(Policy).policy_sha256.encode()
    assert key_of(with_(full(Checkpoint), kind=CheckpointKind.WORKFLOW)) == workflow
    del keys["checkpoints"]
    assert set(keys.values()) == {workflow}
    assert set(keys) <= set(SHARDED)
    assert [type(full(cls)) for cls in (Dispatch, Liveness, DeadLetter)] == [Dispatch, Liveness, DeadLetter]


def test_a_shards_own_records_go_to_its_partition() -> None:
    """A marker, and a note that belongs to no workflow, have the shard's key and its partition."""
    marker = with_(bare(Checkpoint), kind=CheckpointKind.SHARD, shard=5)
    note = with_(bare(Transition), tenant_id="", workflow_id="", cause=with_(full(Cause), partition=5))
    for event, topic in ((marker, "checkpoints"), (note, "transitions")):
        sent = message(event, topic)
        assert (sent.key, sent.partition) == (b"_shard/5", 5)
        assert headers_of(event, topic)["ce_subject"] == "_shard/5"
    assert message(full(Transition), "transitions").partition is None
    with pytest.raises(CodecError, match=r"cause\.partition"):
        message(with_(note, cause=None), "transitions")


def test_headers_are_cloud_events() -> None:
    """Binary mode: the attributes as headers, the body untouched."""
    event = decision(producer="cli/host 1", clock_now=NOW + timedelta(microseconds=5))
    headers = headers_of(event, "decisions")
    assert headers.pop("traceparent")
    assert headers == {
        "ce_specversion": "1.0",
        "ce_id": str(event.event_id),
        "ce_source": "/remit/cli/host%201",
        "ce_type": "remit.decisions.approve",
        "ce_time": "2026-07-19T12:00:00.000005Z",
        "ce_subject": "acme/w-1",
        "content-type": "application/avro",
    }
    assert headers_of(full(Dispatch), "dispatches.coders")["ce_type"] == "remit.dispatches.cancel"


@given(topics_and_events())
@settings(max_examples=60, deadline=None)
def test_every_event_can_be_sent(written: tuple[str, Event]) -> None:
    """Whatever its fields hold, an event has a message, and its headers are text."""
    topic, event = written
    if isinstance(event, Transition) and not event.workflow_id + event.tenant_id:
        event = with_(event, workflow_id="w")
    sent = message(event, topic)
    assert decode(topic, sent.value) == event
    assert all(value.decode() and name.isascii() for name, value in sent.headers if name != "ce_subject")


def test_a_workflow_is_one_trace() -> None:
    """Trace = workflow, span = event; a given trace context is passed on, one that is none is not."""
    first, second = decision(), decision()
    other = decision(workflow_id="w-2")
    traces = [headers_of(each, "decisions")["traceparent"].split("-") for each in (first, second, other)]
    assert {(parts[0], len(parts[1]), len(parts[2]), parts[3]) for parts in traces} == {("00", 32, 16, "01")}
    assert traces[0][1] == traces[1][1] != traces[2][1]
    assert len({parts[2] for parts in traces}) == 3
    given_ = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    assert headers_of(first, "decisions", given_)["traceparent"] == given_
    for malformed in ("", "x", given_.upper(), given_.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32)):
        assert headers_of(first, "decisions", malformed)["traceparent"] == "-".join(traces[0])


def test_an_event_that_does_not_fit_makes_no_message() -> None:
    """The value is checked before key and headers are made of it."""
    with pytest.raises(CodecError, match="worker_id: must be text"):
        message(with_(full(Lease), worker_id=None), "leases")
    with pytest.raises(CodecError, match="worker_id: must be text"):
        message(with_(full(Liveness), worker_id=None), "liveness")


def test_a_message_lies_where_it_was_sent() -> None:
    """What is read back has the key and the headers of what was written."""
    sent = message(decision(), "decisions")
    lies = recorded(sent, 7)
    assert (lies.key, lies.headers, lies.value) == (sent.key, sent.headers, sent.value)
