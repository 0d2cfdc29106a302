"""What simulated workers hand in: results that meet their contract, failures, and each kind of lie."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID, uuid5

from msgspec.structs import replace

from remit import ids
from remit.events.base import Evidence, EvidenceForm, EvidenceType, ObservedBy, Subject, SubjectKind, Usage
from remit.events.inputs import BlockedReason, ErrorClass, Malformed, QuestionKind, Result, ResultBody, ResultStatus
from remit.events.service import Dispatch, Offer
from remit.subjects import subject_of

from .facts import CANARY, Facts

CASE = "tests.test_it::test_works"
USED = Usage(tokens_in=1000, tokens_out=500, tool_calls=2, worker_seconds=Decimal("1.5"))
ALLOWED = 4
"""Of many proposed tasks, so many have a type that the plan grants."""
STRANGER = UUID("3f0c0a1e-0000-4000-8000-000000000001")
COMMANDED = frozenset({"test_run", "scan", "command"})


@dataclass(frozen=True)
class Work:
    """One attempt as its worker sees it, and the world that it acts in."""

    dispatch: Dispatch
    offer: Offer
    contract: dict[str, Any]
    facts: Facts
    now: datetime

    @property
    def revision(self) -> str:
        """The commit that this attempt makes: another one for each."""
        return self.dispatch.attempt_id.hex + "00000000"

    @property
    def makes_revision(self) -> bool:
        """Whether a commit is asked of it."""
        return "revision" in self.contract["task"]["outputs"].values()

    @property
    def subject(self) -> Subject:
        """What the work is about."""
        if self.makes_revision:
            return Subject(kind=SubjectKind.GIT, repository="svc", revision=self.revision)
        return subject_of(self.offer.inputs)


def work(dispatch: Dispatch, facts: Facts, now: datetime) -> Work | None:
    """The attempt that an offer is for; None for what is no offer."""
    if dispatch.offer is None:
        return None
    return Work(dispatch, dispatch.offer, json.loads(dispatch.offer.contract), facts, now)


def _output(made: Work) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, kind in made.contract["task"]["outputs"].items():
        match kind:
            case "revision":
                values[name] = made.revision
            case "value":
                values[name] = "fine"
            case "contract":
                tighter = {"limits": {"max_tokens": 2000 + made.dispatch.fencing_token}}
                values[name] = {"schema_version": "workflow-v1", "tasks": {"b": tighter}}
            case _:
                stored = made.facts.shelf.put(f"{name} of {made.dispatch.attempt_id}".encode())
                values[name] = {"artefact_ref": stored.reference, "sha256": stored.sha256, "size": stored.size}
    return values


def _record(made: Work, check: Mapping[str, Any]) -> Evidence:
    told: dict[str, Any] = {}
    if check["kind"] in COMMANDED:
        stored = made.facts.shelf.put(b"1 passed")
        told = {
            "command": check["command"],
            "form": EvidenceForm.FULL,
            "argv": ("pytest",),
            "exit_status": 0,
            "output": stored,
            "report": stored,
            "passed_cases": (CASE,),
        }
    return Evidence(
        kind=EvidenceType(check["kind"]),
        observed_by=ObservedBy.RUNNER,
        worker_id=made.dispatch.worker_id,
        task_id=made.dispatch.task_id,
        attempt_id=made.dispatch.attempt_id,
        checks=(check["id"],),
        subject=made.subject,
        environment_digest=ids.sha256(b"environment"),
        started_at=made.now,
        ended_at=made.now,
        **told,
    )


def _proof(made: Work) -> tuple[Evidence, ...]:
    """All evidence that the task owes, retests of what failed before included."""
    checks = [check for requirement in made.contract["requirements"] for check in requirement["checks"]]
    full = [_record(made, check) for check in checks]
    failed = {each.command: each.failed_cases for each in made.offer.rework}
    again = [
        replace(each, form=EvidenceForm.RETEST, passed_cases=failed[each.command])
        for each in full
        if each.command and failed.get(each.command)
    ]
    return (*again, *full)


def _good(made: Work, **changed: Any) -> ResultBody:  # noqa: ANN401 - fields of the envelope
    if made.makes_revision:
        made.facts.commits.setdefault(made.revision, frozenset())
    fields: dict[str, Any] = {
        "status": ResultStatus.COMPLETED,
        "error_class": ErrorClass.COMPLETED,
        "output": json.dumps(_output(made)),
        "evidence": _proof(made),
        "usage": USED,
        "input_versions": made.offer.inputs,
        "environment": {"python": "3.11.7"},
        "started_at": made.now - timedelta(seconds=1),
        "ended_at": made.now + timedelta(seconds=1),
    }
    return ResultBody(**(fields | changed))


def _with_evidence(made: Work, **changed: Any) -> ResultBody:  # noqa: ANN401 - fields of evidence
    return _good(made, evidence=tuple(replace(each, **changed) for each in _proof(made)))


def _other_subject(made: Work) -> ResultBody:
    """Evidence that is right in all but what it speaks of."""
    own = made.subject
    other = replace(own, revision="e" * 40) if own.revision else replace(own, digest="e" * 64)
    return _with_evidence(made, subject=other)


def _other_attempt(made: Work) -> ResultBody:
    return _with_evidence(made, attempt_id=uuid5(STRANGER, str(made.dispatch.attempt_id)))


def _other_time(made: Work) -> ResultBody:
    before = made.now - timedelta(hours=1)
    return _with_evidence(made, started_at=before, ended_at=before)


def _failed(made: Work, error_class: str, **changed: Any) -> ResultBody:  # noqa: ANN401 - fields of the envelope
    fields: dict[str, Any] = {
        "status": ResultStatus.FAILED,
        "error_class": ErrorClass(error_class),
        "usage": USED,
        "input_versions": made.offer.inputs,
    }
    return ResultBody(**(fields | changed))


def _blocked(made: Work, reason: BlockedReason) -> ResultBody:
    error_class = "PERMANENT_FAILED" if reason is BlockedReason.CAPABILITY else "NEEDS_REVIEW"
    return _failed(made, error_class, status=ResultStatus.BLOCKED, blocked_reason=reason)


def _stored(made: Work, *, lost: bool = False, spoilt: bool = False, text: str = "") -> ResultBody:
    """A good result whose log is not what it is said to be."""
    log = made.facts.shelf.put((text or f"log of {made.dispatch.attempt_id}").encode())
    if lost:
        made.facts.shelf.lose(log.sha256)
    if spoilt:
        made.facts.shelf.spoil(log.sha256)
    return _good(made, log=log)


def _secret(made: Work, *, stored: bool) -> ResultBody:
    made.facts.secrets = True
    if stored:
        return _stored(made, text=f"token={CANARY}")
    return _good(made, message=f"I used {CANARY}")


def _commit(made: Work, *fails: QuestionKind) -> ResultBody:
    made.facts.commits[made.revision] = frozenset(fails)
    return _good(made)


def _spawns(made: Work, count: int) -> ResultBody:
    """A good result that proposes further tasks, some of them against its plan."""
    token = made.dispatch.fencing_token
    proposed = [
        {"id": f"s{token}-{n}", "task_type": "work" if n < ALLOWED else "code", "objective": f"Part {n}"}
        for n in range(count)
    ]
    return _good(made, subtasks=json.dumps(proposed))


BODIES: dict[str, Callable[[Work], ResultBody | Malformed | None]] = {
    "good": _good,
    "no usage": partial(_good, usage=None),
    "spawns": partial(_spawns, count=2),
    "spawns too much": partial(_spawns, count=6),
    "defect": partial(_with_evidence, exit_status=1, failed_cases=(CASE,), passed_cases=()),
    "failed": partial(_failed, error_class="RETRYABLE_FAILED", retry_after_seconds=3),
    "failed for good": partial(_failed, error_class="PERMANENT_FAILED"),
    "incapable": partial(_blocked, reason=BlockedReason.CAPABILITY),
    "ambiguous": partial(_blocked, reason=BlockedReason.AMBIGUITY),
    "needs review": partial(_failed, error_class="NEEDS_REVIEW", status=ResultStatus.NEEDS_REVIEW),
    "malformed": lambda _: Malformed(text="?", faults=("status is required",), usage=USED),
    "untold": lambda _: None,
    "lost artefact": partial(_stored, lost=True),
    "undeclared": partial(_good, output='{"other": 1}'),
    "greedy": partial(_good, usage=Usage(tokens_in=500_000)),
    "unproven": partial(_good, evidence=()),
    "own words": partial(_with_evidence, observed_by=ObservedBy.WORKER),
    "another attempt's evidence": _other_attempt,
    "another worker's evidence": partial(_with_evidence, worker_id="stranger"),
    "another task's evidence": partial(_with_evidence, task_id="other"),
    "another subject": _other_subject,
    "another time": _other_time,
    "exit 1": partial(_with_evidence, exit_status=1),
    "no exit": partial(_with_evidence, exit_status=None),
    "no case": partial(_with_evidence, passed_cases=()),
    "wrong hash": partial(_stored, spoilt=True),
    "stale inputs": partial(_good, input_versions=()),
    "negative usage": partial(_good, usage=Usage(tokens_in=-5000)),
    "secret words": partial(_secret, stored=False),
    "secret artefact": partial(_secret, stored=True),
    "no such commit": lambda made: _commit(made, QuestionKind.COMMIT),
    "unrelated commit": lambda made: _commit(made, QuestionKind.DESCENDS),
    "foreign paths": lambda made: _commit(made, QuestionKind.PATHS),
}
"""By the names that ways of working use."""

LIES: dict[str, Callable[[Result], Result]] = {
    "wrong token": lambda sent: replace(sent, fencing_token=sent.fencing_token - 1),
    "wrong worker": lambda sent: replace(sent, worker_id="stranger"),
    "wrong process": lambda sent: replace(sent, incarnation=STRANGER),
    "wrong contract": lambda sent: replace(sent, contract_sha256="0" * 64),
    "unasked second": lambda sent: replace(sent, submission=2),
    "two stories": lambda sent: sent,
}
"""What an envelope forges beside a body that is good; the second of two stories comes by itself."""


OF_A_RUN = frozenset({"exit 1", "no exit", "no case", "defect"})
OF_EVIDENCE = frozenset(
    {
        *("unproven", "another attempt's evidence", "another worker's evidence"),
        *("another task's evidence", "another subject", "another time"),
    }
)


def harmless(made: Work, body: str) -> bool:
    """Whether a body meets its contract although its name says otherwise: what it changes is not asked of this task."""
    kinds = {check["kind"] for each in made.contract["requirements"] for check in each["checks"]}
    if body in OF_A_RUN:
        return not kinds & COMMANDED
    if body == "own words":
        return not kinds & {*COMMANDED, "revision"}
    if body in OF_EVIDENCE:
        return not kinds
    return body == "stale inputs" and not made.offer.inputs
