"""Kafka under the contract, and what only a real broker can show."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewPartitions

from remit.codec import decode
from remit.errors import FencedError, LogError, TopologyError
from remit.events.envelope import message as envelope_message
from remit.events.envelope import new_event
from remit.events.inputs import Contract, ContractKind
from remit.log.catch_up import replay
from remit.log.kafka import cluster, transactions
from remit.log.kafka import session as kafka_session
from remit.log.kafka.log import KafkaLog
from remit.log.protocols import Partition
from remit.topics import SHARDED, Topic
from tests.log.contract import RESULTS, TRANSITIONS, LogContract
from tests.log.kafka_rig import PARTITIONS, KafkaRig
from tests.log.rig import committed, message, serve, settle, take, values, visible

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[2]


@pytest.fixture
def rig(kafka: str, prefix: str) -> Iterator[KafkaRig]:
    """Fresh topics."""
    made = KafkaRig(kafka, prefix)
    with made.log.opened:
        yield made


class TestKafkaContract(LogContract):
    """The contract."""


@pytest.mark.parametrize("call", ["send_offsets_to_transaction", "commit_transaction"])
def test_paused_past_the_session(rig: KafkaRig, call: str) -> None:
    """A supervisor paused inside its step and outlived by another commits nothing when it wakes (KTXN-1)."""
    rig.log.writer().append([message(Topic.RESULTS, "in")])
    with _paused_supervisor(rig, call) as zombie:
        _await_stop(zombie)
        heir = rig.log.session("s2")
        settle(rig.log, heir)
        serve(heir)
        (record,) = take(heir, 1)
        heir.step([message(Topic.TRANSITIONS, "heir")], {record.source: record.offset + 1})
        zombie.send_signal(signal.SIGCONT)
        outcome, _ = zombie.communicate(timeout=60)
    assert outcome.strip() in {"FencedError", "StepAbortedError"}
    assert visible(rig.log) == ["heir"]
    assert committed(heir, [RESULTS]) == {RESULTS: 1}


def test_stalled_step(rig: KafkaRig) -> None:
    """A step that outlasts its transaction's time never shows; the session takes over anew and goes on (KTXN-2)."""
    rig.log.writer().append([message(Topic.RESULTS, "in")])
    session = rig.log.session("s1")
    settle(rig.log, session)
    serve(session)
    first = take(session, 1)
    undecided = rig.prepare(session, [message(Topic.TRANSITIONS, "stalled")], {RESULTS: 1})
    _await_decided(rig)
    with pytest.raises(FencedError):
        undecided.commit()
    serve(session)
    assert take(session, 1) == first
    session.step([message(Topic.TRANSITIONS, "anew")], {RESULTS: 1})
    assert visible(rig.log) == ["anew"]


def test_metadata_is_the_assignments(rig: KafkaRig) -> None:
    """A step sends the very group metadata captured when its shards were assigned (KTXN-1)."""
    session = rig.log.session("s1")
    settle(rig.log, session)
    captured = session._membership.metadata
    serve(session)
    seen = _Seeing(session._transactions._producer)
    session._transactions._producer = seen  # type: ignore[assignment]
    session.step([message(Topic.TRANSITIONS, "x")], {RESULTS: 0})
    assert seen.metadata is captured
    assert captured is not None


def test_one_transaction_over_all_shards(rig: KafkaRig, monkeypatch: pytest.MonkeyPatch) -> None:
    """KTXN-1: the instance's name is transactional.id and group.instance.id, and a step is one transaction."""
    configured: list[Any] = []

    def noting(made: Any) -> Any:
        def make(config: Any) -> Any:
            configured.append(config)
            return made(config)

        return make

    monkeypatch.setattr(transactions, "Producer", noting(Producer))
    monkeypatch.setattr(kafka_session, "Consumer", noting(Consumer))
    session = rig.log.session("s1")
    name = f"{rig.prefix}supervisor.s1"
    assert [config.get("transactional.id", config.get("group.instance.id")) for config in configured] == [name, name]
    settle(rig.log, session)
    serve(session)
    seen = _Seeing(session._transactions._producer)
    session._transactions._producer = seen  # type: ignore[assignment]
    every = range(PARTITIONS)
    offsets = {Partition(Topic.CONTRACTS, number): 0 for number in every}
    session.step([message(Topic.TRANSITIONS, "x", number) for number in every], offsets)
    assert seen.begun == 1
    assert [visible(rig.log, partition=number) for number in every] == [["x"]] * PARTITIONS


