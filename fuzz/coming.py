"""What may rightly come next in the little world: a claim, a good result, a cancellation, by what was offered."""

import json
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from typing import Any

from remit.contract.handout import read_handout
from remit.events import inputs, service
from remit.events.base import Event, Evidence, EvidenceForm, EvidenceType, ObservedBy, Usage
from remit.ids import sha256
from remit.subjects import subject_of
from remit.topics import Topic, dispatches

from .quiet import quietly
from .said import (
    AT,
    DOCUMENT,
    INCARNATION,
    OUTPUT,
    POLICY,
    POOL,
    REPORT,
    WORKFLOW,
    artefact,
    contract,
    liveness,
    new,
    policy,
    worker,
)
from .worlds import World


@cache
def offer() -> service.Dispatch:
    """The offer of the world's first task."""
    with quietly(), closing(World()) as world:
        return next(each for each in world.events(dispatches(POOL)) if isinstance(each, service.Dispatch))


@cache
def right_inputs() -> tuple[tuple[str, Event], ...]:
    """The events, by topic."""
    offered = offer()
    decision = new(inputs.Decision, "cancel", kind=inputs.DecisionKind.CANCEL, person="user:priya", reason="no need")
    return (
        (Topic.LEASES, _lease(offered, inputs.LeaseKind.CLAIM)),
        (Topic.RESULTS, _result(offered)),
        (Topic.LEASES, _lease(offered, inputs.LeaseKind.RENEWED)),
        (Topic.LEASES, _lease(offered, inputs.LeaseKind.DECLINE)),
        (Topic.DECISIONS, decision),
        (Topic.CONTRACTS, contract(WORKFLOW, DOCUMENT)),
        (Topic.WORKERS, worker()),
        (Topic.LIVENESS, liveness()),
        (Topic.POLICIES, policy(POLICY)),
    )


def _of(sent: service.Dispatch) -> dict[str, Any]:
    names = ("worker_id", "task_id", "attempt_id", "fencing_token")
    return {name: getattr(sent, name) for name in names} | {"incarnation": INCARNATION}


def _lease(sent: service.Dispatch, kind: inputs.LeaseKind) -> inputs.Lease:
    found: inputs.Lease = new(
        inputs.Lease, kind.value, kind=kind, usage=Usage(tokens_in=5, tool_calls=1), progress=1, **_of(sent)
    )
    return found


def _result(sent: service.Dispatch) -> inputs.Result:
    if sent.offer is None:
        raise TypeError("an offer without its terms")
    body = inputs.ResultBody(
        status=inputs.ResultStatus.COMPLETED,
        error_class=inputs.ErrorClass.COMPLETED,
        output=json.dumps({"report": "fine"}),
        evidence=tuple(_evidence(sent, sent.offer)),
        usage=Usage(tokens_in=1_000, tokens_out=500, tool_calls=2),
        input_versions=sent.offer.inputs,
        environment={"python": "3.11.7"},
        started_at=AT,
        ended_at=AT,
    )
    state: dict[str, Any] = {"state_version": sent.state_version, "contract_sha256": sent.offer.contract_sha256}
    said = _of(sent) | state | {"submission": 1, "result": body}
    found: inputs.Result = new(inputs.Result, "result", kind=inputs.ResultKind.SUBMITTED, **said)
    return found


def _evidence(sent: service.Dispatch, terms: service.Offer) -> Iterator[Evidence]:
    handout = read_handout(terms.contract)
    for check in handout.checks():
        yield Evidence(
            kind=EvidenceType.TEST_RUN,
            observed_by=ObservedBy.RUNNER,
            worker_id=sent.worker_id,
            task_id=sent.task_id,
            attempt_id=sent.attempt_id,
            checks=(check.id,),
            command=check.command,
            form=EvidenceForm.FULL,
            output=artefact(OUTPUT),
            report=artefact(REPORT),
            environment_digest=sha256(b"environment"),
            argv=handout.commands[check.command or ""].argv,
            subject=subject_of(terms.inputs),
            exit_status=0,
            passed_cases=("tests.a::test_b",),
            started_at=AT,
            ended_at=AT,
        )
