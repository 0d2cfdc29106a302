"""Each finding of doctor from facts alone: that it is found, what it says, how it is mended, and what is no finding."""

import dataclasses
import errno
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from remit.artefacts import ArtefactStore
from remit.broker.processes import home_in
from remit.doctor import probe_machine
from remit.doctor.checks import brokers, machine, reading, topics
from remit.doctor.facts import Brokers, Disk, Layout, OpenEnd, Processes, Reading, Store, Unread
from remit.doctor.finding import Finding
from remit.log.kafka import release
from remit.log.kafka.probe import outside
from remit.log.kafka.topology import FoundTopic, deviations
from remit.log.protocols import Partition
from remit.settings import load
from remit.topics import fixed_specs

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
AT = "broker:9092"
RESULTS = Partition("remit.results", 3)
GIB = 1024**3


def only(found: tuple[Finding, ...]) -> Finding:
    (finding,) = found
    return finding


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("setting", "value", "check", "mend"),
    [
        ("retention.ms", "86400000", "retention", "remit topics create --mend"),
        ("retention.bytes", "1000", "retention", "remit topics create --mend"),
        ("cleanup.policy", "compact", "compaction", "remit topics create --mend"),
        ("message.timestamp.type", "CreateTime", "timestamps", "remit topics create --mend"),
        ("max.message.bytes", "1000", "message-size", "remit topics create --mend"),
        ("partitions", "12", "partitions", "no command mends it"),
        ("presence", "missing", "missing-topic", "remit topics create"),
    ],
)
def test_each_deviation_of_a_topic_is_a_finding(setting: str, value: str, check: str, mend: str) -> None:
    """KOPS-2, KOPS-4: topic, setting, found and required value, in words and for programs."""
    specs = fixed_specs()
    found = {each.name: FoundTopic(each.partitions, each.config) for each in specs}
    altered = found.pop("remit.results")
    if setting == "partitions":
        found["remit.results"] = FoundTopic(int(value), altered.config)
    elif setting != "presence":
        found["remit.results"] = FoundTopic(altered.partitions, {**altered.config, setting: value})
    finding = only(topics.settings(deviations(specs, found)))
    assert (finding.check, finding.subject) == (check, "remit.results")
    assert f"{setting} is {value}, required is {finding.details['required']}" in finding.says
    assert finding.details["found"] == value
    assert finding.mend.startswith(mend)


@pytest.mark.parametrize(
    ("replicas", "min_in_sync", "mend"),
    [(1, 1, "kafka-reassign-partitions.sh"), (3, 1, "kafka-configs.sh")],
)
def test_one_copy_on_several_brokers_is_a_finding(replicas: int, min_in_sync: int, mend: str) -> None:
    """Either the only copy there is, or the only one that is waited for."""
    finding = only(topics.replication([Layout("remit.results", replicas, min_in_sync)], 3, AT))
    assert (finding.check, finding.subject) == ("replication", "remit.results")
    assert finding.mend.startswith(f"{mend} --bootstrap-server {AT} ")


@pytest.mark.parametrize(("layout", "count"), [(Layout("t", 1, 1), 1), (Layout("t", 3, 2), 3), (Layout("t", 2, 2), 2)])
def test_what_can_be_replicated_and_is_well(layout: Layout, count: int) -> None:
    """One broker has nowhere to replicate to; two copies that are both waited for are enough."""
    assert topics.replication([layout], count, AT) == ()


@pytest.mark.parametrize("level", [None, 1, 21])
def test_a_broker_before_4_0_is_a_finding(level: int | None) -> None:
    """Also one that knows no metadata level at all: ZooKeeper's, or no Apache Kafka."""
    finding = only(brokers.too_old(Brokers({7: level}, {})))
    assert (finding.check, finding.subject) == ("old-broker", "broker 7")
    assert "older than 4.0" in finding.says
    assert "upgrade" in finding.mend


@pytest.mark.parametrize(("level", "named"), [(30, "4.3"), (31, "4.4"), (33, "4.4")])
def test_a_release_that_tears_transactions_is_a_finding_on_one_node(level: int, named: str) -> None:
    """KAFKA-20734 is named, and the release; with more nodes it is none."""
    finding = only(brokers.tearing(Brokers({1: level}, {})))
    assert finding.check == "tearing-broker"
    assert f"Kafka is {named} on one node" in finding.says
    assert "KAFKA-20734" in finding.says
    assert brokers.tearing(Brokers({1: level, 2: level, 3: level}, {})) == ()


