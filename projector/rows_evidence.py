"""Rows of the evidence that a verdict rests on, and the one text form of a subject. Pure."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec

from remit.events.base import ArtefactRef, Evidence, Subject
from remit.events.transitions import Transition

from .tables import Row, Values


def rows(names: Values, event: Transition) -> Iterator[Row]:
    """One row per evidence record that the verdict names."""
    for ordinal, (evidence, failing) in enumerate(_judged(event), 1):
        yield Row(
            "evidence",
            {
                **names,
                "sequence": event.sequence,
                "ordinal": ordinal,
                "task_id": evidence.task_id,
                "attempt_id": text(evidence.attempt_id),
                "worker_id": evidence.worker_id,
                "kind": evidence.kind,
                "observed_by": evidence.observed_by,
                "accepted": event.accepted is not None,
                "failing": failing,
                **_said(evidence),
            },
        )


def _judged(event: Transition) -> Iterator[tuple[Evidence, bool]]:
    if event.accepted is not None:
        yield from ((each, False) for each in event.accepted.evidence)
    if (ending := event.ending) is not None:
        yield from ((each, each in ending.failing) for each in ending.evidence)
        yield from ((each, True) for each in ending.failing if each not in ending.evidence)


def _said(evidence: Evidence) -> dict[str, Any]:
    return {
        "checks": evidence.checks,
        "command": evidence.command,
        "form": evidence.form,
        "argv": evidence.argv,
        "subject": subject_text(evidence.subject),
        "exit_status": evidence.exit_status,
        "passed_cases": evidence.passed_cases,
        "failed_cases": evidence.failed_cases,
        "skipped_cases": evidence.skipped_cases,
        "findings": evidence.findings,
        **_stored("output", evidence.output),
        **_stored("report", evidence.report),
        "environment_digest": evidence.environment_digest,
        "started_at": evidence.started_at,
        "ended_at": evidence.ended_at,
    }


def _stored(prefix: str, artefact: ArtefactRef | None) -> dict[str, Any]:
    return {
        f"{prefix}_reference": artefact.reference if artefact else None,
        f"{prefix}_sha256": artefact.sha256 if artefact else None,
    }


def subject_text(subject: Subject | None) -> str | None:
    """A subject in one piece of text: repository@revision, or kind:digest."""
    if subject is None:
        return None
    if subject.revision is not None:
        return f"{subject.repository or ''}@{subject.revision}"
    return f"{subject.kind}:{subject.digest or ''}"


def text(identifier: UUID) -> str:
    """An id in its text form; four times as fast as `str`, and every record has several."""
    found: str = msgspec.to_builtins(identifier)
    return found


def maybe_text(identifier: UUID | None) -> str | None:
    """The same of an id that may be missing."""
    return None if identifier is None else text(identifier)
