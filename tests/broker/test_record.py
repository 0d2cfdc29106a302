"""Which process is our broker, and what is refused before one is started."""

import socket
from pathlib import Path

import psutil
import pytest

from remit import broker
from remit.broker.record import Record, read_record, record_path, write_record
from remit.errors import BrokerError


@pytest.fixture
def stranger() -> int:
    """Pid of a living process that is no broker: this one."""
    return psutil.Process().pid


def test_a_pid_worn_by_another_process_is_not_our_broker(tmp_path: Path, stranger: int) -> None:
    """The number alone proves nothing: the start time differs, and the command line is not ours."""
    write_record(tmp_path, Record(9092, 9093, pid=stranger, created=1.0))
    assert broker.running(tmp_path) is None


def test_down_never_stops_a_stranger_and_clears_the_stale_record(tmp_path: Path, stranger: int) -> None:
    """A stale pid is one clear error; the process lives, and the next `down` finds nothing to stop."""
    write_record(tmp_path, Record(9092, 9093, pid=stranger, created=1.0))
    with pytest.raises(BrokerError, match="stale pid"):
        broker.down(tmp_path)
    assert psutil.Process(stranger).is_running()
    assert broker.down(tmp_path) is False
    assert read_record(tmp_path) == Record(9092, 9093)


def test_a_home_without_a_broker_is_simply_down(tmp_path: Path) -> None:
    """Neither question creates anything."""
    assert broker.running(tmp_path) is None
    assert broker.down(tmp_path) is False
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "",
        "\x00",
        "[" * 100_000,
        '{"port": 1e999, "controller_port": 2}',
        '{"port": 1, "controller_port": 2, "pid": "x"}',
        '{"port": 1, "controller_port": 2, "pid": -1}',
        '{"port": 99999999999999999999, "controller_port": 2, "pid": 1}',
    ],
)
def test_a_broken_record_is_named(text: str, tmp_path: Path) -> None:
    """The error says which file; it is never guessed around."""
    record_path(tmp_path).write_text(text)
    with pytest.raises(BrokerError, match=r"broker\.json"):
        broker.running(tmp_path)


def test_a_taken_port_is_refused_before_anything_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the port; no process and no record is left."""
    monkeypatch.setattr("remit.broker.process.find_java", lambda: Path("/nonexistent/java"))
    monkeypatch.setattr("remit.broker.process.ensure_jars", lambda _progress: ())
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(BrokerError, match=f"port {port} .* is taken"):
            broker.up(tmp_path, port=port)
    assert broker.running(tmp_path) is None
    assert not record_path(tmp_path).exists()


def test_a_home_that_kafka_cant_use_is_refused(tmp_path: Path) -> None:
    """A comma would make two folders of one."""
    with pytest.raises(BrokerError, match="comma"):
        broker.up(tmp_path / "a,b")