@pytest.mark.parametrize(
    ("level", "named"), [(22, "4.0"), (25, "4.0"), (27, "4.1"), (29, "4.2"), (34, "newer than 4.4")]
)
def test_a_good_release_is_no_finding(level: int, named: str) -> None:
    """4.0 to 4.2, and what is newer than the known-bad ones."""
    found = Brokers({1: level}, {})
    assert brokers.release(level) == named
    assert brokers.too_old(found) + brokers.tearing(found) == ()


@pytest.mark.parametrize(("seconds", "way"), [(3600, "ahead of"), (-5.5, "behind")])
def test_a_clock_that_is_off_is_a_finding(seconds: float, way: str) -> None:
    """Which way and by how much."""
    finding = only(brokers.clocks(Brokers({}, {2: timedelta(seconds=seconds)})))
    assert (finding.check, finding.subject) == ("clock", "broker 2")
    assert f"{abs(seconds):.1f} s {way} this machine's" in finding.says
    assert "set-ntp" in finding.mend
    assert finding.details == {"ahead_s": seconds}


def test_a_clock_within_the_tolerance_is_well() -> None:
    """Up to five seconds either way."""
    assert brokers.clocks(Brokers({}, {1: timedelta(seconds=5), 2: timedelta(seconds=-5)})) == ()


def test_how_far_a_clock_is_off_counts_from_the_span_of_the_question() -> None:
    """However long the answer took, a stamp within it is exact."""
    assert outside(NOW, ago(9), NOW + timedelta(seconds=9)) == timedelta()
    assert outside(NOW, ago(9), ago(4)) == timedelta(seconds=4)
    assert outside(ago(9), ago(4), NOW) == timedelta(seconds=-5)


def test_a_hung_transaction_is_a_finding() -> None:
    """Topic, partition and both offsets, in words, for programs, and in the command that aborts it."""
    finding = only(reading.hung_transactions([OpenEnd(RESULTS, 40, 55, ago(31))], NOW, AT))
    assert (finding.check, finding.subject) == ("hung-transaction", "remit.results[3]")
    assert "the last stable offset is 40, the high watermark 55" in finding.says
    assert finding.details == {"stable_end": 40, "end": 55}
    assert f"--bootstrap-server {AT} abort --topic remit.results --partition 3 --start-offset 40" in finding.mend


@pytest.mark.parametrize("since", [ago(29), None])
def test_an_open_transaction_is_none(since: datetime | None) -> None:
    """A supervisor's step, or one that ended while doctor looked."""
    assert reading.hung_transactions([OpenEnd(RESULTS, 40, 55, since)], NOW, AT) == ()


@pytest.mark.parametrize(
    ("reader", "members", "mend"),
    [
        ("supervisors", 0, "remit supervisor run"),
        ("supervisors", 2, "remit supervisor run --name NAME (another one"),
        ("views", None, "remit projector run"),
    ],
)
def test_a_record_that_waits_is_a_finding(reader: str, members: int | None, mend: str) -> None:
    """Who is behind, where it stands, where the log ends, how long the first unread record has waited."""
    behind = Reading(reader, members, (Unread(RESULTS, 10, 90, ago(61)),))
    finding = only(reading.lag([behind], NOW))
    assert (finding.check, finding.subject) == ("lag", "remit.results[3]")
    assert f"{reader} are at offset 10 of 90; the first unread record waits since 61 s" in finding.says
    assert finding.mend.startswith(mend)


@pytest.mark.parametrize("oldest", [ago(59), None])
def test_work_under_way_is_no_lag(oldest: datetime | None) -> None:
    """Records of the last minute, and ends that are markers only."""
    assert reading.lag([Reading("supervisors", 1, (Unread(RESULTS, 10, 90, oldest),))], NOW) == ()


def test_views_of_another_log_are_a_finding() -> None:
    """They are further than the log is; for a group's offsets this is the broker's matter."""
    unread = (Unread(RESULTS, 91, 90, None),)
    finding = only(reading.foreign_views([Reading("supervisors", 0, unread), Reading("views", None, unread)]))
    assert (finding.check, finding.mend) == ("foreign-views", "remit rebuild")


