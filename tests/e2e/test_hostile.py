"""What must not get through, on a real broker with real processes: garbage, and words in place of evidence."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from remit.codec import decode
from remit.events.service import DeadLetter
from remit.log.catch_up import replay
from remit.log.protocols import Partition
from remit.topics import INPUTS, Topic, workflow_key
from tests.crash.rig import Rig, kill

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
GARBAGE = b"\x01\xff not one of ours \x00"
KEY = workflow_key("local", "pipeline-1")


@pytest.fixture
def rig(kafka: str, prefix: str, tmp_path: Path) -> Iterator[Rig]:
    """Topics and a policy; nothing at work yet."""
    made = Rig(kafka, prefix, tmp_path)
    yield made
    made.close()


def _pollute(rig: Rig) -> None:
    """Write bytes that are no record of ours onto every topic, under a workflow's key."""
    producer = Producer({"bootstrap.servers": rig.env["KAFKA_BOOTSTRAP_SERVERS"], "partitioner": "murmur2"})
    for topic in Topic:
        producer.produce(rig.env["REMIT_TOPIC_PREFIX"] + topic, GARBAGE, KEY)
    assert producer.flush(30) == 0


def _dead_letters(rig: Rig) -> list[DeadLetter]:
    reader = rig.log.reader()
    try:
        every = [Partition(Topic.DEAD_LETTERS, n) for n in range(8)]
        read = [
            each for batch in replay(reader, dict.fromkeys(every, 0), reader.ends(every), timeout=30) for each in batch
        ]
    finally:
        reader.close()
    events = [decode(each.topic, each.value) for each in read if each.value != GARBAGE]
    return [each for each in events if isinstance(each, DeadLetter)]


def test_garbage_on_every_topic_stops_nothing(rig: Rig) -> None:
    """RETRY-4: garbage of each input is one dead letter, also after a takeover; the other topics' stops nobody."""
    first = rig.supervisor()
    rig.until(lambda: True if "serving shards" in rig.logs() else None, "a supervisor that serves")
    _pollute(rig)
    rig.start("projector", "run")
    rig.worker("shell-1", ROOT / "examples/pipeline/step.sh")
    rig.run("submit", str(ROOT / "examples/pipeline/workflow.yaml"), "--wait")
    kill(first)
    rig.supervisor()
    rig.run("submit", str(ROOT / "examples/pipeline/workflow.yaml"), "--id", "again", "--wait")
    letters = _dead_letters(rig)
    assert sorted(each.source_topic for each in letters) == sorted(INPUTS)
    assert {each.kind.value for each in letters} == {"undecodable"}
    assert json.loads(rig.run("show", "pipeline-1", "--json"))["status"] == "accepted"
