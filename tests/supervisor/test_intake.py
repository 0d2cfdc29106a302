"""Records as they come: unreadable, misplaced, foreign, unknown, too large. None stops a shard or another workflow."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from remit.codec import encode
from remit.events import inputs as events
from remit.events.envelope import new_event
from remit.ids import is_id
from remit.log.outgoing import size_of
from remit.topics import INPUTS, MAX_MESSAGE_BYTES, Topic, partition_of
from supervisor import intake, step
from supervisor.checks import envelope
from supervisor.decide import decided as decided_well
from supervisor.outbox import outbox as tell
from tests.supervisor.world import World, completed, evidence, two_tasks

UNKNOWN: dict[Topic, tuple[type, dict[str, Any]]] = {
    Topic.CONTRACTS: (events.Contract, {"document": "{}", "content_digest": "", "submitter": "x"}),
    Topic.LEASES: (events.Lease, {"worker_id": "w", "task_id": "a", "fencing_token": 1}),
    Topic.RESULTS: (
        events.Result,
        {
            "worker_id": "w",
            "task_id": "a",
            "fencing_token": 1,
            "submission": 1,
            "state_version": 1,
            "contract_sha256": "",
        },
    ),
    Topic.INSPECTIONS: (events.Inspection, {"task_id": "a"}),
    Topic.DECISIONS: (events.Decision, {"person": "user:priya"}),
    Topic.RECEIPTS: (
        events.Receipt,
        {
            "effect_id": "e",
            "effect_key": "k",
            "target": "t",
            "content_sha256": "",
            "authorised_sequence": 1,
            "effect_attempt": 1,
        },
    ),
}


def unknown(world: World, topic: Topic, workflow_id: str) -> None:
    """A valid record of a kind that this build doesn't know."""
    cls, said = UNKNOWN[topic]
    ids = dict.fromkeys(("incarnation", "attempt_id", "request_id"), world.incarnations["w1"])
    fields: dict[str, Any] = {name: value for name, value in ids.items() if name in cls.__annotations__}
    world.write_input(topic, cls, workflow_id, kind="UNKNOWN", **said, **fields)


@pytest.mark.parametrize("topic", INPUTS)
def test_bad_records_leave_one_dead_letter_each_and_nothing_stops(world: World, topic: Topic) -> None:
    """RETRY-4: garbage, truncated, empty, null: one dead letter each; an unknown kind freezes its workflow alone."""
    world.worker()
    world.submit(two_tasks())
    world.submit(two_tasks(workflow_id="w2"), "w2")
    world.settle()
    truncated = encode_decision(world)[:20]
    for value in (b"\x13\x37 garbage", truncated, b"", None):
        world.raw(topic, value)
    unknown(world, topic, "w2")
    world.settle()
    letters = world.dead_letters()
    assert [(each.kind.value, each.source_topic) for each in letters] == [("undecodable", topic)] * 4
    assert len({each.source_offset for each in letters}) == 4
    assert (world.workflow("w2").status.value, world.kinds("w2")[-1]) == ("quarantined", "workflow_quarantined")
    world.run(world.sent()[0])
    assert "result_accepted" in world.kinds()


@pytest.mark.parametrize("topic", INPUTS)
def test_a_bad_record_that_is_last_stays_decided_after_a_takeover(world: World, topic: Topic) -> None:
    """RETRY-4: a takeover with the bad record last writes no second dead letter and raises no position alarm."""
    world.submit(two_tasks())
    world.settle()
    world.raw(topic, b"garbage")
    world.settle()
    before = world._size()
    for _ in range(3):
        world.restart()
        world.settle()
        assert (world.counts()["position_alarm"], world.counts()["decided_before"]) == (0, 0)
    assert (world._size(), len(world.dead_letters())) == (before, 1)


def test_a_record_in_the_wrong_partition_is_a_dead_letter(world: World) -> None:
    """KOPS-4: a key that hashes to another partition is misplaced: it is not decided where it lies."""
    right = partition_of(b"default/w1", world.log.partitions)
    world.raw(Topic.DECISIONS, encode_decision(world), partition=1 - right)
    world.settle()
    assert ([each.kind.value for each in world.dead_letters()], world.history()) == (["misplaced"], [])


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (b"default/other", "not_allowed"),
        (b"_shard/0", "not_allowed"),
        (b"_shard/w1", "not_allowed"),
        (b"no slash", "undecodable"),
        (b"\xff/\xfe", "undecodable"),
        (b"", "undecodable"),
    ],
)
def test_a_key_that_is_not_the_event_s_own_is_a_dead_letter(world: World, key: bytes, kind: str) -> None:
    """A record under another workflow's key, a shard's own key, or no key at all decides nothing."""
    world.raw(Topic.DECISIONS, encode_decision(world), key)
    world.settle()
    assert [each.kind.value for each in world.dead_letters()] == [kind]


