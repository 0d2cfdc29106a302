"""Assembles a result of what the worker said and what the runner saw. Only this role imports it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from remit.contract.normal import EvidenceKind
from remit.events.base import ArtefactRef, Evidence, EvidenceType
from remit.events.inputs import BlockedReason, ErrorClass, ResultStatus
from remit.result import Envelope, classify
from remit.result.envelope import size_fault
from remit.result.subtasks import write_subtasks

from .gateway import Asked
from .job import Bench, Job
from .observe import Observed
from .outputs import Collector, Leftovers, Outputs, document_of
from .process import Ended
from .revision import Revision
from .witness import Witness


@dataclass(frozen=True)
class Assembly:
    """All that a result is made of."""

    job: Job
    bench: Bench
    witness: Witness
    envelope: Envelope
    ended: Ended
    times: tuple[datetime, datetime]  # of the command
    log: ArtefactRef
    revision: Revision | None
    observed: tuple[Observed, ...]
    asked: tuple[Asked, ...]


@dataclass(frozen=True)
class Parts:
    """Status, class and further fields of a ResultBody; or a `fault` and the `text` that has it."""

    status: ResultStatus
    error_class: ErrorClass
    fields: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None
    text: str = ""


def assemble(made: Assembly) -> Parts:
    """The result; raises EnvelopeInvalidError for an output that isn't what the envelope says, and ArtefactError."""
    envelope = made.envelope
    status = ResultStatus(envelope.status)
    reason = BlockedReason(envelope.blocked_reason) if envelope.blocked_reason else None
    claimed = ErrorClass(envelope.error_class) if envelope.error_class else None
    error_class = classify(status, reason, claimed) or ErrorClass.RETRYABLE_FAILED
    collector = Collector(made.bench, made.job.ground, made.job.handout.task.outputs)
    outputs = _outputs(made, collector)
    text = json.dumps(outputs.values, ensure_ascii=False)
    if (fault := size_fault(text)) is not None:
        return Parts(status, error_class, fault=fault, text=text)
    whole = envelope.artefact_ref is not None
    fields = {
        "blocked_reason": reason,
        "retry_after_seconds": envelope.retry_after,
        "message": envelope.message,
        "output": None if whole else text,
        "artefact_ref": made.bench.store.put(text.encode()) if whole else None,
        "evidence": tuple(_evidence(made, collector, outputs)),
        "subtasks": _subtasks(made),
    }
    return Parts(status, error_class, fields)


def _outputs(made: Assembly, collector: Collector) -> Outputs:
    envelope = made.envelope
    given = envelope.output or {}
    if envelope.artefact_ref is not None:
        given = document_of(collector, envelope.artefact_ref)
    if envelope.status != "completed":
        return Outputs(made.bench.redactor.value(given), {})
    revision, base = made.revision, made.job.base
    diff = None
    if revision is not None and base is not None and base.location is not None:
        diff = made.bench.repository(base.location).diff(revision.base, revision.commit)
    left = Leftovers(
        revision=revision.commit if revision else None,
        told_revision=revision.told if revision else None,
        diff=diff,
        log=_log(made),
        observed=made.observed,
    )
    return collector.collect(given, left)


def _subtasks(made: Assembly) -> str | None:
    """The tasks that the worker proposes, without secrets; the supervisor judges them."""
    proposed = made.envelope.subtasks
    if not proposed:
        return None
    return json.dumps(made.bench.redactor.value(json.loads(write_subtasks(proposed))), ensure_ascii=False)


def _log(made: Assembly) -> bytes:
    """What the command printed, then what each observed command printed."""
    store = made.bench.store
    observed = [f"\n$ {' '.join(each.argv)}\n".encode() + store.get(each.output) for each in made.observed]
    return b"".join((made.ended.output, *observed))


def _evidence(made: Assembly, collector: Collector, outputs: Outputs) -> Iterator[Evidence]:
    yield _of_handler(made)
    for asked in made.asked:
        yield _of_asked(made, asked, collector)
    if made.revision is not None and made.envelope.status == "completed":
        yield _of_revision(made)
    for seen in made.observed:
        yield from seen.evidence
    if made.envelope.status == "completed":
        yield from _of_outputs(made, outputs)
    for word in made.envelope.evidence:
        yield made.witness.told(word, collector.named(word.output) if word.output else None)


def _of_handler(made: Assembly) -> Evidence:
    """That the command was run; it speaks to no check."""
    argv = tuple(map(made.bench.redactor.text, made.bench.config.argv))
    return made.witness.seen(
        EvidenceType.COMMAND, *made.times, argv=argv, exit_status=made.ended.exit_status, output=made.log
    )


def _of_asked(made: Assembly, asked: Asked, collector: Collector) -> Evidence:
    return made.witness.seen(
        EvidenceType.COMMAND,
        asked.started_at,
        asked.ended_at,
        argv=tuple(map(made.bench.redactor.text, asked.argv)),
        exit_status=asked.ended.exit_status,
        output=collector.keep(asked.ended.output),
    )


def _of_revision(made: Assembly) -> Evidence:
    checks = _checks(made, EvidenceKind.REVISION)
    base = made.revision.base if made.revision else ""
    return made.witness.seen(
        EvidenceType.REVISION, *made.times, checks=tuple(check for check, _ in checks), note=f"base {base}"
    )


def _of_outputs(made: Assembly, outputs: Outputs) -> Iterator[Evidence]:
    """A record for each document or review check whose output is stored."""
    for kind in (EvidenceKind.DOCUMENT, EvidenceKind.REVIEW):
        for check, output in _checks(made, kind):
            if output in outputs.stored:
                yield made.witness.seen(
                    EvidenceType(kind.value), *made.times, checks=(check,), output=outputs.stored[output]
                )


def _checks(made: Assembly, kind: EvidenceKind) -> list[tuple[str, str | None]]:
    return [(check.id, check.output) for check in made.job.handout.checks() if check.kind is kind]
