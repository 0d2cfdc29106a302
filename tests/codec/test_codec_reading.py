"""Decoding: what was written comes back; all else is a CodecError that says where."""

import json
from decimal import Decimal
from io import BytesIO
from typing import Any

import fastavro
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.codec import TOPIC_RECORDS, decode, encode
from remit.codec.catalogue import catalogue
from remit.codec.frame import HEADER_BYTES, header
from remit.codec.plain import plain
from remit.errors import CodecError, UnknownSchemaError
from remit.events.base import Event, InputVersion
from remit.events.inputs import Decision, DecisionKind, Lease, LeaseKind, Receipt, Result, ResultBody
from tests.codec.samples import bare, full, of_every_kind
from tests.strategies import topics_and_events

with_ = msgspec.structs.replace
INPUTS = ("contracts", "leases", "results", "inspections", "decisions", "receipts")


def refusal(topic: str, value: bytes | None) -> str:
    """The message with which a value is refused."""
    with pytest.raises(CodecError) as refused:
        decode(topic, value)
    return str(refused.value)


@given(topics_and_events())
@settings(max_examples=120, deadline=None)
def test_what_was_written_comes_back(written: tuple[str, Event]) -> None:
    """AVRO-3: decode(encode(x)) == x, for events of every type, and the bytes are the same again."""
    topic, event = written
    value = encode(topic, event)
    read = decode(topic, value)
    assert read == event
    assert type(read) is type(event)
    assert encode(topic, read) == value


@pytest.mark.parametrize("topic", TOPIC_RECORDS)
def test_every_kind_survives(topic: str) -> None:
    """AVRO-7: events with the same fields and another meaning stay apart."""
    values = {name: encode(topic, event) for name, event in of_every_kind(topic)}
    assert len(set(values.values())) == len(values)
    for name, event in of_every_kind(topic):
        assert decode(topic, values[name]) == event


def test_alike_events_keep_their_meaning() -> None:
    """AVRO-7: approve and refuse, claim and decline; and JSON text keeps number, digits and truth apart."""
    for topic, event, kinds in (
        ("decisions", full(Decision), (DecisionKind.APPROVE, DecisionKind.REFUSE)),
        ("leases", full(Lease), (LeaseKind.CLAIM, LeaseKind.DECLINE)),
    ):
        read: list[Any] = [decode(topic, encode(topic, with_(event, kind=kind))) for kind in kinds]
        assert [each.kind for each in read] == list(kinds)
    inputs = tuple(with_(full(InputVersion), value=json.dumps(value)) for value in (1, "1", True))
    event = with_(full(Result), result=with_(full(ResultBody), input_versions=inputs))
    result = decode("results", encode("results", event))
    assert isinstance(result, Result)
    assert result.result is not None
    assert [json.loads(each.value or "") for each in result.result.input_versions] == [1, "1", True]


def test_pools_share_a_schema() -> None:
    """Each pool's dispatches are read and written by the one schema."""
    event = full(TOPIC_RECORDS["dispatches"])
    value = encode("dispatches.coders", event)
    assert value == encode("dispatches", event)
    assert decode("dispatches.testers", value) == event


@pytest.mark.parametrize("topic", INPUTS)
def test_what_is_no_record_says_where(topic: str) -> None:
    """RETRY-4: random bytes, a truncated body, an empty and a null value are each refused, with the place."""
    value = encode(topic, full(TOPIC_RECORDS[topic]))
    assert refusal(topic, None) == "value is null"
    assert refusal(topic, b"") == "value is empty"
    assert refusal(topic, b"{not avro}") == "byte 0: magic byte is 0x7b, not 0x00"
    assert refusal(topic, value[:3]) == "truncated: 3 bytes, a header has 5"
    for length in range(HEADER_BYTES, len(value)):
        assert "bytes" in refusal(topic, value[:length]) or "near byte" in refusal(topic, value[:length])


@pytest.mark.parametrize("topic", INPUTS)
def test_an_unknown_kind_can_be_read(topic: str) -> None:
    """RETRY-4 (e): a record of unknown kind is a record; what follows is for its reader to decide."""
    event: Any = bare(TOPIC_RECORDS[topic])
    unknown = type(event.kind)("UNKNOWN")
    read: Any = decode(topic, encode(topic, with_(event, kind=unknown)))
    assert read.kind is unknown


