"""Keys and partitions: a storage format, held to Kafka's own figures."""

import pytest

from remit.topics import DISPATCHES, SHARDED, Topic, fixed_specs, murmur2, partition_of, spec, workflow_key


@pytest.mark.parametrize(
    ("data", "signed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_gives_kafkas_own_values(data: bytes, signed: int) -> None:
    """The figures that the Java client is tested with, for every length of the tail."""
    assert murmur2(data) == signed & 0xFFFFFFFF


def test_a_negative_hash_still_lands_on_a_partition() -> None:
    """The sign bit is dropped before the modulo, as Java does it."""
    assert partition_of(b"21", 8) == (-973932308 & 0x7FFFFFFF) % 8


def test_keys_have_one_byte_form() -> None:
    """Tenant, slash, workflow, in UTF-8."""
    assert workflow_key("acme", "reset-1") == b"acme/reset-1"


def test_sharded_topics_agree_on_their_partition_count() -> None:
    """Partition n of each is shard n; the three registries have one partition."""
    counts = {each.name: each.partitions for each in fixed_specs("p.", 6)}
    assert {counts["p." + topic] for topic in SHARDED} == {6}
    assert {name for name, count in counts.items() if count == 1} == {"p.workers", "p.liveness", "p.policies"}


@pytest.mark.parametrize("topic", [*Topic, f"{DISPATCHES}.code"])
def test_history_is_kept_for_ever_except_where_it_is_said(topic: str) -> None:
    """KOPS-2: checkpoints compact, leases and liveness a day, all else kept; append time everywhere."""
    config = spec(topic, "", 8).config
    assert config["message.timestamp.type"] == "LogAppendTime"
    if topic == Topic.CHECKPOINTS:
        assert config["cleanup.policy"] == "compact"
        return
    kept = "86400000" if topic in {Topic.LEASES, Topic.LIVENESS} else "-1"
    assert (config["cleanup.policy"], config["retention.ms"], config["retention.bytes"]) == ("delete", kept, "-1")