def encode_decision(world: World) -> bytes:
    said: dict[str, Any] = {"kind": events.DecisionKind.CANCEL, "person": "user:priya"}
    fields: dict[str, Any] = {"tenant_id": "default", "workflow_id": "w1", "producer": "x"}
    return encode(Topic.DECISIONS, new_event(events.Decision, clock_now=world.clock(), **fields, **said))


def test_a_tenant_under_the_shard_s_own_name_is_refused(world: World) -> None:
    """`_shard` is a well-formed id, yet its keys are the log's own: such a submission is a dead letter."""
    assert is_id("_shard")
    world.submit(two_tasks(tenant_id="_shard"), tenant_id="_shard")
    world.settle()
    assert [each.kind.value for each in world.dead_letters()] == ["not_allowed"]


def test_an_event_of_another_topic_is_no_record_of_this(world: World) -> None:
    """What decodes by another topic's schema is a dead letter."""
    world.raw(Topic.RESULTS, encode_decision(world))
    world.settle()
    assert [each.kind.value for each in world.dead_letters()] == ["undecodable"]


def test_what_speaks_of_no_workflow_is_a_dead_letter_but_a_heartbeat_is_only_counted(world: World) -> None:
    """LEASE-8: a renewal that names what is not there is ignored and counted; anything else is a dead letter."""
    world.worker()
    world.submit(two_tasks())
    world.settle()
    offer = world.offer()
    world.write_input(
        Topic.LEASES, events.Lease, "nobody", kind="renewed", worker_id="w1", incarnation=world.incarnations["w1"],
        task_id="a", attempt_id=offer.attempt_id, fencing_token=2,
    )  # fmt: skip
    world.cancel("nobody")
    world.settle()
    assert [each.kind.value for each in world.dead_letters()] == ["unknown_workflow"]
    assert world.counts()["renewal_ignored"] == 1


def test_renewals_alone_open_no_transaction(world: World) -> None:
    """A batch of renewals decides nothing, commits nothing, and leaves no transition (LEASE-1, KTXN-4)."""
    offer = world.begun()
    before = world._size()
    for progress in range(8):
        world.renew(offer, progress=progress)
    world.supervisor.turn(0)
    assert world._size() == before + 8


def broken(fault: Any, workflow_id: str) -> Any:
    """A decide that fails for one workflow."""

    def decided(state: Any, *rest: Any) -> Any:
        if state.workflow_id == workflow_id:
            raise fault
        return decided_well(state, *rest)

    return decided


@pytest.mark.parametrize("fault", [KeyError("x"), RecursionError(), ZeroDivisionError()])
def test_a_fault_in_decide_freezes_one_workflow(world: World, monkeypatch: pytest.MonkeyPatch, fault: Any) -> None:
    """A decide that raises quarantines its workflow as decider_fault; the others go on."""
    world.worker(slots=2)
    world.submit(two_tasks())
    world.submit(two_tasks(workflow_id="w2"), "w2")
    world.settle()
    monkeypatch.setattr(intake, "decided", broken(fault, "w2"))
    world.cancel("w2")
    world.settle()
    workflow = world.workflow("w2")
    assert (workflow.status.value, workflow.stop_reason) == ("quarantined", "decider_fault")
    assert [each.kind.value for each in world.sent(kind="cancel")] == ["cancel"]
    world.run(next(each for each in world.sent() if each.workflow_id == "w1"))
    assert "result_accepted" in world.kinds()


def test_a_fault_on_a_contract_refuses_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decide that raises on a contract leaves a rejection: its submitter gets an answer."""
    monkeypatch.setattr(intake, "decided", broken(KeyError("x"), "w1"))
    world.submit(two_tasks())
    world.settle()
    assert [(each.kind.value, each.reason) for each in world.history()] == [("contract_rejected", "decider_fault")]


def test_a_fault_in_the_outbox_freezes_one_workflow(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't be told to a worker is a fault of one workflow too, and nothing of the decision is written."""
    world.worker()
    world.submit(two_tasks())
    broken_once = iter([True])

    def outbox(*given: Any) -> Any:
        if given[1].kind.value == "dispatched" and next(broken_once, False):
            raise AttributeError
        return tell(*given)

    monkeypatch.setattr(step, "outbox", outbox)
    world.settle()
    assert world.kinds() == ["contract_accepted", "workflow_quarantined"]