@pytest.mark.parametrize("topics", [[Topic.RESULTS], SHARDED])
def test_partitions_were_added(rig: KafkaRig, monkeypatch: pytest.MonkeyPatch, topics: list[Topic]) -> None:
    """Once a partition count changed, writers, sessions and readers stop and name both counts (KOPS-4)."""
    monkeypatch.setattr(cluster, "RECHECK_S", 0.0)
    rig.log._cluster._connection["topic.metadata.refresh.interval.ms"] = 500
    writer, session, reader = rig.log.writer(), rig.log.session("s1"), rig.log.reader()
    reader.assign({RESULTS: 0})
    settle(rig.log, session)
    serve(session)
    _raise_partitions(rig, topics, 2 * PARTITIONS)
    with pytest.raises(TopologyError, match="results: 8 partitions found, agreed are 4"):
        writer.append([message(Topic.RESULTS, "x")])
    with pytest.raises(TopologyError):
        session.step([message(Topic.TRANSITIONS, "x")], {RESULTS: 0})
    with pytest.raises(TopologyError):
        take(session, 1)
    with pytest.raises(TopologyError, match="results: 8 partitions found, agreed are 4"):
        take(reader, 1)
    with pytest.raises(TopologyError):
        rig.log.session("s2")


def test_other_count_agreed(rig: KafkaRig) -> None:
    """Nobody starts to write with another partition count than the cluster's (KOPS-4)."""
    other = KafkaLog(rig.bootstrap, rig.prefix, PARTITIONS - 1)
    with pytest.raises(TopologyError, match="4 partitions found, agreed are 3"):
        other.writer()
    with pytest.raises(TopologyError, match="4 partitions found, agreed are 3"):
        other.session("s1")


def test_no_line_on_stderr(rig: KafkaRig, capfd: pytest.CaptureFixture[str]) -> None:
    """What the client library has to say goes to our logger, even when a session is fenced."""
    old = rig.log.session("s1")
    settle(rig.log, old)
    serve(old)
    undecided = rig.prepare(old, [message(Topic.TRANSITIONS, "x")], {RESULTS: 1})
    rig.log.session("s1")
    with pytest.raises(LogError):
        undecided.commit()
    assert capfd.readouterr().err == ""


def test_read_on_after_restart(rig: KafkaRig) -> None:
    """A session that was closed in order is followed by one that reads nothing twice (KTXN-4)."""
    for number in range(3):
        rig.log.writer().append([message(Topic.RESULTS, str(n), number) for n in range(10)])
    session = rig.log.session("s1")
    settle(rig.log, session)
    serve(session)
    sources = {record.source for record in take(session, 30)}
    session.step([], {source: session.position(source) for source in sources})
    session.close()
    successor = rig.log.session("s1")
    settle(rig.log, successor)
    serve(successor)
    assert committed(successor, sources) == dict.fromkeys(sources, 10)
    rig.log.writer().append([message(Topic.RESULTS, "new", 2)])
    assert values(take(successor, 1)) == ["new"]


def test_an_old_event_is_appended_now(rig: KafkaRig) -> None:
    """KOPS-2: what happened two years ago has the log's own time beside it, which retention counts from."""
    long_ago = datetime.now(UTC) - timedelta(days=730)
    event = new_event(
        Contract,
        tenant_id="t",
        workflow_id="w",
        producer="test",
        clock_now=long_ago,
        kind=ContractKind.SUBMITTED,
        document="{}",
        content_digest="",
        submitter="user:ann",
    )
    (sent,) = rig.log.writer().append([envelope_message(event, Topic.CONTRACTS)])
    reader = rig.log.reader()
    reader.assign({sent.source: sent.offset})
    (read,) = take(reader, 1)
    assert read.appended_at == sent.appended_at > long_ago + timedelta(days=729)
    found = decode(Topic.CONTRACTS, read.value)
    assert isinstance(found, Contract)
    assert found.occurred_at == long_ago


class _Seeing:
    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self.metadata: Any = None
        self.begun = 0

    def begin_transaction(self) -> None:
        self.begun += 1
        self._producer.begin_transaction()

    def send_offsets_to_transaction(self, offsets: Any, metadata: Any, timeout: float) -> None:
        self.metadata = metadata
        self._producer.send_offsets_to_transaction(offsets, metadata, timeout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)


def _paused_supervisor(rig: KafkaRig, call: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.log.paused_supervisor", rig.bootstrap, rig.prefix, str(PARTITIONS), call]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _await_stop(process: "subprocess.Popen[str]") -> None:
    watched = psutil.Process(process.pid)
    while watched.status() != psutil.STATUS_STOPPED:
        assert process.poll() is None, "the supervisor ended before its step"
        watched.cpu_percent(0.05)


def _await_decided(rig: KafkaRig) -> None:
    """Wait until the broker ended what is open in the first transitions partition."""
    reader = rig.log.reader()
    assert list(replay(reader, {TRANSITIONS: 0}, reader.ends([TRANSITIONS]), timeout=60)) == []


def _raise_partitions(rig: KafkaRig, topics: list[Topic], count: int) -> None:
    admin = AdminClient(rig.log._cluster.client({}))
    for future in admin.create_partitions([NewPartitions(rig.prefix + topic, count) for topic in topics]).values():
        future.result(30)
    # Acknowledged by the controller, it reaches the brokers a moment later.
    while any(rig.log._cluster._counts(10)[rig.prefix + topic] != count for topic in topics):
        rig.log._cluster._admin.poll(0.05)
