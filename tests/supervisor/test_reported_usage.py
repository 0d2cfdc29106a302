"""What a result says it used: what is left out, exact money, and what can't be."""

from decimal import Decimal

import msgspec
import pytest
from msgspec.structs import replace

from remit.codec import decode, encode
from remit.errors import CodecError
from remit.events.base import Usage
from remit.events.inputs import Result, ResultBody
from remit.events.service import Worker
from remit.events.transitions import Transition
from remit.result.envelope import check_envelope
from remit.topics import Topic
from tests.codec.samples import full
from tests.supervisor import bodies
from tests.supervisor.lab import Lab

GOOD = {"status": "completed", "output": {}, "evidence": []}
COSTS = ("0", "0.00", "-0", "0.000123", "1E+3", "0.1", "0.2", "99999999999.99")


def test_usage_that_is_left_out_books_the_whole_reservation_as_estimated(lab: Lab) -> None:
    """AVRO-4: missing and null alike, for an envelope has one meaning for both; the event says that it is estimated."""
    for document in (GOOD, GOOD | {"usage": None}):
        assert check_envelope(document).usage is None
    offer = lab.start("code")
    accepted = lab.finish(offer, bodies.good(offer, lab, usage=None))[0]
    assert accepted.kind.value == "result_accepted"
    assert accepted.settlement is not None
    assert offer.offer is not None
    assert accepted.settlement.usage.estimated
    assert accepted.settlement.usage.tokens_in == offer.offer.remaining.tokens
    assert lab.spent()[1] == offer.offer.remaining.tokens


@pytest.mark.parametrize("cost", COSTS)
def test_a_reported_cost_travels_exactly(cost: str) -> None:
    """AVRO-5: as text, from the envelope to the event and back, to the last digit."""
    usage = check_envelope(GOOD | {"usage": {"cost_gbp": cost}}).usage
    assert usage is not None
    assert usage.cost_gbp == Decimal(cost)


@pytest.mark.parametrize("cost", [0.1 + 0.2, 0, "0.0000001", "9999999999999.99", "NaN"])
def test_a_reported_cost_that_does_not_fit_is_refused_with_its_path(cost: object) -> None:
    """AVRO-5: floats, digits beyond the scale, and what is out of range; never cut."""
    with pytest.raises(Exception, match=r"usage\.cost_gbp must (be money as text|have at most)"):
        check_envelope(GOOD | {"usage": {"cost_gbp": cost}})


def test_sums_are_exact_to_the_last_digit_in_event_and_state(lab: Lab) -> None:
    """AVRO-5: 0.1 + 0.2 + 0.000123 is 0.300123, on the log and in the state; the views' sums are tried beside them."""
    for task_id, cost in (("code", "0.1"), ("test", "0.2"), ("lint", "0.000123")):
        offer = lab.start(task_id)
        lab.finish(offer, bodies.good(offer, lab, usage=Usage(cost_gbp=Decimal(cost))))
    read = [decode(Topic.TRANSITIONS, encode(Topic.TRANSITIONS, each)) for each in lab.history]
    booked = [each.settlement.cost_gbp for each in read if isinstance(each, Transition) and each.settlement]
    assert sum(booked, Decimal(0)) == Decimal("0.300123")
    assert lab.spent()[0] == Decimal("0.300123")


@pytest.mark.parametrize("cost", ["99999999999.99", "999999999999.999999"])
def test_more_than_could_be_booked_is_a_refusal_and_no_crash(lab: Lab, cost: str) -> None:
    """AVRO-5: an amount at the end of the range neither stops the supervisor nor breaks a sum."""
    offer = lab.start("code")
    found = lab.finish(offer, bodies.good(offer, lab, usage=Usage(cost_gbp=Decimal(cost))))
    assert found[0].kind.value in {"result_refused", "result_accepted"}
    for each in lab.history:
        encode(Topic.TRANSITIONS, each)
    lab.check_replay()


def test_out_of_range_never_gets_as_far_as_the_log() -> None:
    """AVRO-5: a precise error where the record is made."""
    body = replace(full(ResultBody), usage=Usage(cost_gbp=Decimal("9999999999999.99")))
    with pytest.raises(
        CodecError, match=r"^result\.usage\.cost_gbp: out of range: at most 12 digits before the point$"
    ):
        encode(Topic.RESULTS, replace(full(Result), result=body))


def test_a_registration_names_its_price_and_holds_no_money() -> None:
    """AVRO-5: prices stand in the policy alone, where each is tried; a registration refers to an entry of it."""
    assert "price_entry" in Worker.__struct_fields__
    assert not any(field.type in {Decimal, Decimal | None} for field in msgspec.structs.fields(Worker))