def test_even_a_quarantine_that_fails_stops_nobody_else(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If not even the quarantine can be written the workflow is frozen and its records are dead letters."""
    world.worker()
    world.submit(two_tasks())
    world.submit(two_tasks(workflow_id="w2"), "w2")
    world.settle()

    def quarantine(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(intake, "decided", broken(KeyError("x"), "w2"))
    monkeypatch.setattr(intake, "quarantine", quarantine)
    world.cancel("w2")
    world.cancel("w1")
    world.settle()
    assert [each.kind.value for each in world.dead_letters()] == ["not_allowed"]
    assert world.workflow("w1").stop_reason == "cancelled"


def test_a_result_with_too_much_evidence_is_refused_by_its_size(world: World) -> None:
    """KOPS-5: 200 records that no transition could embed refuse the result, with size and limit; the others go on."""
    world.worker(slots=2)
    world.submit(two_tasks())
    world.submit(two_tasks(workflow_id="w2"), "w2")
    world.settle()
    offer, other = sorted(world.sent(), key=lambda each: each.workflow_id)
    world.claim(offer)
    world.settle()
    check = {"id": "works", "kind": "command", "command": "suite"}
    much = tuple(evidence(offer, world, check, note="x" * 8000) for _ in range(200))
    world.result(offer, completed(offer, world, evidence=much))
    world.settle()
    refused = world.history()[-1] if world.kinds()[-1] == "result_refused" else world.history()[-2]
    assert (refused.kind.value, refused.ending and refused.ending.recovery.value) == ("result_refused", "retry")
    assert refused.ending is not None
    (fault,) = refused.ending.faults
    assert re.fullmatch(r"the result has \d+ bytes, at most 786432: hand over .* as artefacts", fault)
    assert refused.settlement is not None
    assert refused.settlement.usage.tokens_in == 1000
    world.run(other)
    assert "result_accepted" in world.kinds("w2")


def test_a_result_whose_transition_would_be_too_large_freezes_one_workflow(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record near the size limit, were it let through, must not break the step that embeds it: the shard goes on."""
    monkeypatch.setattr(envelope, "MAX_RESULT_BYTES", 2 * MAX_MESSAGE_BYTES)
    world.worker()
    world.submit(two_tasks())
    world.settle()
    world.run(world.offer())
    offer = world.offer()
    world.claim(offer)
    world.settle()
    check = {"id": "works", "kind": "command", "command": "suite"}
    body = completed(offer, world, evidence=(evidence(offer, world, check, note=""),))
    room = MAX_MESSAGE_BYTES - size_of_result(world, offer, body) - 8
    world.result(offer, completed(offer, world, evidence=(evidence(offer, world, check, note="x" * room),)))
    world.settle()
    assert world.workflow().stop_reason == "decider_fault"
    world.submit(two_tasks(workflow_id="w2"), "w2")
    world.settle()
    assert world.kinds("w2")[0] == "contract_accepted"


def size_of_result(world: World, offer: Any, body: Any) -> int:
    sent: list[Any] = []
    writer, world.writer = world.writer, type("Writer", (), {"append": staticmethod(sent.extend)})()
    world.result(offer, body)
    world.writer = writer
    return size_of(sent[0])


def test_a_workflow_whose_policy_is_not_there_is_frozen_with_a_trace(world: World) -> None:
    """Without its pinned policy nothing is decided on a workflow; each record of it still leaves a dead letter."""
    world.submit(two_tasks())
    world.settle()
    world.supervisor._directory.policies.clear()
    world.cancel()
    world.cancel()
    world.settle()
    assert [each.reason for each in world.dead_letters()] == ["the workflow is frozen: policy_missing"] * 2


def test_a_forked_history_is_frozen_and_alarmed(world: World) -> None:
    """STATE-3: a repeat that no older generation explains freezes its workflow at the next takeover."""
    world.submit(two_tasks())
    world.settle()
    last = next(each for each in world.read(Topic.TRANSITIONS) if each.key == b"default/w1")
    world.raw(Topic.TRANSITIONS, last.value)
    world.restart()
    world.settle()
    assert world.shards.frozen == {("default", "w1"): "history_conflict"}
    world.cancel()
    world.settle()
    assert [each.kind.value for each in world.dead_letters()] == ["not_allowed"]


def test_any_number_of_failing_cases_and_words_fits_into_a_transition(world: World) -> None:
    """KOPS-5: 7,000 failing cases of four checks, and a reason of two million letters, are cut and freeze nothing."""
    checks = [
        {"id": f"works{n}", "kind": "test_run", "task": "a", "command": "suite", "holds_at": "none"} for n in range(4)
    ]
    world.worker()
    world.submit(two_tasks(checks={"it works": checks}))
    world.settle()
    offer = world.offer()
    world.claim(offer)
    world.settle()
    cases = tuple(f"tests.test_module_{n % 37}.TestClass::test_some_behaviour_{n}" for n in range(7000))
    run = evidence(offer, world, {"id": "works0", "kind": "test_run", "command": "suite"}, exit_status=1)
    failing = replace(run, checks=tuple(each["id"] for each in checks), failed_cases=cases, passed_cases=())
    world.result(offer, completed(offer, world, evidence=(failing,)))
    world.settle()
    ended = next(each.ending for each in world.history() if each.ending)
    assert len(ended.faults) == 101
    assert ended.faults[-1].startswith("and ")
    said = {"kind": "cancel", "person": "user:priya", "reason": "x y " * (MAX_MESSAGE_BYTES // 4 - 200)}
    world.write_input(Topic.DECISIONS, events.Decision, "w1", **said)
    world.settle()
    assert (world.history()[-1].kind.value, world.workflow().stop_reason) == ("workflow_stopped", "cancelled")
