"""Law 12 for the supervisor: what a foreign client, worker or person let through is copied into no record of ours."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.events import inputs as events
from remit.events.base import Usage
from remit.events.service import Dispatch
from remit.log.memory import MemoryLog
from remit.topics import ANSWERED, Topic
from tests.redaction.canaries import assert_clean, log_bytes, names, texts
from tests.redaction.test_clients import BRISK, NAMES, PROSE, a_world, filled
from tests.supervisor.world import World, completed, evidence, two_tasks

Slip = Callable[[World, Dispatch, str], None]
THEIRS = {*ANSWERED, Topic.LEASES, Topic.WORKERS, Topic.LIVENESS, Topic.POLICIES} - {Topic.INSPECTIONS}


def ours(log: MemoryLog) -> Iterator[tuple[str, bytes]]:
    """What supervisor and inspector wrote."""
    for place, data in log_bytes(log):
        if place.partition("[")[0] not in THEIRS:
            yield place, data


def _result(world: World, offer: Dispatch, **changed: Any) -> None:
    world.claim(offer)
    world.result(offer, completed(offer, world, **changed))


def _evidence(field: str, value: Callable[[str], Any]) -> Slip:
    def slip(world: World, offer: Dispatch, text: str) -> None:
        proof = completed(offer, world).evidence or (_record(world, offer),)
        _result(world, offer, evidence=tuple(replace(each, **{field: value(text)}) for each in proof))

    return slip


def _record(world: World, offer: Dispatch) -> Any:
    return evidence(offer, world, {"id": "works", "kind": "command", "command": "suite"})


def _lease(kind: str, **said: Callable[[str], Any]) -> Slip:
    def slip(world: World, offer: Dispatch, text: str) -> None:
        if kind == "renewed":
            world.claim(offer)
            world.settle()
        world._lease(offer, kind, **{name: value(text) for name, value in said.items()})
        world.settle()
        world.forward(40)  # what was said last is booked

    return slip


def _stored(world: World, offer: Dispatch, text: str) -> None:
    found = completed(offer, world)
    _result(world, offer, log=world.store.put(text.encode()), evidence=found.evidence)


def _malformed(world: World, offer: Dispatch, text: str) -> None:
    world.claim(offer)
    world.result(offer, None, malformed=events.Malformed(text=text, faults=(text,)))


def _late(world: World, offer: Dispatch, text: str) -> None:
    world.claim(offer)
    world.settle()
    world.forward(40)
    world.settle()
    world.result(offer, completed(offer, world, usage=Usage(tokens_in=5, model=text), message=text))


def _decision(**said: Callable[[str], Any]) -> Slip:
    def slip(world: World, offer: Dispatch, text: str) -> None:
        fields = {"kind": "cancel", "person": "user:priya", "reason": "x"}
        fields |= {name: value(text) for name, value in said.items()}
        world.write_input(Topic.DECISIONS, events.Decision, offer.workflow_id, **fields)

    return slip


def same(text: str) -> str:
    """The text itself."""
    return text


SLIPS: dict[str, Slip] = {
    "message": lambda world, offer, text: _result(world, offer, message=text),
    "output": lambda world, offer, text: _result(world, offer, output=json.dumps({"report": text})),
    "output's name": lambda world, offer, text: _result(world, offer, output=json.dumps({text: 1})),
    "no JSON": lambda world, offer, text: _result(world, offer, output=text),
    "environment": lambda world, offer, text: _result(world, offer, environment={"python": text}),
    "environment's name": lambda world, offer, text: _result(world, offer, environment={text: "3"}),
    "model": lambda world, offer, text: _result(world, offer, usage=Usage(model=text)),
    "evidence note": _evidence("note", same),
    "evidence command": _evidence("command", same),
    "evidence argv": _evidence("argv", lambda text: ("python", text)),
    "evidence checks": _evidence("checks", lambda text: (text,)),
    "evidence task": _evidence("task_id", same),
    "evidence worker": _evidence("worker_id", same),
    "cases": _evidence("failed_cases", lambda text: (text,)),
    "stored": _stored,
    "malformed": _malformed,
    "late": _late,
    "decline": _lease("decline", reason=same),
    "claimed usage": _lease("claim", usage=lambda text: Usage(model=text)),
    "renewed usage": _lease("renewed", usage=lambda text: Usage(model=text)),
    "renewed note": _lease("renewed", note=same),
    "task of a lease": _lease("claim", task_id=same),
    "reason": _decision(reason=same),
    "person": _decision(person=same),
    "task": _decision(task_id=same),
    "item": _decision(item_id=same, kind=lambda _: "resolve"),
    "resolution": _decision(resolution=same, kind=lambda _: "resolve"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_foreign_records_secret_is_copied_nowhere(slip: str) -> None:
    """REDACT-2: transitions, dispatches, inspections, dead letters and checkpoints hold nothing of it."""

    @settings(BRISK, max_examples=3)
    @given(texts())
    def holds(secret: tuple[str, str]) -> None:
        canary, text = secret
        with a_world() as world:
            world.worker()
            world.submit(two_tasks())
            world.settle()
            SLIPS[slip](world, world.offer(), text)
            world.settle()
            world.forward(120)
            world.settle()
            assert_clean(canary, ours(world.log))

    holds()


@settings(BRISK, max_examples=20)
@given(st.sampled_from([*PROSE, *NAMES]), st.one_of(names(), texts()))
def test_a_foreign_contract_with_a_secret_is_refused(path: tuple[str | int, ...], secret: tuple[str, str]) -> None:
    """Law 12: a client that does not clean gets its contract back, and the refusal does not quote it."""
    canary, text = secret
    with a_world() as world:
        document = filled(path, text)
        world.submit(document, document.get("workflow_id", "w1"), document.get("tenant_id", "default"))
        world.settle()
        assert_clean(canary, ours(world.log))


@settings(BRISK, max_examples=20)
@given(
    st.sampled_from(sorted(THEIRS.intersection(ANSWERED))),
    st.one_of(names(), texts()),
    st.sampled_from([b"", b"\0\0\0\0\1"]),
)
def test_a_dead_letter_quotes_nothing(topic: Topic, secret: tuple[str, str], before: bytes) -> None:
    """Law 12: neither bytes that are no record nor a key that is none get into it."""
    canary, text = secret
    with a_world() as world:
        world.settle()
        world.raw(topic, before + text.encode())
        world.raw(topic, before + text.encode(), text.encode(), 0)
        world.raw(topic, b"", f"default/{text}".encode(), 0)
        world.settle()
        assert len(world.dead_letters()) == 3
        assert_clean(canary, ours(world.log))
