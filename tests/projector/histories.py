"""Coherent histories for the projector's tests: what a supervisor could have written, made by hand or from a seed."""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from remit.codec import encode
from remit.contract import normal
from remit.events.base import (
    Amounts,
    Cause,
    Evidence,
    EvidenceType,
    ObservedBy,
    Subject,
    SubjectKind,
    Usage,
)
from remit.events.inputs import Decision, DecisionKind, ErrorClass, ResultBody, ResultStatus
from remit.events.service import DeadLetter, DeadLetterKind, Policy, PolicyKind
from remit.events.transitions import (
    NOTES,
    Accepted,
    Candidate,
    Claimed,
    ContractAccepted,
    Dispatched,
    Ending,
    InspectionRequest,
    Note,
    PriceEntry,
    Recovery,
    RequirementHeld,
    Settlement,
    Stop,
    StopReason,
    TaskChange,
    TaskStatus,
    Transition,
    TransitionKind,
    WorkflowGate,
    WorkflowStatus,
    Writer,
)
from remit.ids import attempt_id, transition_id
from remit.log.memory import MemoryLog
from remit.log.protocols import Message
from remit.topics import Topic, shard_key, workflow_key

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
NOTHING = Amounts(cost_gbp=Decimal(0), tokens=0, tool_calls=0)
RESERVED = Amounts(cost_gbp=Decimal("1.00"), tokens=1000, tool_calls=10)
PRICE = PriceEntry(
    name="default",
    per_1k_tokens_in=Decimal("0.01"),
    per_1k_tokens_out=Decimal("0.03"),
    per_tool_call=Decimal("0.001"),
    per_worker_second=Decimal("0.0001"),
)
POLICY_SHA = "a" * 64
POLICY_TEXT = 'schema_version: policy-v1\nenvironment: development\nprices: {human_minute: "0.50"}\n'
K, T, W = TransitionKind, TaskStatus, WorkflowStatus


def contract(workflow_id: str, tasks: Iterable[str], tenant: str = "default", kind: str = "demo") -> normal.Workflow:
    """A normal form with these tasks, one after the other, each with one requirement."""
    names = list(tasks)
    limits = normal.Limits(max_cost_gbp=Decimal("2.00"), max_tokens=12000, max_attempts=3)
    return normal.Workflow(
        tenant_id=tenant,
        workflow_id=workflow_id,
        workflow_type=kind,
        owner="user:priya",
        objective="show it",
        requirements=tuple(_requirement(name) for name in names),
        limits=limits,
        tasks={
            name: normal.TaskContract(
                task_id=name,
                task_type="shell",
                capability="shell",
                pool="shell",
                objective=f"do {name}",
                depends_on=tuple(names[max(0, at - 1) : at]),
                outputs={"report": normal.OutputKind.DOCUMENT},
                permissions=normal.Permissions(grants={"repository": "none"}),
                limits=limits,
            )
            for at, name in enumerate(names)
        },
    )


def _requirement(task: str) -> normal.Requirement:
    check = normal.Check(
        id=f"check-{task}", kind=normal.EvidenceKind.DOCUMENT, task=task, holds_at=normal.HoldsAt.OWN, output="report"
    )
    return normal.Requirement(
        id=f"req-{task}",
        text=f"{task} is done",
        source="definition_of_done",
        mandatory=True,
        security=False,
        checks=(check,),
    )


