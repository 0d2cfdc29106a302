"""Doctor on a real broker and real processes: faults that are put there are found, and named as they are."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from projector.positions import TOPICS
from projector.publish import Publisher
from projector.store import Store
from remit import broker
from remit.broker.record import record_path
from remit.cli.entry import run
from remit.doctor import Finding, Report, examine
from remit.doctor.checks import reading
from remit.doctor.probe_cluster import log_of, supervisors
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.probe import Probe
from remit.log.protocols import Partition
from remit.reading import view_files
from remit.settings import Settings, load
from remit.topics import fixed_specs

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(kafka: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A cluster whose topics of this test's prefix are all there, named by the environment too."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", kafka)
    monkeypatch.setenv("REMIT_TOPIC_PREFIX", prefix)
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    settings = load()
    TopicAdmin(settings).create(fixed_specs(prefix))
    return settings


def examined(settings: Settings, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Report:
    return examine(settings, lambda: settings, clock, TOPICS)


def found(report: Report, check: str) -> list[Finding]:
    return [each for each in report.findings if each.check == check]


def write(settings: Settings, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": settings.bootstrap})
    for _ in range(count):
        producer.produce(settings.topic_prefix + topic, b"garbage", partition=2)
    assert producer.flush(20) == 0


@pytest.mark.usefixtures("settings")
def test_a_sound_cluster_has_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0; what could not be checked is said, so that silence never passes for health."""
    assert run(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["findings"] == []
    assert [each["check"] for each in told["unchecked"]] == ["lag of the views"]
    assert run(["doctor"]) == 0
    assert "Nothing is wrong" in capsys.readouterr().out


def test_the_brokers_release_is_asked_of_the_broker(settings: Settings) -> None:
    """Kafka 4.2 knows metadata levels up to 29."""
    probe = Probe(settings)
    assert probe.levels(probe.topology().brokers) == {1: 29}


@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_that_is_off_is_found(settings: Settings, hours: int) -> None:
    """The local clock an hour off either way; doctor's own topic is the only one that it wrote to."""
    report = examined(settings, lambda: datetime.now(UTC) + timedelta(hours=hours))
    (finding,) = found(report, "clock")
    assert abs(finding.details["ahead_s"] + hours * 3600) < 60
    assert len(report.findings) == 1
    probe = Probe(settings)
    log = [each for each in probe.topology().leaders if each.startswith(settings.topic_prefix)]
    written = probe.ends([each for name in log for each in partitions(probe, name)])
    assert {each.topic for each, (_, end) in written.items() if end} == {f"{settings.topic_prefix}_doctor"}


def partitions(probe: Probe, topic: str) -> list[Partition]:
    return [Partition(topic, number) for number in probe.topology().leaders[topic]]


def test_a_hung_transaction_is_found(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """One left open by a producer: topic and both offsets; a young one is nobody's fault."""
    write(settings, "results", 3)
    limits = {"transaction.timeout.ms": 60_000, "message.timeout.ms": 50_000}
    producer = Producer({"bootstrap.servers": settings.bootstrap, "transactional.id": settings.topic_prefix, **limits})
    producer.init_transactions(20)
    producer.begin_transaction()
    for _ in range(2):
        producer.produce(f"{settings.topic_prefix}results", b"undecided", partition=2)
    producer.flush(20)
    assert found(examined(settings), "hung-transaction") == []
    monkeypatch.setattr(reading, "LONGEST_OPEN", timedelta(0))
    report = examined(settings)
    (finding,) = found(report, "hung-transaction")
    assert finding.subject == f"{settings.topic_prefix}results[2]"
    assert finding.details == {"stable_end": 3, "end": 5}
    assert [each.check for each in report.unchecked] == ["lag of the views"]
    producer.abort_transaction(20)
    assert found(examined(settings), "hung-transaction") == []


def test_lag_of_the_supervisors_is_found(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records beyond the group's offsets, once they are late; none where all is read, markers at the end or not."""
    write(settings, "contracts", 5)
    assert found(examined(settings), "lag") == []
    monkeypatch.setattr(reading, "LATE", timedelta(0))
    (finding,) = found(examined(settings), "lag")
    assert finding.subject == f"{settings.topic_prefix}contracts[2]"
    assert finding.details == {"position": 0, "end": 5}
    assert finding.mend == "remit supervisor run"
    commit(settings, "contracts", 4)
    assert [each.details["position"] for each in found(examined(settings), "lag")] == [4]
    commit(settings, "contracts", 5)
    leave_a_marker(settings, "contracts")
    assert found(examined(settings), "lag") == []


@pytest.mark.parametrize("tail", ["marker", "aborted", "only aborted", "empty"])
def test_whatever_a_topic_ends_with_is_no_lag(settings: Settings, tail: str) -> None:
    """KTXN-5: once all that can be read was read no lag is reported: markers and aborted records are none."""
    if tail in {"marker", "aborted"}:
        transaction(settings, "contracts", 5).commit_transaction(20)
        commit(settings, "contracts", 5)
    if tail in {"aborted", "only aborted"}:
        transaction(settings, "contracts", 5).abort_transaction(20)
    probe = Probe(settings)
    read = supervisors(probe, log_of(probe, TopicAdmin(settings), settings))
    assert reading.lag([read], datetime.now(UTC) + timedelta(hours=1)) == ()
    assert [each.oldest for each in read.unread] == [None] * len(read.unread)


def commit(settings: Settings, topic: str, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": settings.bootstrap, "group.id": f"{settings.topic_prefix}supervisors"})
    consumer.commit(offsets=[TopicPartition(settings.topic_prefix + topic, 2, offset)], asynchronous=False)
    consumer.close()


def leave_a_marker(settings: Settings, topic: str) -> None:
    transaction(settings, topic, 1).abort_transaction(20)


def transaction(settings: Settings, topic: str, records: int) -> Producer:
    """An open transaction with so many records, flushed."""
    producer = Producer({"bootstrap.servers": settings.bootstrap, "transactional.id": f"{settings.topic_prefix}marker"})
    producer.init_transactions(20)
    producer.begin_transaction()
    for _ in range(records):
        producer.produce(settings.topic_prefix + topic, b"garbage", partition=2)
    producer.flush(20)
    return producer


def test_lag_of_the_views_is_found(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the published copy's own positions."""
    publish_empty(settings)
    write(settings, "decisions", 2)
    monkeypatch.setattr(reading, "LATE", timedelta(0))
    report = examined(settings)
    assert report.unchecked == []
    late = [each for each in found(report, "lag") if each.mend == "remit projector run"]
    assert [(each.subject, each.details["position"]) for each in late] == [(f"{settings.topic_prefix}decisions[2]", 0)]


def publish_empty(settings: Settings) -> None:
    files = view_files(settings.home)
    files.database.parent.mkdir(parents=True, exist_ok=True)
    with Store(files.database) as store:
        assert Publisher(store, files.published).publish()


def test_a_cluster_that_is_not_there_is_a_finding(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One finding instead of a failure: what concerns the machine is examined all the same."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1")
    monkeypatch.setattr("remit.log.kafka.admin.ANSWER_S", 0.5)
    monkeypatch.setattr("remit.log.kafka.probe.ANSWER_S", 0.5)
    settings.home.joinpath("artefacts").write_text("no folder")
    assert run(["doctor", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["findings"]
    assert [each["check"] for each in told] == ["unreachable"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home with a broker of its own, which is stopped whatever becomes of its record."""
    home = tmp_path / "home"
    process = psutil.Process(broker.up(home).pid)
    yield home
    if process.is_running():
        process.kill()
        process.wait(20)
    broker.down(home)


@pytest.mark.usefixtures("settings")
def test_an_orphaned_broker_and_a_killed_one_are_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running one is neither; without its record it is an orphan; killed, its record is stale."""
    monkeypatch.setenv("REMIT_HOME", str(home))
    own = load()
    kept, pid = record_path(home).read_text(), broker.running(home)
    assert pid is not None
    assert [each.check for each in examined(own).findings] == []
    record_path(home).unlink()
    (orphan,) = [each for each in found(examined(own), "orphaned-broker") if str(home) in each.says]
    assert orphan.mend == f"kill {pid.pid}"
    record_path(home).write_text(kept)
    os.kill(pid.pid, 9)
    psutil.Process(pid.pid).wait(20)
    (stale,) = found(examined(own), "stale-broker")
    assert stale.mend == "remit up"