def test_left_over_bytes_are_corruption() -> None:
    """AVRO-1: a byte after the end of the record is never ignored."""
    value = encode("leases", full(Lease))
    assert refusal("leases", value + b"\x00\x00") == f"byte {len(value)}: 2 bytes after the end of the record"


def test_a_schema_id_that_is_not_ours_is_told_apart() -> None:
    """An id that this build doesn't know is an error of its own, for a newer build may know it."""
    with pytest.raises(UnknownSchemaError, match="schema id 1 is not in the catalogue"):
        decode("leases", header(1) + b"\x00")


def test_a_record_of_another_topic_is_refused() -> None:
    """A well-formed record in the wrong topic is not read as that topic's."""
    leases = catalogue().newest("leases").id
    assert refusal("results", encode("leases", full(Lease))) == f"schema id {leases} is of topic leases, not of results"


def test_an_amount_out_of_range_is_refused_on_reading() -> None:
    """AVRO-5: a foreign writer's amount beyond the precision is refused; the Avro reader would round it."""
    value = encode("decisions", with_(full(Decision), minutes_spent=Decimal("999999999999.999999")))
    assert decode("decisions", value).event_id == full(Decision).event_id
    unscaled = (10**18 - 1).to_bytes(8, "big", signed=True)
    beyond = value.replace(b"\x10" + unscaled, b"\x10" + (10**18).to_bytes(8, "big", signed=True))
    assert beyond != value
    assert refusal("decisions", beyond) == "minutes_spent: out of range"


def test_a_time_out_of_range_is_refused_on_reading() -> None:
    """A foreign writer's time that no calendar holds is refused by its path, in a list too."""
    evidence = plain(full(Result))["result"][1]["evidence"]
    evidence[1:] = [{**evidence[0], "ended_at": 2**62}]
    body = plain(full(Result))["result"][1] | {"evidence": evidence}
    for fields, path in (
        ({"occurred_at": -(2**62)}, "occurred_at"),
        ({"result": ("remit.ResultBody", body)}, "result.evidence[1].ended_at"),
    ):
        assert refusal("results", foreign("results", plain(full(Result)) | fields)) == f"{path}: out of range"


def foreign(topic: str, fields: dict[str, Any]) -> bytes:
    """A record as another writer of the newest schema could write it."""
    newest = catalogue().newest(topic)
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(catalogue().schema(newest)), fields)
    return header(newest.id) + out.getvalue()


@given(st.sampled_from(sorted(TOPIC_RECORDS)), st.binary(max_size=200), st.booleans())
@settings(max_examples=150, deadline=None)
def test_random_bytes_raise_nothing_else(topic: str, noise: bytes, framed: bool) -> None:
    """RETRY-4 (a): whatever the bytes are, they decode or are a CodecError."""
    value = header(catalogue().newest(topic).id) + noise if framed else noise
    try:
        decode(topic, value)
    except CodecError as error:
        assert str(error)  # noqa: PT017 - either outcome is right


@given(st.data(), st.sampled_from(sorted(TOPIC_RECORDS)))
@settings(max_examples=100, deadline=None)
def test_damaged_records_raise_nothing_else(data: st.DataObject, topic: str) -> None:
    """RETRY-4 (b): a record with bytes changed, cut or added decodes or is a CodecError."""
    value = bytearray(encode(topic, full(TOPIC_RECORDS[topic])))
    start = data.draw(st.integers(HEADER_BYTES, len(value)))
    end = data.draw(st.integers(start, min(len(value), start + 12)))
    value[start:end] = data.draw(st.binary(max_size=12))
    try:
        decode(topic, bytes(value))
    except CodecError as error:
        assert str(error)  # noqa: PT017 - either outcome is right


def test_no_message_quotes_what_was_read() -> None:
    """REDACT-3: the error of a record that can't be read holds nothing of it."""
    event = with_(full(Receipt), reason="ghp_not_to_be_seen")
    value = encode("receipts", event)
    assert "ghp" not in refusal("receipts", value[:-3])
    assert "ghp" not in refusal("receipts", value + b"ghp_")


def test_the_reader_is_not_the_only_one() -> None:
    """The frame's body is plain Avro: fastavro alone reads it with the text of the catalogue."""
    value = encode("leases", full(Lease))
    entry = catalogue().entry(int.from_bytes(value[1:5], "big"))
    schema = fastavro.parse_schema(json.loads(catalogue().text(entry)))
    read: Any = fastavro.schemaless_reader(BytesIO(value[HEADER_BYTES:]), schema, None)
    assert read["worker_id"] == full(Lease).worker_id
