"""What the log on Kafka decides without a broker, and how it fails when there is none."""

import ast
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, TopicPartition

from remit.errors import HistoryGapError, LogError
from remit.log.kafka import cluster
from remit.log.kafka import reader as reader_module
from remit.log.kafka.cluster import Cluster, count_faults
from remit.log.kafka.log import KafkaLog
from remit.log.kafka.membership import misalignment
from remit.log.kafka.reader import KafkaReader
from remit.log.kafka.records import CONSUMER
from remit.log.kafka.session import MEMBER
from remit.log.protocols import Partition
from remit.topics import Topic
from tests.log.rig import message

ROOT = Path(__file__).parents[2]
NOWHERE = "127.0.0.1:1"
TOPICS = frozenset({"a", "b"})


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> KafkaLog:
    """A log whose cluster isn't there."""
    monkeypatch.setattr(cluster, "ANSWER_S", 0.5)
    return KafkaLog(NOWHERE, "t.", 4)


def test_every_consumer_is_made_with_these_settings() -> None:
    """KOPS-8: whoever makes one starts from CONSUMER or MEMBER and lets nothing of them go."""
    made = [
        ast.unparse(call)
        for path in ROOT.glob("remit/**/*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Consumer"
    ]
    assert len(made) >= 4
    for each in made:
        assert re.search(r"\b(CONSUMER|MEMBER) \|", each), each
        assert "enable.auto" not in each


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


class Scripted:
    """A consumer that returns what the test says, and remembers what it was assigned."""

    def __init__(self, *found: Any) -> None:
        self.found, self.assigned = list(found), list[list[TopicPartition]]()

    def poll(self, _timeout: float) -> Any:
        return self.found.pop(0) if self.found else None

    def consume(self, _limit: int, _timeout: float) -> list[Any]:
        found, self.found = self.found, []
        return found

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.assigned.append(partitions)

    def position(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        return [TopicPartition(each.topic, each.partition, 7) for each in partitions]

    def close(self) -> None:
        """Nothing to close."""


def delivered(code: int | None = None) -> Any:
    """A record of a consumer, or its error."""
    found = Mock()
    found.error.return_value = None if code is None else KafkaError(code)
    found.topic.return_value, found.partition.return_value, found.offset.return_value = "t.contracts", 0, 6
    found.timestamp.return_value, found.key.return_value, found.value.return_value = (1, 0), b"k", b"v"
    found.headers.return_value = []
    return found


def scripted(log: KafkaLog, monkeypatch: pytest.MonkeyPatch, *found: Any) -> tuple[KafkaReader, Scripted]:
    """A reader over a scripted consumer, which reads from 5."""
    consumer = Scripted(*found)
    monkeypatch.setattr(reader_module, "Consumer", lambda _: consumer)
    reader = log.reader()
    reader.assign({Partition(Topic.CONTRACTS, 0): 5})
    return reader, consumer


def test_a_read_error_that_passes_is_raised_once(log: KafkaLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records before it come first, then the error, then the reader goes on where it stood."""
    refused = KafkaError.TOPIC_AUTHORIZATION_FAILED
    reader, consumer = scripted(log, monkeypatch, delivered(), delivered(refused))
    assert len(reader.poll(10, 0.0)) == 1
    with pytest.raises(LogError, match="can't be read"):
        reader.poll(10, 0.0)
    assert [[(each.partition, each.offset) for each in batch] for batch in consumer.assigned] == [[(0, 5)], [(0, 7)]]
    consumer.found = [delivered()]
    assert len(reader.poll(10, 0.0)) == 1
    consumer.found = [delivered(refused)]
    with pytest.raises(LogError, match="can't be read"):
        reader.poll(10, 0.0)
    assert reader.poll(10, 0.0) == []


def test_a_gap_is_raised_until_it_is_dealt_with(log: KafkaLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """What retention took doesn't come back by polling again: only a new position helps."""
    reader, consumer = scripted(log, monkeypatch, delivered(KafkaError._AUTO_OFFSET_RESET))
    monkeypatch.setattr(Cluster, "_offsets", lambda _self, wanted, *_: dict.fromkeys(wanted, 9))
    for _ in range(2):
        with pytest.raises(HistoryGapError, match="the earliest is 9"):
            reader.poll(10, 0.0)
    assert len(consumer.assigned) == 1
    reader.assign({Partition(Topic.CONTRACTS, 0): 9})
    assert reader.poll(10, 0.0) == []


def test_records_before_a_gap_are_kept_when_its_place_is_unknown(
    log: KafkaLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster that can't say where the gap lies costs no record that was read before it."""
    reader, _ = scripted(log, monkeypatch, delivered(), delivered(KafkaError._AUTO_OFFSET_RESET))

    def silent(*_: object) -> dict[Partition, int]:
        raise LogError("no answer")

    monkeypatch.setattr(Cluster, "starts", silent)
    assert len(reader.poll(10, 0.0)) == 1
    with pytest.raises(LogError, match="no answer"):
        reader.poll(10, 0.0)


def test_not_assigned(log: KafkaLog) -> None:
    """The position of a partition that isn't assigned is a LogError, never a number."""
    reader = log.reader()
    with pytest.raises(LogError, match="not assigned"):
        reader.position(Partition(Topic.CONTRACTS, 0))
    reader.close()
