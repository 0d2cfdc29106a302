"""Topics on the real broker: partitions that a foreign producer picks, creation, and what doctor sees."""

import json
import time
from pathlib import Path

import pytest
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, Message, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)

from remit.cli.entry import run
from remit.errors import LogError, TopologyError
from remit.log.kafka.admin import TopicAdmin, require_topics
from remit.log.kafka.topology import Deviation
from remit.settings import Settings, load
from remit.topics import dispatches, fixed_specs, partition_of, spec, workflow_key

pytestmark = pytest.mark.kafka
TWO_YEARS_MS = 2 * 365 * 24 * 60 * 60 * 1000


@pytest.fixture
def settings(kafka: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A cluster whose topics of this test's prefix are all there, named by the environment too."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", kafka)
    monkeypatch.setenv("REMIT_TOPIC_PREFIX", prefix)
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    settings = load()
    created = TopicAdmin(settings).create(fixed_specs(prefix))
    assert len(created) == 12
    return settings


def _alter(settings: Settings, topic: str, setting: str, value: str) -> None:
    entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, settings.topic_prefix + topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": str(settings.bootstrap)})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result()


def _await_deviations(settings: Settings, count: int) -> None:
    """Until the broker shows what its controller took."""
    deadline = time.monotonic() + 20
    while len(TopicAdmin(settings).deviations()) != count:
        assert time.monotonic() < deadline


def _sent(settings: Settings, topic: str, keys: list[bytes], timestamp_ms: int) -> list[Message]:
    seen: list[Message] = []
    producer = Producer({"bootstrap.servers": settings.bootstrap, "partitioner": "murmur2"})
    for key in keys:
        producer.produce(
            settings.topic_prefix + topic,
            b"",
            key,
            timestamp=timestamp_ms,
            on_delivery=lambda _error, sent: seen.append(sent),
        )
    assert producer.flush(20) == 0
    return seen


def test_any_client_lands_on_the_partition_that_we_compute(settings: Settings) -> None:
    """A plain producer with Kafka's own partitioner picks the same partition for every key."""
    keys = [workflow_key(f"tenant-{n % 7}", f"wörkflow:{n}") for n in range(200)]
    sent = _sent(settings, "contracts", keys, int(time.time() * 1000))
    assert len(sent) == 200
    assert [each.partition() for each in sent] == [partition_of(each.key() or b"", 8) for each in sent]


def test_the_record_timestamp_is_the_append_time(settings: Settings) -> None:
    """KOPS-2: a producer's two-year-old timestamp does not decide what retention deletes."""
    before = int(time.time() * 1000)
    (sent,) = _sent(settings, "contracts", [b"t/w"], before - TWO_YEARS_MS)
    kind, found = sent.timestamp()
    assert kind == TIMESTAMP_LOG_APPEND_TIME
    assert found > before - TWO_YEARS_MS // 2


def test_creating_twice_changes_nothing(settings: Settings) -> None:
    """What exists is left as it is, deviations included; new topics are as agreed."""
    _alter(settings, "results", "retention.ms", "1000")
    _await_deviations(settings, 1)
    admin = TopicAdmin(settings)
    pool = spec(dispatches("code"), settings.topic_prefix, settings.partitions)
    assert admin.create(admin.agreed()) == ()
    assert admin.create([pool]) == (pool.name,)
    assert [each.setting for each in admin.deviations()] == ["retention.ms"]


def test_doctor_and_start_up_refuse_altered_topics(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """KOPS-2: topic, setting, found and required value of each, with what mends it; after mending all is well."""
    _alter(settings, "results", "cleanup.policy", "compact")
    _alter(settings, "transitions", "retention.ms", "86400000")
    _await_deviations(settings, 2)
    expected = [
        Deviation(settings.topic_prefix + "results", "cleanup.policy", "compact", "delete"),
        Deviation(settings.topic_prefix + "transitions", "retention.ms", "86400000", "-1"),
    ]
    with pytest.raises(TopologyError) as refused:
        require_topics(settings)
    assert str(refused.value).splitlines() == [str(each) for each in expected]
    assert run(["doctor", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["findings"]
    assert [(each["subject"], each["details"]) for each in told] == [
        (each.topic, {"setting": each.setting, "found": each.found, "required": each.required}) for each in expected
    ]
    assert {each["mend"] for each in told} == {"remit topics create --mend"}
    assert run(["topics", "create", "--mend"]) == 0
    assert run(["doctor"]) == 0
    require_topics(settings)


def test_a_raised_partition_count_is_found_and_has_no_mending_command(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Doctor says why nothing mends it, and names expected and found count."""
    topic = settings.topic_prefix + "contracts"
    admin = AdminClient({"bootstrap.servers": str(settings.bootstrap)})
    admin.create_partitions([NewPartitions(topic, 12)])[topic].result()
    _await_deviations(settings, 1)
    assert run(["doctor"]) == 1
    told = capsys.readouterr().out
    assert f"{topic}: partitions is 12, required is 8" in told
    assert "no command mends it" in told


def test_topics_are_listed_for_people_and_programs(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """Every topic of the prefix, and no other, in both forms."""
    assert run(["topics", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["topic"] for each in listed] == sorted(each.name for each in fixed_specs(settings.topic_prefix))
    assert run(["topics", "list"]) == 0
    assert settings.topic_prefix + "dead-letters" in capsys.readouterr().out


def test_a_cluster_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The client library's own lines stay off the terminal; the error says which cluster."""
    monkeypatch.setattr("remit.log.kafka.admin.ANSWER_S", 0.5)
    with pytest.raises(LogError, match=r"127\.0\.0\.1:1 "):
        TopicAdmin(load(bootstrap="127.0.0.1:1")).names()
    assert capfd.readouterr() == ("", "")