@dataclass
class History:
    """Writes one workflow's transitions in order; every method adds one and returns it."""

    workflow_id: str = "w1"
    tenant: str = "default"
    at: datetime = START
    generation: int = 1
    sequence: int = 0
    version: int = 0
    status: WorkflowStatus = W.RUNNING
    events: list[Transition] = field(default_factory=list)

    def add(self, kind: TransitionKind, changes: Mapping[str, Any] | None = None, **details: Any) -> Transition:
        """One more transition; `changes` is task to status, `after` seconds pass before it."""
        self.at += timedelta(seconds=details.pop("after", 1))
        self.sequence += 1
        self.version += kind not in NOTES
        round_ = details.get("round") or 1
        cause = details.pop("cause", None) or uuid5(NAMESPACE_URL, f"{self.tenant}/{self.workflow_id}/{self.sequence}")
        event = Transition(
            event_id=transition_id(cause, self.sequence),
            tenant_id=self.tenant,
            workflow_id=self.workflow_id,
            occurred_at=self.at,
            producer="supervisor/s-0",
            cause=Cause(event_id=cause, topic="results", partition=0, offset=self.sequence),
            kind=kind,
            sequence=self.sequence,
            version=self.version,
            writer=Writer(instance="s-0", generation=self.generation),
            policy_sha256=POLICY_SHA,
            decider_version=1,
            decided_at=self.at,
            workflow_status=details.pop("status", self.status),
            changes=tuple(
                TaskChange(task_id=task, status=status, round=round_, reason=details.get("reason"))
                for task, status in (changes or {}).items()
            ),
            **details,
        )
        self.status = event.workflow_status
        self.events.append(event)
        return event

    def accept_contract(self, *tasks: str, version: int = 1, kind: str = "demo", **details: Any) -> Transition:
        """The workflow begins, or its contract is amended."""
        form = contract(self.workflow_id, tasks, self.tenant, kind)
        accepted = ContractAccepted(
            contract_version=version,
            content_digest="c" * 64,
            contract_sha256="d" * 64,
            document=normal.encode(form),
            submitter="unverified:priya@host",
            submitted_at=self.at,
            deadline_at=self.at + timedelta(seconds=900),
        )
        begun = {task: T.WAITING if form.tasks[task].depends_on else T.QUEUED for task in tasks}
        name = K.CONTRACT_ACCEPTED if version == 1 else K.CONTRACT_AMENDED
        return self.add(name, begun if version == 1 else None, contract=accepted, **details)

    def dispatch(self, task: str, worker: str = "w-7", number: int = 1, round_: int = 1, **details: Any) -> UUID:
        """Offer the task; returns the attempt."""
        token = self.sequence + 1
        attempt = attempt_id(self.tenant, self.workflow_id, task, token)
        offer = Dispatched(
            pool="shell",
            incarnation=uuid5(NAMESPACE_URL, worker),
            attempt=number,
            reserved=RESERVED,
            price=PRICE,
            registry_offset=3,
            candidates=(Candidate(worker_id=worker), Candidate(worker_id="w-other", excluded_by="busy")),
            inputs=(),
            offer_until=self.at + timedelta(seconds=11),
            contract_sha256="e" * 64,
            queued_at=self.at,
        )
        about = self.about(task, attempt, worker=worker, token=token, number=number, round_=round_)
        self.add(K.DISPATCHED, {task: T.OFFERED}, dispatch=offer, **about, **details)
        return attempt

    def claim(self, task: str, attempt: UUID, number: int = 1, round_: int = 1, worker: str = "w-7") -> Transition:
        """The attempt begins."""
        claim = Claimed(
            attempt=number,
            incarnation=uuid5(NAMESPACE_URL, worker),
            lease_until=self.at + timedelta(seconds=30),
            deadline_at=None,
            offered_at=self.at,
        )
        return self.add(
            K.CLAIMED,
            {task: T.RUNNING},
            claim=claim,
            **self.about(task, attempt, worker=worker, number=number, round_=round_),
        )

    def request(self, task: str, attempt: UUID, **details: Any) -> Transition:
        """The result goes to inspection."""
        result = ResultBody(
            status=ResultStatus.COMPLETED,
            error_class=ErrorClass.COMPLETED,
            started_at=self.at,
            ended_at=self.at + timedelta(milliseconds=250),
        )
        request = InspectionRequest(
            result=result, submission=1, questions=(), ask_until=self.at + timedelta(seconds=60), tries=1
        )
        return self.add(
            K.INSPECTION_REQUESTED, {task: T.AWAITING_REVIEW}, request=request, **self.about(task, attempt), **details
        )

    def accept(
        self, task: str, attempt: UUID, cost: str = "0.10", *, first_pass: bool = True, **details: Any
    ) -> Transition:
        """The result is accepted and booked."""
        accepted = Accepted(
            outputs=(),
            evidence=(evidence(task, attempt),),
            answers=(),
            subject=evidence(task, attempt).subject,
            first_pass=first_pass,
        )
        return self.add(
            K.RESULT_ACCEPTED,
            {task: T.COMPLETED},
            accepted=accepted,
            settlement=settlement(cost),
            **self.about(task, attempt),
            **details,
        )

    def refuse(
        self,
        task: str,
        attempt: UUID,
        recovery: Recovery,
        cost: str = "0.05",
        changes: Mapping[str, TaskStatus] | None = None,
        **details: Any,
    ) -> Transition:
        """The attempt ends without acceptance."""
        failing = (evidence(task, attempt, failed=("test_expired",)),)
        ending = Ending(
            outcome="refused",
            error_class=ErrorClass.RETRYABLE_FAILED,
            faults=("evidence.suite: exit status 1",),
            recovery=recovery,
            failing=failing,
            evidence=(*failing, evidence(task, attempt)),
            rework_task=task if recovery is Recovery.REWORK else None,
            owner="user:priya" if recovery is Recovery.ESCALATE else None,
        )
        after = {
            Recovery.RETRY: {task: T.BACKING_OFF},
            Recovery.REASSIGN: {task: T.QUEUED},
            Recovery.ESCALATE: {task: T.ESCALATED},
            Recovery.REWORK: {task: T.QUEUED},
        }[recovery]
        return self.add(
            K.RESULT_REFUSED,
            changes or after,
            ending=ending,
            settlement=settlement(cost),
            **self.about(task, attempt),
            **details,
        )

    def finish(self, *tasks: str, cause: UUID | None = None) -> Transition:
        """The final gate holds."""
        gate = WorkflowGate(
            development_acceptance="approved",
            deployment_authorisation="not_required",
            final_subjects=(Subject(kind=SubjectKind.DOCUMENT, digest="f" * 64),),
            requirements=tuple(
                RequirementHeld(
                    requirement_id=f"req-{task}",
                    text=f"{task} is done",
                    mandatory=True,
                    held=True,
                    checks=(f"check-{task}",),
                )
                for task in tasks
            ),
        )
        return self.add(
            K.WORKFLOW_ACCEPTED,
            status=W.ACCEPTED,
            gate=gate,
            stop=Stop(stop_reason=StopReason.ACCEPTED),
            cause=cause,
            after=0,
        )

    def stop(self, reason: StopReason, *tasks: str, **details: Any) -> Transition:
        """The workflow ends without acceptance."""
        return self.add(
            K.WORKFLOW_STOPPED,
            dict.fromkeys(tasks, T.STOPPED),
            status=W.STOPPED,
            stop=Stop(stop_reason=reason, person="user:priya"),
            **details,
        )

    def late_usage(self, task: str, attempt: UUID, cost: str) -> Transition:
        """A worker reports late what its ended attempt used."""
        note = Note(usage=Usage(tokens_in=77, tokens_out=7), cost_gbp=Decimal(cost))
        return self.add(K.LATE_USAGE, note=note, **self.about(task, attempt))

    def duplicate(self) -> Transition:
        """An event came again."""
        return self.add(K.DUPLICATE, note=Note(event_id=self.events[0].event_id), after=0)

    def about(
        self,
        task: str,
        attempt: UUID,
        *,
        worker: str = "w-7",
        token: int | None = None,
        number: int | None = None,
        round_: int | None = None,
    ) -> dict[str, Any]:
        """What names an attempt; what is not given is taken from its dispatch."""
        offer = next((each for each in self.events if each.attempt_id == attempt), None)
        return {
            "task_id": task,
            "attempt_id": attempt,
            "worker_id": offer.worker_id if offer else worker,
            "fencing_token": offer.fencing_token if offer else token,
            "attempt": number or (offer.attempt if offer else None),
            "round": round_ or (offer.round if offer else None),
        }

    def run(self, *tasks: str, cost: str = "0.10") -> "History":
        """A whole workflow in which everything goes well."""
        self.accept_contract(*tasks)
        for task in tasks:
            attempt = self.dispatch(task)
            self.claim(task, attempt)
            self.accept(task, attempt, cost)
        self.finish(*tasks)
        return self


