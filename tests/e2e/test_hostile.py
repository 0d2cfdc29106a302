"""What must not get through, on a real broker with real processes: garbage, and words in place of evidence."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from confluent_kafka import Producer

from remit.codec import decode
from remit.events.service import DeadLetter
from remit.log.catch_up import replay
from remit.log.protocols import Partition
from remit.topics import INPUTS, Topic, workflow_key
from tests.crash.rig import Rig, executable, kill, quick_policy

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
GARBAGE = b"\x01\xff not one of ours \x00"
KEY = workflow_key("local", "pipeline-1")


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


BARE = """#!/bin/sh
set -eu
echo work >>"$REMIT_WORKSPACE/accounts/work.txt"
git -C "$REMIT_WORKSPACE" add -A
git -C "$REMIT_WORKSPACE" -c user.name=w -c user.email=w@example.org commit -q -m work
echo nothing to report >"$REMIT_OUT/findings.md"
cat >"$REMIT_RESULT" <<'JSON'
{"status": "completed", "output": {}, "message": "all tests pass", "evidence": EVIDENCE}
JSON
echo '{"tokens_in": 1, "tokens_out": 1, "tool_calls": 0}' >"$REMIT_USAGE"
"""
OWN_TEST_RUN = {"kind": "test_run", "checks": ["suite"], "command": "suite", "exit_status": 0, "passed_cases": ["t::a"]}


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ([], "/suite: contradicts: suite ended with exit status"),
        ([OWN_TEST_RUN], "/suite: what the worker wrote itself"),
    ],
    ids=["says that all tests pass", "writes its own test run"],
)
def test_words_are_no_evidence(rig: Rig, evidence: list[dict[str, object]], reason: str) -> None:
    """VALID-7: the first article's bare contract; a pass message and a self-written test run are refused alike."""
    prepared = _bare_contract(rig)
    rig.supervisor()
    worker = executable(rig.home / "agent.sh", BARE.replace("EVIDENCE", json.dumps(evidence)))
    rig.start("worker", "run", "--pool", "coding", "--id", "coder", "--sandbox", "off", "--exec", str(worker))
    rig.run("submit", str(prepared), "--id", "bare")
    refused = rig.await_kind("bare", "result_refused")
    assert refused.ending is not None
    assert any(reason in fault for fault in refused.ending.faults), refused.ending.faults
    assert not [each for each in rig.history("bare") if each.kind.value == "workflow_accepted"]


def _bare_contract(rig: Rig) -> Path:
    """The article's contract as it stands, but for the commit, which has to exist; its requirements get their alias."""
    repository = rig.home / "accounts-service"
    commit = _maker().make_repository(repository)
    rig.apply(quick_policy().replace(".remit/repositories/accounts-service", str(repository)))
    (rig.home / "requirements.md").write_text("Single-use tokens that expire.")
    rig.run("artefact", "put", "requirements.md", "--alias", "requirements/781")
    text = (ROOT / "examples/contracts/password-reset-contract.json").read_text("utf-8")
    file = rig.home / "contract.json"
    file.write_text(text.replace("abc123", commit), "utf-8")
    return file


def _maker() -> ModuleType:
    path = ROOT / "examples/password_reset/make_repository.py"
    spec = importlib.util.spec_from_file_location("make_repository", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
