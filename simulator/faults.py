"""What goes wrong beside workers' own ways: with supervisors, the log, workers, people. One function for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from remit.events.envelope import message
from remit.events.inputs import Decision, DecisionKind, Receipt, ReceiptKind
from remit.events.transitions import Stop, StopReason, Transition, TransitionKind, WorkflowStatus
from remit.log.protocols import Message, Partition
from remit.topics import INPUTS, Topic

from .clients import amend, apply_policy, decide
from .people import work_inbox
from .plan import Fault, dice
from .policy import VERIFYING
from .reading import read

if TYPE_CHECKING:
    from random import Random

    from .world import World

WELL_FORMED = b"\x00\x00\x00\x00\x07?"


def schedule(world: World) -> None:
    """Let everything go wrong at its time."""
    for fault in world.plan.faults:
        world.ground.timeline.at(fault.at, lambda each=fault: _apply(world, each))  # type: ignore[misc]


def _apply(world: World, fault: Fault) -> None:
    world.ground.tell("fault", fault.target, str(fault))
    FAULTS[fault.kind](world, fault)


def _chance(world: World, fault: Fault) -> Random:
    return dice("fault", world.plan.seed, fault)


def _arm(world: World, fault: Fault) -> None:
    world.newest(fault.target).arm(fault)


def _rival(world: World, fault: Fault) -> None:
    """Another process starts under the same name."""
    world.start(fault.target)


def _expel(world: World, fault: Fault) -> None:
    """The group loses sight of a process that is well."""
    world.ground.log.expire_session(fault.target)


def _hold(world: World, fault: Fault) -> None:
    """Some partitions come late."""
    chance, process = _chance(world, fault), world.newest(fault.target)
    for topic in INPUTS:
        for number in range(world.ground.log.partitions):
            if chance.random() < 0.6:  # noqa: PLR2004
                process.held[Partition(topic, number)] = world.ground.timeline.now + fault.seconds


def _crawl(world: World, fault: Fault) -> None:
    """It reads a record or two at a time."""
    world.newest(fault.target).crawls_until = world.ground.timeline.now + fault.seconds


def _skew(world: World, fault: Fault) -> None:
    world.newest(fault.target).ahead_s = fault.seconds


def _jump(world: World, fault: Fault) -> None:
    world.ground.ahead_s = fault.seconds


def _forget(world: World, _: Fault) -> None:
    """The group's offsets are gone."""
    world.ground.log.forget_offsets()


def _rewind(world: World, _: Fault) -> None:
    """The group's offsets are set back to the beginning."""
    world.ground.log.rewind_offsets()


def _again(world: World, fault: Fault) -> None:
    """Records come again, the very same bytes: new ones as often as old ones, and what inspectors found."""
    chance = _chance(world, fault)
    places = [Partition(Topic.INSPECTIONS, number) for number in range(world.ground.log.partitions)]
    inspected = [Message(each.topic, each.key or b"", each.value or b"") for each in read(world.ground.log, places)]
    for _ in range(int(fault.seconds)):
        among = chance.choice((world.ground.written, world.ground.written[-6:], inspected))
        if among:
            world.ground.append(chance.choice(among), again=False)


def _garbage(world: World, fault: Fault) -> None:
    """Bytes that no writer of ours writes."""
    chance = _chance(world, fault)
    for _ in range(int(fault.seconds)):
        key = chance.choice((b"default/w0", b"other/w1", b"nobody/nothing", b"", b"_shard/0", b"\xff/\xfe"))
        torn = (each.value[:-1] for each in world.ground.written[-3:] if not world.ground.facts.secrets)
        value = chance.choice((b"", b"?", WELL_FORMED, *torn))
        world.ground.append(Message(chance.choice(INPUTS), key, value, chance.choice((None, 0, 1))), again=False)
    for each in world.ground.written[-2:]:
        world.ground.append(Message(each.topic, b"nobody/nothing", each.value, each.partition), again=False)


