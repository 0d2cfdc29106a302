"""The log that the projection is measured on: four-task workflows in which all goes well, 64 in flight. Pure.

Transitions come from the tests' builders; contracts, results and inspections are added as a supervisor reads them,
since the projector decodes them too. Leases, liveness, dispatches and checkpoints aren't read, and left out.
"""

from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, islice
from uuid import NAMESPACE_URL, UUID, uuid5

from remit.codec import encode
from remit.contract import normal
from remit.events.base import ArtefactRef, Event, Usage
from remit.events.inputs import (
    Answer,
    Contract,
    ContractKind,
    ErrorClass,
    Inspection,
    InspectionKind,
    QuestionKind,
    Result,
    ResultBody,
    ResultKind,
    ResultStatus,
    Verdict,
)
from remit.events.transitions import Transition, TransitionKind
from remit.log.protocols import Message
from remit.topics import Topic, workflow_key
from tests.projector.histories import START, History, contract, evidence, message, policy

TASKS = ("requirements", "coding", "testing", "security")
IN_FLIGHT = 64
PER_WORKFLOW = 27
"""Records of one workflow: its contract, four tasks of four transitions with result and inspection, begin and end."""


def messages(events: int) -> Iterator[list[Message]]:
    """At least so many records, as they would be appended: one step of each workflow in flight at a time."""
    yield [message(policy())]
    workflows = -(-events // PER_WORKFLOW)
    numbers = iter(range(workflows))
    while wave := list(islice(numbers, IN_FLIGHT)):
        for step in zip(*(workflow(number) for number in wave), strict=True):
            yield list(chain.from_iterable(step))


def workflow(number: int) -> Iterator[list[Message]]:
    """One workflow's records, step by step: an input, and the transitions that follow from it."""
    history = History(f"password-reset-{number:06d}", at=START + timedelta(seconds=number))
    history.accept_contract(*TASKS)
    yield [_input(history, Topic.CONTRACTS, _contract(history)), *_new(history, 1)]
    for task in TASKS:
        attempt = history.dispatch(task)
        yield _new(history, 1)
        history.claim(task, attempt)
        yield _new(history, 1)
        request = history.request(task, attempt)
        yield [_input(history, Topic.RESULTS, _result(history, task, attempt)), *_new(history, 1)]
        history.accept(task, attempt)
        inspected = _input(history, Topic.INSPECTIONS, _inspection(request))
        if task == TASKS[-1]:
            history.finish(*TASKS)
        yield [inspected, *_new(history, 2 if task == TASKS[-1] else 1)]


def _new(history: History, count: int) -> list[Message]:
    return [message(event) for event in history.events[-count:]]


def _input(history: History, topic: Topic, event: Event) -> Message:
    return Message(topic, workflow_key(history.tenant, history.workflow_id), encode(topic, event))


def _contract(history: History) -> Contract:
    return Contract(
        event_id=_id(history, "contract"),
        tenant_id=history.tenant,
        workflow_id=history.workflow_id,
        occurred_at=history.at,
        producer="cli/priya",
        kind=ContractKind.SUBMITTED,
        document=normal.encode(contract(history.workflow_id, TASKS)),
        content_digest="c" * 64,
        submitter="unverified:priya@host",
    )


def _result(history: History, task: str, attempt: UUID) -> Result:
    about = history.about(task, attempt)
    body = ResultBody(
        status=ResultStatus.COMPLETED,
        error_class=ErrorClass.COMPLETED,
        output='{"report": {"artefact_ref": "artefact://sha256/' + "d" * 64 + '"}}',
        evidence=(evidence(task, attempt),),
        usage=Usage(tokens_in=100, tokens_out=50, tool_calls=2),
        log=ArtefactRef(reference="artefact://sha256/" + "d" * 64, sha256="d" * 64, size=512),
        started_at=history.at,
        ended_at=history.at,
    )
    return Result(
        event_id=_id(history, f"result/{task}"),
        tenant_id=history.tenant,
        workflow_id=history.workflow_id,
        occurred_at=history.at,
        producer=f"worker/{about['worker_id']}",
        kind=ResultKind.SUBMITTED,
        worker_id=about["worker_id"],
        incarnation=_id(history, "worker"),
        task_id=task,
        attempt_id=attempt,
        fencing_token=about["fencing_token"],
        submission=1,
        state_version=history.version,
        contract_sha256="e" * 64,
        result=body,
    )


def _inspection(request: Transition) -> Inspection:
    assert request.kind is TransitionKind.INSPECTION_REQUESTED  # noqa: S101 - tells the type checker
    assert request.task_id is not None  # noqa: S101
    assert request.attempt_id is not None  # noqa: S101
    answer = Answer(
        question_id="report", kind=QuestionKind.ARTEFACT, verdict=Verdict.MATCH, expected=("d" * 64,), found=("d" * 64,)
    )
    return Inspection(
        event_id=uuid5(request.event_id, "inspection"),
        tenant_id=request.tenant_id,
        workflow_id=request.workflow_id,
        occurred_at=request.occurred_at,
        producer="supervisor/s-0",
        kind=InspectionKind.INSPECTED,
        request_id=request.event_id,
        task_id=request.task_id,
        attempt_id=request.attempt_id,
        answers=(answer,),
    )


def _id(history: History, name: str) -> UUID:
    return uuid5(NAMESPACE_URL, f"{history.tenant}/{history.workflow_id}/{name}")
