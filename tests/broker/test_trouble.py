"""What is said of a folder that can't hold a broker, and of a broker that ended while it started."""

import errno
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from remit import broker
from remit.broker import trouble
from remit.broker.place import Place
from remit.broker.record import Record, record_path, write_record
from remit.errors import BrokerError

IDENTITY = "version=1\nnode.id=1\ncluster.id=ours\n"


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gets as far as looking for Java was not refused."""

    def reached() -> Path:
        raise AssertionError("not refused")

    monkeypatch.setattr("remit.broker.process.find_java", reached)


def data_of(home: Path, identity: str | None) -> Path:
    data = Place(home).data
    data.mkdir(parents=True)
    (data / "a-topic-0").mkdir()
    if identity is not None:
        (data / "meta.properties").write_text(identity)
    return data


def test_a_full_disk_is_refused_before_anything_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much is free, how much is needed, and the ways out; no record is left."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=7 << 20))
    with pytest.raises(BrokerError, match=r"full: 7 MiB are free, the broker needs 100 MiB.*REMIT_HOME"):
        broker.up(tmp_path)
    assert not record_path(tmp_path).exists()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EACCES, "can't be written"),
        (errno.EROFS, "can't be written"),
        (errno.EIO, "can't be used"),
    ],
)
def test_what_the_system_refuses_is_a_broker_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, told: str
) -> None:
    """A folder that can't be made or written is one clear line that names it."""

    def refused(self: Path, *_: object, **__: object) -> None:
        raise OSError(code, "as the system says", str(self))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(BrokerError, match=told) as raised:
        broker.up(tmp_path / "home")
    assert str(tmp_path) in str(raised.value)


def test_a_file_where_the_home_should_be_is_named(tmp_path: Path) -> None:
    """For real: a file can't be a folder."""
    (tmp_path / "home").write_text("")
    with pytest.raises(BrokerError, match="can't be used"):
        broker.up(tmp_path / "home")


def test_a_data_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is named, not the home around it."""
    data = data_of(tmp_path, IDENTITY)
    monkeypatch.setattr("os.access", lambda path, _mode: Path(path) != data)
    with pytest.raises(BrokerError, match=f"{data} can't be written"):
        broker.up(tmp_path)


@pytest.mark.parametrize(
    ("identity", "told"),
    [
        (None, "no identity"),
        ("node.id=1\nversion=1\n", "no identity"),
        ("version=0\nbroker.id=1\ncluster.id=ours\n", "another broker"),
        (IDENTITY.replace("node.id=1", "node.id=7"), "node 7"),
        (IDENTITY.replace("ours", "theirs"), "of cluster theirs, this home's log is of cluster ours"),
    ],
)
def test_data_that_this_home_did_not_make_are_refused(tmp_path: Path, identity: str | None, told: str) -> None:
    """Another broker's folder, another cluster's, or an incomplete copy: which it is, and the way out."""
    data_of(tmp_path, identity)
    write_record(tmp_path, Record(9092, 9093, cluster="ours", kafka="4.2.0"))
    with pytest.raises(BrokerError, match=told):
        broker.up(tmp_path)


def test_data_of_a_newer_kafka_are_refused(tmp_path: Path) -> None:
    """An older broker would end amid a stack trace; the error names both versions and touches nothing."""
    data = data_of(tmp_path, IDENTITY)
    write_record(tmp_path, Record(9092, 9093, cluster="ours", kafka="4.10.0"))
    with pytest.raises(BrokerError, match=r"written by Kafka 4\.10\.0.*4\.2\.0"):
        broker.up(tmp_path)
    assert sorted(each.name for each in data.iterdir()) == ["a-topic-0", "meta.properties"]


@pytest.mark.parametrize("record", [None, Record(9092, 9093), Record(9092, 9093, cluster="ours", kafka="4.1.1")])
def test_own_data_are_not_refused(tmp_path: Path, record: Record | None) -> None:
    """Without a record, with one of before these marks were kept, and after an upgrade."""
    data_of(tmp_path, IDENTITY)
    trouble.refuse_unfit(Place(tmp_path), record)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("java.io.IOException: No space left on device", "full"),
        ("java.nio.file.AccessDeniedException: /d/x", "can't be written"),
        ("Failed to acquire lock on file .lock in /d. A Kafka instance", "remit doctor"),
        ("errors.UnsupportedVersionException: Can't read version 4 of BrokerEndpoint", "newer Kafka"),
        ("MetadataParseException: Failed to deserialize record with type 0", "newer Kafka"),
        ("java.lang.RuntimeException: Invalid cluster.id in: /d/meta.properties.", "two clusters"),
        ("There is insufficient memory for the Java Runtime Environment", "memory"),
        ("java.net.BindException: Address already in use", "port"),
    ],
)
def test_the_log_of_a_failed_start_is_put_into_words(tmp_path: Path, line: str, told: str) -> None:
    """The reason first, then the end of the log as it is."""
    log = tmp_path / "broker.log"
    log.write_text(f"starting\n{line}\n\tat some.Frame\n")
    said = trouble.with_tail("the broker ended while it started", log)
    assert told in said.splitlines()[0]
    assert line in said


def test_an_unknown_log_is_shown_as_it_is() -> None:
    """Nothing is guessed."""
    assert trouble.reason("something else") is None