def _stray(world: World, fault: Fault) -> None:
    """A fence that did not hold: what an older owner decided comes behind what its successor wrote."""
    last = world.watch.last_of(fault.target)
    if last is None or last.writer.generation < 2 or not last.workflow_id:  # noqa: PLR2004 - nobody came before
        return
    late = world.ground.event(
        Transition,
        tenant_id=last.tenant_id,
        workflow_id=last.workflow_id,
        kind=TransitionKind.WORKFLOW_STOPPED,
        sequence=last.sequence + 1,
        version=last.version + 1,
        writer=replace(last.writer, generation=last.writer.generation - 1),
        policy_sha256=last.policy_sha256,
        decider_version=last.decider_version,
        decided_at=last.decided_at,
        workflow_status=WorkflowStatus.STOPPED,
        reason="cancelled",
        stop=Stop(stop_reason=StopReason.CANCELLED, person="user:priya"),
    )
    world.ground.log.writer().append([message(late, Topic.TRANSITIONS)])
    world.watch.look()


def _die(world: World, fault: Fault) -> None:
    world.hands[fault.target].die(fault.seconds)


def _pause(world: World, fault: Fault) -> None:
    world.hands[fault.target].pause(fault.seconds)


def _leave(world: World, fault: Fault) -> None:
    world.hands[fault.target].leave(fault.seconds)


def _cancel(world: World, fault: Fault) -> None:
    chance = _chance(world, fault)
    task_id = chance.choice((None, "a", "b", "code", "test", "nothing"))
    said = {"person": "user:priya", "task_id": task_id, "reason": "not needed"}
    decide(world.ground, fault.target, Decision, Topic.DECISIONS, kind=DecisionKind.CANCEL, **said)


def _decide(world: World, fault: Fault) -> None:
    """Somebody decides what nobody asked."""
    kind = _chance(world, fault).choice((DecisionKind.APPROVE, DecisionKind.REFUSE, DecisionKind.RESOLVE))
    decide(world.ground, fault.target, Decision, Topic.DECISIONS, kind=kind, person="user:sam", item_id="nothing")


def _resolve(world: World, fault: Fault) -> None:
    """Somebody works the inbox."""
    work_inbox(world.ground, world.watch.workflows(), _chance(world, fault), only=fault.target)


def _amend(world: World, fault: Fault) -> None:
    """A client asks for another version of a contract: less, more, or what can't be."""
    chance = _chance(world, fault)
    for each in world.watch.workflows():
        if each.workflow_id == fault.target:
            task_id = chance.choice(sorted(each.contract.tasks))
            document: dict[str, Any] = chance.choice(
                (
                    {"limits": {"max_tokens": 9000}},
                    {"limits": {"max_tokens": 90000, "max_cost_gbp": "200"}},
                    {"tasks": {task_id: {"objective": "Try it in another way"}}},
                    {"tasks": {task_id: None}},
                    {"definition_of_done": []},
                )
            )
            amend(world.ground, each, {"schema_version": "workflow-v1", **document}, base=chance.choice((0, 0, 0, 1)))


def _receipt(world: World, fault: Fault) -> None:
    """An effect is reported that nobody authorised."""
    said = {"effect_id": "merge", "effect_key": "k", "target": "main", "content_sha256": "0" * 64}
    numbers = {"authorised_sequence": 3, "effect_attempt": 1}
    decide(world.ground, fault.target, Receipt, Topic.RECEIPTS, kind=ReceiptKind.APPLIED, **said, **numbers)


def _policy(world: World, _: Fault) -> None:
    apply_policy(world.ground, VERIFYING)


def _blind(world: World, fault: Fault) -> None:
    """The artefact store is out of reach."""
    world.ground.facts.shelf.blind = True
    world.ground.timeline.after(fault.seconds, world.ground.see_again)


FAULTS: dict[str, Callable[[World, Fault], None]] = {
    "kill": _arm,
    "freeze": _arm,
    "abort": _arm,
    "rival": _rival,
    "expel": _expel,
    "hold": _hold,
    "crawl": _crawl,
    "skew": _skew,
    "jump": _jump,
    "forget": _forget,
    "rewind": _rewind,
    "stray": _stray,
    "again": _again,
    "garbage": _garbage,
    "die": _die,
    "pause": _pause,
    "leave": _leave,
    "cancel": _cancel,
    "decide": _decide,
    "resolve": _resolve,
    "amend": _amend,
    "receipt": _receipt,
    "policy": _policy,
    "blind": _blind,
}