def test_an_orphaned_broker_and_a_dead_one_are_findings(tmp_path: Path) -> None:
    """The process to end, or the start that puts the record right."""
    orphan, stale = machine.orphans(Processes(tmp_path, ((4711, tmp_path / "gone"),), 42))
    assert (orphan.check, orphan.mend) == ("orphaned-broker", "kill 4711")
    assert str(tmp_path / "gone") in orphan.says
    assert (stale.check, stale.mend) == ("stale-broker", "remit up")
    assert "42" in stale.says
    assert machine.orphans(Processes(tmp_path, (), None)) == ()


def test_an_embedded_broker_is_told_by_its_command_line() -> None:
    """Any other Kafka, and any other program, is nobody's orphan."""
    assert home_in(["java", "-cp", "x", "kafka.Kafka", "/h/a b/broker/server.properties"]) == Path("/h/a b")
    assert home_in(["java", "kafka.Kafka", "/etc/kafka/server.properties"]) is None
    assert home_in(["vi", "/h/broker/server.properties"]) is None
    assert home_in([]) is None


@pytest.mark.parametrize(
    ("total", "free", "found"),
    [
        (10 * GIB, GIB - 1, True),
        (10 * GIB, GIB, False),
        (100 * GIB, 4 * GIB, True),
        (100 * GIB, 6 * GIB, False),
        (10_000 * GIB, 19 * GIB, True),
        (10_000 * GIB, 21 * GIB, False),
    ],
)
def test_a_disk_nearly_full_is_a_finding(total: int, free: int, found: bool) -> None:
    """Under 5 %, which counts as at least 1 GiB and at most 20."""
    told = machine.full_disks([Disk(Path("/h"), total, free, "REMIT_HOME")])
    assert bool(told) is found
    for each in told:
        assert (each.check, each.subject) == ("disk", "/h")
        assert "REMIT_HOME" in each.mend


def test_an_unreadable_store_is_a_finding() -> None:
    """With the reason as the store told it."""
    finding = only(machine.unreadable_store(Store("s3://kept", "the artefact store can't be read: PermissionError")))
    assert (finding.check, finding.subject) == ("artefact-store", "s3://kept")
    assert "PermissionError" in finding.says
    assert "REMIT_ARTEFACTS" in finding.mend
    assert machine.unreadable_store(Store("s3://kept", None)) == ()


def test_the_store_is_really_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in its place and an artefact that is gone are faults; one not made yet is none; no login is shown."""
    settings = load(home=tmp_path, artefacts=f"file://user:canary@{tmp_path}/kept")
    assert "canary" not in probe_machine.store(settings).url
    settings = load(home=tmp_path)
    assert probe_machine.store(settings).fault is None
    reference = ArtefactStore(settings.artefact_url).put(b"a report").reference
    monkeypatch.setattr(probe_machine, "_newest", lambda _settings: [reference])
    assert probe_machine.store(settings).fault is None
    next(each for each in (tmp_path / "artefacts").rglob("*") if each.is_file()).unlink()
    assert "nothing is stored" in str(probe_machine.store(settings).fault)

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "a vanished mount")

    monkeypatch.setattr("fsspec.implementations.local.LocalFileSystem.ls", refused)
    assert "can't be read" in str(probe_machine.store(settings).fault)


def test_home_and_store_on_one_disk_are_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when neither folder is made yet: what counts is the disk that they will lie on."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(total=9, free=1))
    (found,) = probe_machine.disks(load(home=tmp_path / "not" / "yet"))
    assert dataclasses.astuple(found) == (tmp_path, 9, 1, "REMIT_HOME")


def test_the_answer_about_releases_is_read() -> None:
    """The feature's highest level; an error, or an answer without it, means an old broker."""
    call = b"\x00\x12\x00\x00\x00\x04\x00"
    head = b"\x00\x00\x00\x01"
    other = b"\x0egroup.version\x00\x00\x00\x01\x00"
    feature = b"\x11metadata.version\x00\x07\x00\x1d\x00"
    answer = head + b"\x00\x00\x02" + call + b"\x00\x00\x00\x00"
    assert release.level_in(answer + b"\x01\x00\x2a\x03" + other + feature) == 29
    assert release.level_in(answer + b"\x00") is None
    assert release.level_in(head + b"\x00\x23\x00\x00\x00\x00") is None
    with pytest.raises(IndexError):
        release.level_in(answer)
