"""What the log on Kafka decides without a broker, and how it fails when there is none."""

import pytest
from confluent_kafka import TopicPartition

from remit.errors import LogError
from remit.log.kafka import cluster
from remit.log.kafka.cluster import Cluster, count_faults
from remit.log.kafka.log import KafkaLog
from remit.log.kafka.membership import misalignment
from remit.log.kafka.records import CONSUMER
from remit.log.kafka.session import MEMBER
from remit.log.protocols import Partition
from remit.topics import Topic
from tests.log.rig import message

NOWHERE = "127.0.0.1:1"
TOPICS = frozenset({"a", "b"})


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> KafkaLog:
    """A log whose cluster isn't there."""
    monkeypatch.setattr(cluster, "ANSWER_S", 0.5)
    return KafkaLog(NOWHERE, "t.", 4)


def test_consumers_store_no_offsets() -> None:
    """No consumer stores or commits an offset by itself, and none jumps over a gap (KOPS-8, KOPS-1)."""
    for config in (CONSUMER, MEMBER):
        assert config["enable.auto.offset.store"] is False
        assert config["enable.auto.commit"] is False
        assert config["auto.offset.reset"] == "error"
        assert config["isolation.level"] == "read_committed"


@pytest.mark.parametrize(
    ("assigned", "aligned"),
    [
        ([], True),
        ([("a", 0), ("b", 0)], True),
        ([("a", 0), ("b", 0), ("b", 1)], False),
        ([("a", 0), ("b", 1)], False),
        ([("a", 0)], False),
        ([("a", 0), ("b", 0), ("c", 0)], True),
        ([("a", 0), ("b", 0), ("c", 1)], False),
    ],
)
def test_alignment(assigned: list[tuple[str, int]], aligned: bool) -> None:
    """An assignment makes shards only if every topic comes with the same partition numbers."""
    assert (misalignment(TOPICS, [TopicPartition(*each) for each in assigned]) is None) is aligned


def test_count_faults_name_both_counts() -> None:
    """A missing topic and a differing count are one line each."""
    assert count_faults({"a": 4, "b": 4, "c": 4}, {"a": 4, "b": 8, "z": 1}) == [
        "b: 8 partitions found, agreed are 4",
        "c: no partitions found, agreed are 4",
    ]


def test_no_cluster(log: KafkaLog, capfd: pytest.CaptureFixture[str]) -> None:
    """Without a cluster everything that needs one is a LogError, and nothing is printed."""
    reader = log.reader()
    with pytest.raises(LogError):
        reader.ends([Partition(Topic.CONTRACTS, 0)])
    with pytest.raises(LogError):
        log.writer()
    with pytest.raises(LogError):
        log.session("s1")
    reader.assign({Partition(Topic.CONTRACTS, 0): 0})
    assert reader.poll(1, 0.1) == []
    assert reader.position(Partition(Topic.CONTRACTS, 0)) == 0
    reader.close()
    assert capfd.readouterr().err == ""


def test_unacknowledged(log: KafkaLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that nobody acknowledges in time is a LogError that says so (KOPS-6)."""
    monkeypatch.setattr(Cluster, "check", lambda *_: None)
    writer = log.writer()
    with pytest.raises(LogError, match="not acknowledged"):
        writer.append([message(Topic.CONTRACTS, "x")], timeout=0.2)
    writer.close()


def test_not_assigned(log: KafkaLog) -> None:
    """The position of a partition that isn't assigned is a LogError, never a number."""
    reader = log.reader()
    with pytest.raises(LogError, match="not assigned"):
        reader.position(Partition(Topic.CONTRACTS, 0))
    reader.close()
