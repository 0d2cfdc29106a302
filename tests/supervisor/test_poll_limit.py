"""A supervisor whose handling takes longer than the group waits for its poll."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from remit.artefacts import ArtefactStore
from remit.client import policies, submission
from remit.codec import decode
from remit.doctor import Finding
from remit.doctor.checks import reading
from remit.doctor.probe_cluster import log_of, supervisors
from remit.events.transitions import Transition, TransitionKind
from remit.log.catch_up import replay
from remit.log.kafka import session
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.log import KafkaLog
from remit.log.kafka.probe import Probe
from remit.log.protocols import Partition
from remit.settings import Settings
from remit.topics import Topic, fixed_specs
from supervisor import intake
from supervisor.decide import decided
from supervisor.service import Supervisor
from tests.supervisor.world import POLICY, World, completed, two_tasks

LIMIT_MS = 6_000
PATIENCE_S = 60


class Stall:
    """The decision of one workflow takes as long as it is held, the first time."""

    def __init__(self) -> None:
        self.entered, self.go_on, self.calls = threading.Event(), threading.Event(), 0
        self._decided = decided

    def __call__(self, state: Any, item: Any, facts: Any) -> Any:
        """Decide, later."""
        if state.workflow_id == "slow":
            self.calls += 1
            self.entered.set()
            assert self.go_on.wait(PATIENCE_S)
        return self._decided(state, item, facts)


@pytest.fixture
def cluster(kafka: str, prefix: str) -> Settings:
    """Topics and a policy of this test alone."""
    settings = Settings(bootstrap=kafka, topic_prefix=prefix, partitions=2)
    TopicAdmin(settings).create(fixed_specs(prefix, 2))
    with closing(KafkaLog.from_settings(settings)) as log:
        policies.apply_policy(log, POLICY, lambda _: None)
    return settings


@pytest.fixture
def stall(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stall]:
    """Short limits, and a decision that can be held up."""
    monkeypatch.setitem(session.MEMBER, "max.poll.interval.ms", LIMIT_MS)
    monkeypatch.setitem(session.MEMBER, "session.timeout.ms", LIMIT_MS)
    made = Stall()
    monkeypatch.setattr(intake, "decided", made)
    yield made
    made.go_on.set()


@pytest.mark.kafka
def test_a_supervisor_that_handles_for_too_long_rejoins_and_decides_once(
    cluster: Settings, stall: Stall, tmp_path: Path
) -> None:
    """KTXN-9: doctor tells that nobody consumes; then by itself it rejoins, and decides each event once."""
    store = ArtefactStore(str(tmp_path))
    with closing(KafkaLog.from_settings(cluster)) as log, serving(log, store):
        slow = start(lambda: submit(log, store, "slow"))
        assert stall.entered.wait(PATIENCE_S)
        while _members(cluster):  # until the group has given it up
            pass
        (finding,) = findings(cluster)
        assert finding.says.startswith("no member of the supervisors' group consumes now")
        assert finding.mend == "remit supervisor run"
        stall.go_on.set()
        assert slow().kind is TransitionKind.CONTRACT_ACCEPTED
        assert submit(log, store, "next").kind is TransitionKind.CONTRACT_ACCEPTED
        assert _members(cluster) == 1
        assert findings(cluster) == []
        assert [(t.workflow_id, t.sequence) for t in transitions(log)] == [("next", 1), ("slow", 1)]
    assert stall.calls > 1


def test_an_inspection_holds_up_no_poll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KTXN-9: what waits for a store runs beside the loop, which goes on deciding meanwhile."""
    world = World(tmp_path)
    world.worker()
    world.submit(two_tasks())
    world.settle()
    world.run(world.offer())
    offer = world.offer()
    world.claim(offer)
    world.settle()
    world.result(offer, completed(offer, world))
    held, entered = threading.Event(), threading.Event()
    threads: list[str] = []

    def waits(*_: Any) -> Any:
        threads.append(threading.current_thread().name)
        entered.set()
        assert held.wait(PATIENCE_S)
        raise RuntimeError

    monkeypatch.setattr(world.supervisor._inspector, "_look", waits)
    while not entered.wait(0):
        world.supervisor.turn(0)
        assert "result_refused" not in world.kinds()
    world.submit(two_tasks(workflow_id="w2"), "w2")
    while "contract_accepted" not in world.kinds("w2"):
        world.supervisor.turn(0)
    held.set()
    world.close()
    assert threading.main_thread().name not in threads


class serving:  # noqa: N801 - a block
    """A supervisor in a thread for as long as the block lasts."""

    def __init__(self, log: KafkaLog, store: ArtefactStore) -> None:
        self._made = Supervisor(log, "s1", store, lambda: datetime.now(UTC))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._made.run, args=(self._stop,))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_S)
        self._made.close()


def start(work: Callable[[], Transition]) -> Callable[[], Transition]:
    """Begin in a thread; what waits for its answer."""
    found: list[Transition] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()

    def answer() -> Transition:
        thread.join(PATIENCE_S)
        return found[0]

    return answer


def submit(log: KafkaLog, store: ArtefactStore, workflow_id: str) -> Transition:
    """Submit and wait for the answer."""
    rules = submission.newest_policy(log, workflow_id)
    event = submission.prepare(two_tasks(workflow_id=workflow_id), workflow_id, rules, store, Path())
    return submission.send(log, event, timeout=PATIENCE_S)


def findings(settings: Settings) -> tuple[Finding, ...] | list[Finding]:
    """What doctor says of the supervisors' lag, two minutes from now."""
    probe = Probe(settings)
    read = supervisors(probe, log_of(probe, TopicAdmin(settings), settings))
    return list(reading.lag([read], datetime.now(UTC) + timedelta(minutes=2)))


def _members(settings: Settings) -> int:
    return Probe(settings).standing(f"{settings.topic_prefix}supervisors", []).members


def transitions(log: KafkaLog) -> list[Transition]:
    """All that were written, by workflow."""
    every = [Partition(Topic.TRANSITIONS, number) for number in range(log.partitions)]
    with closing(log.reader()) as reader:
        read = replay(reader, dict.fromkeys(every, 0), reader.ends(every), timeout=PATIENCE_S)
        found = [decode(each.topic, each.value) for batch in read for each in batch]
    return sorted((t for t in found if isinstance(t, Transition)), key=lambda t: (t.workflow_id, t.sequence))