def evidence(task: str, attempt: UUID, failed: tuple[str, ...] = ()) -> Evidence:
    """One piece of evidence, as a runner took it."""
    return Evidence(
        kind=EvidenceType.TEST_RUN,
        observed_by=ObservedBy.RUNNER,
        worker_id="w-7",
        task_id=task,
        attempt_id=attempt,
        checks=(f"check-{task}",),
        command="suite",
        argv=("python", "-m", "pytest"),
        subject=Subject(kind=SubjectKind.GIT, repository="accounts", revision="0" * 40),
        exit_status=1 if failed else 0,
        passed_cases=("test_valid",),
        failed_cases=failed,
        started_at=START,
        ended_at=START + timedelta(seconds=1),
    )


def settlement(cost: str, *, held: Amounts = NOTHING) -> Settlement:
    """A booking."""
    usage = Usage(tokens_in=100, tokens_out=50, tool_calls=2, worker_seconds=Decimal("1.5"))
    return Settlement(usage=usage, cost_gbp=Decimal(cost), released=NOTHING, held=held)


def seeded(seed: int, workflow_id: str) -> list[Transition]:
    """A history that a supervisor could have written: attempts, retries, rework, escalations, notes, an end or none."""
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    history = History(
        workflow_id, tenant=draw.choice(["default", "acme"]), at=START + timedelta(hours=draw.randrange(72))
    )
    tasks = [f"t{n}" for n in range(draw.randint(1, 3))]
    history.accept_contract(*tasks, kind=draw.choice(["demo", "audit"]))
    outcomes = [_task(history, task, draw) for task in tasks]
    if all(outcomes):
        history.finish(*tasks)
    elif draw.random() < 0.6:
        history.stop(draw.choice([StopReason.CANCELLED, StopReason.ELAPSED]), *tasks, minutes_spent=Decimal("2.5"))
    if draw.random() < 0.5:
        history.duplicate()
    return history.events


