"""Encoding refuses what a field does not allow, with its path and never its value."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pytest

from remit.codec import decode, encode
from remit.errors import CodecError
from remit.events.base import Evidence, Usage
from remit.events.envelope import new_event
from remit.events.inputs import Decision, Lease, Result, ResultBody
from remit.events.transitions import Settlement, Transition
from tests.codec.samples import bare, full

NAIVE = datetime(2026, 7, 19, 12)  # noqa: DTZ001 - what is to be refused
SECRET = "ghp_not_to_be_seen"  # noqa: S105 - a canary
with_ = msgspec.structs.replace


class WiderUsage(Usage, frozen=True, kw_only=True):
    """A usage with a field more."""

    note: str = SECRET


def refusal(event: Any, topic: str = "results") -> str:
    """The message with which an event is refused."""
    with pytest.raises(CodecError) as refused:
        encode(topic, event)
    return str(refused.value)


def result(**body: Any) -> Result:
    """A result whose body has these fields."""
    event: Result = with_(full(Result), result=with_(full(ResultBody), **body))
    return event


def test_a_field_that_is_unknown_missing_or_misspelled_is_named() -> None:
    """AVRO-3: nothing is made of an event with a field too many, too few or misspelled."""
    envelope: dict[str, Any] = {
        "tenant_id": "t",
        "workflow_id": "w",
        "producer": "cli/1",
        "clock_now": datetime.now(UTC),
    }
    fields = {name: getattr(full(Lease), name) for name in ("kind", "worker_id", "incarnation", "task_id")}
    with pytest.raises(CodecError, match="attempt_id"):
        new_event(Lease, **envelope, **fields)
    whole = fields | {"attempt_id": UUID(int=1), "fencing_token": 1}
    assert new_event(Lease, **envelope, **whole).fencing_token == 1
    for typo in ("extra", "progres"):
        misspelled: dict[str, Any] = {typo: SECRET}
        with pytest.raises(CodecError, match=typo):
            new_event(Lease, **envelope, **whole, **misspelled)


def test_a_nested_record_of_another_shape_is_named_by_its_path() -> None:
    """AVRO-3: a dict or a wider record in a nested place is refused, not trimmed, and a field too many is named."""
    assert refusal(result(usage={"tokens_in": 1, "typo": SECRET})) == "result.usage.typo: is no field of Usage"
    assert refusal(result(usage={"tokens_in": 1})) == "result.usage: must be Usage, not dict"
    wider = refusal(result(usage=WiderUsage()))
    assert wider == f"result.usage.{WiderUsage.__struct_fields__[-1]}: is no field of Usage"
    wrong = with_(full(Evidence), output=full(Usage))
    assert refusal(result(evidence=(full(Evidence), wrong))) == (
        "result.evidence[1].output: must be ArtefactRef, not Usage"
    )


def test_null_and_missing_are_told_apart() -> None:
    """AVRO-4, encoding: evidence can't be null; no usage stays no usage, and is not a usage of nothing."""
    assert refusal(result(evidence=None)) == "result.evidence: must be a tuple, not NoneType"
    for usage in (None, Usage()):
        read = decode("results", encode("results", result(usage=usage)))
        assert isinstance(read, Result)
        assert read.result is not None
        assert read.result.usage == usage
        assert type(read.result.usage) is type(usage)


@pytest.mark.parametrize("cost", ["0", "0.00", "-0", "0.000123", "1E+3", "99999999999.99", "-999999999999.999999"])
def test_money_in_range_arrives_exactly(cost: str) -> None:
    """AVRO-5: what fits the scale and precision comes back to the last digit."""
    event = with_(full(Transition), settlement=with_(full(Settlement), cost_gbp=Decimal(cost)))
    read = decode("transitions", encode("transitions", event))
    assert isinstance(read, Transition)
    assert read.settlement is not None
    assert read.settlement.cost_gbp == Decimal(cost)