def _task(history: History, task: str, draw: random.Random) -> bool:
    for number in range(1, draw.randint(1, 3) + 1):
        history.generation += draw.random() < 0.2
        attempt = history.dispatch(task, worker=draw.choice(["w-7", "w-8"]), number=number)
        if draw.random() < 0.2:
            history.add(K.OFFER_DECLINED, {task: T.QUEUED}, **history.about(task, attempt), reason="busy")
            continue
        history.claim(task, attempt, number)
        if draw.random() < 0.7:
            history.request(task, attempt)
        if draw.random() < 0.5:
            history.accept(task, attempt, _pounds(draw), first_pass=number == 1)
            return True
        recovery = draw.choice([Recovery.RETRY, Recovery.REASSIGN, Recovery.ESCALATE, Recovery.REWORK])
        escalated = recovery is Recovery.ESCALATE
        history.refuse(task, attempt, recovery, _pounds(draw), status=W.ESCALATED if escalated else W.RUNNING)
        if draw.random() < 0.3:
            history.late_usage(task, attempt, draw.choice(["0.01", "-0.01"]))
        if escalated:
            return False
    return False


def _pounds(draw: random.Random) -> str:
    return f"0.{draw.randrange(10**6):06d}"


def message(event: Transition | Decision | DeadLetter | Policy) -> Message:
    """The event as a record."""
    topic, key = _topic_and_key(event)
    return Message(topic, key, encode(topic, event))


def _topic_and_key(event: Transition | Decision | DeadLetter | Policy) -> tuple[str, bytes]:
    match event:
        case Transition():
            return Topic.TRANSITIONS, workflow_key(event.tenant_id, event.workflow_id)
        case Decision():
            return Topic.DECISIONS, workflow_key(event.tenant_id, event.workflow_id)
        case DeadLetter():
            return Topic.DEAD_LETTERS, f"{event.source_topic}/{event.source_partition}/{event.source_offset}".encode()
        case Policy():
            return Topic.POLICIES, b"policy"


def policy() -> Policy:
    """A policy in which a person's minute costs 50p."""
    return Policy(
        event_id=uuid5(NAMESPACE_URL, "policy"),
        tenant_id="",
        workflow_id="",
        occurred_at=START,
        producer="cli",
        kind=PolicyKind.APPLIED,
        document=POLICY_TEXT,
        policy_sha256=POLICY_SHA,
        author="unverified:ops@host",
    )


def cancel(workflow_id: str) -> Decision:
    """A person cancels a workflow."""
    return Decision(
        event_id=uuid5(NAMESPACE_URL, f"cancel/{workflow_id}"),
        tenant_id="default",
        workflow_id=workflow_id,
        occurred_at=START,
        producer="cli",
        kind=DecisionKind.CANCEL,
        person="unverified:priya@host",
        reason="no longer wanted",
        minutes_spent=Decimal("1.25"),
    )


def dead_letter(offset: int) -> DeadLetter:
    """A record that the supervisor could not use."""
    return DeadLetter(
        event_id=uuid5(NAMESPACE_URL, f"dead/{offset}"),
        tenant_id="",
        workflow_id="",
        occurred_at=START,
        producer="supervisor/s-0",
        kind=DeadLetterKind.UNDECODABLE,
        source_topic="results",
        source_partition=0,
        source_offset=offset,
        record_sha256="0" * 64,
        size=4,
        reason="byte 0: not framed",
    )


def ticking() -> Callable[[], datetime]:
    """A clock for a log: one second later at each look, the same in every run."""
    looks = iter(range(10**9))
    return lambda: START + timedelta(seconds=next(looks))


def mixed_log(seeds: Iterable[int]) -> MemoryLog:
    """A log with a history per seed, interleaved, and decisions, dead letters, a policy and garbage between them."""
    log = MemoryLog(clock=ticking())
    histories = [seeded(seed, f"w{at}") for at, seed in enumerate(seeds)]
    writer = log.writer()
    for at in range(max(map(len, histories), default=0)):
        writer.append([message(history[at]) for history in histories if at < len(history)])
        if at == 2:
            writer.append([message(cancel("w0")), message(dead_letter(1)), message(dead_letter(1)), message(policy())])
            writer.append([Message(Topic.TRANSITIONS, b"default/w0", b"garbage"), Message(Topic.RESULTS, b"x/y", b"")])
            writer.append([Message(Topic.TRANSITIONS, shard_key(3), message(histories[0][0]).value, 3)])
    return log