@pytest.mark.parametrize(
    ("cost", "rule"),
    [
        (0.1 + 0.2, "must be a decimal, not float"),
        (1, "must be a decimal, not int"),
        ("1", "must be a decimal, not str"),
        (Decimal("0.0000001"), "more than 6 digits after the point"),
        (Decimal("9999999999999.99"), "out of range: at most 12 digits before the point"),
        (Decimal(-(10**12)), "out of range: at most 12 digits before the point"),
        (Decimal("1E+30"), "out of range: at most 12 digits before the point"),
        (Decimal("NaN"), "must be a finite number"),
        (Decimal("-Infinity"), "must be a finite number"),
    ],
)
def test_money_that_does_not_fit_is_refused(cost: Any, rule: str) -> None:
    """AVRO-5: floats, digits beyond the scale and what is out of range are refused with the path, never cut."""
    event = with_(full(Transition), settlement=with_(full(Settlement), cost_gbp=cost))
    assert refusal(event, "transitions") == f"settlement.cost_gbp: {rule}"


def test_a_naive_time_is_refused_by_name() -> None:
    """TIME-1: a time without a zone is never guessed, at whatever depth it stands."""
    rule = "a time without a zone; give it one, such as UTC"
    assert refusal(with_(full(Result), occurred_at=NAIVE)) == f"occurred_at: {rule}"
    evidence = with_(full(Evidence), started_at=NAIVE)
    assert refusal(result(evidence=(evidence,))) == f"result.evidence[0].started_at: {rule}"
    with pytest.raises(CodecError, match=r"^clock_now: a time without a zone"):
        new_event(Lease, tenant_id="t", workflow_id="w", producer="cli/1", clock_now=NAIVE)


def test_the_machines_zone_changes_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """TIME-1: same bytes in every zone; the same instant in another zone is the same bytes too."""
    import time  # noqa: PLC0415 - only here is the process's zone set

    noon = datetime(2026, 7, 19, 12, tzinfo=UTC)
    written = set()
    for zone in ("Asia/Karachi", "America/St_Johns", "UTC"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        written |= {
            encode("leases", with_(bare(Lease), occurred_at=at))
            for at in (noon, noon.astimezone(timezone(timedelta(hours=5))), noon.astimezone())
        }
    monkeypatch.undo()
    time.tzset()
    assert len(written) == 1
    assert decode("leases", written.pop()).occurred_at == noon


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("task_id", 7, "must be text, not int"),
        ("task_id", None, "must be text, not NoneType"),
        ("task_id", "\ud800", "holds a character that UTF-8 can't"),
        ("attempt_id", str(UUID(int=1)), "must be a UUID, not str"),
        ("fencing_token", True, "must be a whole number, not bool"),
        ("fencing_token", 2**63, "beyond 64 bits"),
        ("fencing_token", 1.0, "must be a whole number, not float"),
        ("occurred_at", "2026-07-19T12:00:00Z", "must be a time, not str"),
        ("kind", "submitted", "must be ResultKind, not str"),
    ],
)
def test_each_type_is_held_to(field: str, value: Any, rule: str) -> None:
    """A value of another type than its field's is refused, however alike it looks."""
    assert refusal(with_(full(Result), **{field: value})) == f"{field}: {rule}"


def test_items_of_maps_and_lists_are_held_to_their_type() -> None:
    """Also what stands in a list or a map; an entry is named by its number, for a key may be a secret."""
    assert refusal(result(environment={"a": "1", SECRET: 2})) == ("result.environment[entry 1]: must be text, not int")
    assert refusal(result(environment=[SECRET])) == "result.environment: must be a mapping, not list"
    evidence = with_(full(Evidence), checks=("a", 3))
    assert refusal(result(evidence=(evidence,))) == "result.evidence[0].checks[1]: must be text, not int"


def test_a_record_of_another_topic_is_refused() -> None:
    """A topic holds its own record only; a pool's dispatches go by one schema."""
    assert refusal(full(Decision)) == "topic results holds Result, not Decision"
    assert refusal(full(Decision), "nowhere") == "topic nowhere has no schema"
    assert refusal(full(Decision), "results.nowhere") == "topic results.nowhere has no schema"
