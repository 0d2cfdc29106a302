"""Makes evidence records: each bound to worker, task, attempt, subject, environment and times.

Only this role imports it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from remit.events.base import ArtefactRef, Evidence, EvidenceForm, EvidenceType, ObservedBy, Subject, SubjectKind
from remit.events.service import Dispatch
from remit.redaction import Redactor
from remit.result.envelope import WorkerEvidence
from remit.subjects import subject_of

from .environment import check_variables, environment_digest, versions
from .job import Bench, Job
from .plan import Run
from .reports import Report


@dataclass(frozen=True)
class Witness:
    """What all evidence of one attempt has in common."""

    dispatch: Dispatch
    subject: Subject
    environment: dict[str, str]
    environment_digest: str
    redactor: Redactor

    @classmethod
    def of(cls, job: Job, bench: Bench, revision: str | None) -> "Witness":
        """The witness of an attempt: its subject is the revision that it made, else what it was given."""
        given = subject_of(job.offer.inputs)
        subject = replace(given, revision=revision) if revision else given
        environment = check_variables(bench.config.env_allow)
        return cls(
            dispatch=job.dispatch,
            subject=subject,
            environment=versions(job.handout.constraints),
            environment_digest=environment_digest(environment),
            redactor=bench.redactor,
        )

    def seen(self, kind: EvidenceType, started: datetime, ended: datetime, **fields: Any) -> Evidence:  # noqa: ANN401
        """What the runner saw itself."""
        return Evidence(
            kind=kind,
            observed_by=ObservedBy.RUNNER,
            subject=self.subject,
            environment_digest=self.environment_digest,
            environment=self.environment,
            started_at=started,
            ended_at=ended,
            **self._bound(),
            **fields,
        )

    def run(
        self,
        run: Run,
        *,
        argv: list[str],
        exit_status: int,
        output: ArtefactRef,
        report: tuple[ArtefactRef | None, Report],
        times: tuple[datetime, datetime],
    ) -> list[Evidence]:
        """One run of a command: a record for each kind of check that names it."""
        stored, read = report
        clean = self._cases(read)
        return [
            self.seen(
                EvidenceType(kind.value),
                *times,
                checks=checks,
                command=run.name,
                form=EvidenceForm(run.form),
                argv=tuple(map(self.redactor.text, argv)),
                exit_status=exit_status,
                output=output,
                report=stored,
                **clean,
            )
            for kind, checks in run.checks.items()
        ]

    def told(self, word: WorkerEvidence, output: ArtefactRef | None) -> Evidence:
        """What the worker says it saw: recorded as its word."""
        clean = self.redactor.text
        return Evidence(
            kind=EvidenceType(word.kind),
            observed_by=ObservedBy.WORKER,
            checks=tuple(map(clean, word.checks)),
            command=clean(word.command) if word.command else None,
            argv=tuple(map(clean, word.argv)),
            subject=self._told_subject(word),
            exit_status=word.exit_status,
            output=output,
            passed_cases=tuple(map(clean, word.passed_cases)),
            failed_cases=tuple(map(clean, word.failed_cases)),
            skipped_cases=tuple(map(clean, word.skipped_cases)),
            findings=word.findings,
            note=clean(word.note) if word.note else None,
            **self._bound(),
        )

    def _told_subject(self, word: WorkerEvidence) -> Subject | None:
        said, clean = word.subject, self.redactor.text
        if said is None:
            return None
        return Subject(
            kind=SubjectKind.GIT if said.revision else SubjectKind.DOCUMENT,
            repository=clean(said.repository) if said.repository else None,
            revision=clean(said.revision) if said.revision else None,
            digest=said.digest,
        )

    def _cases(self, read: Report) -> dict[str, Any]:
        def clean(cases: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(map(self.redactor.text, cases))

        return {
            "passed_cases": clean(read.passed),
            "failed_cases": clean(read.failed),
            "skipped_cases": clean(read.skipped),
            "findings": read.findings,
        }

    def _bound(self) -> dict[str, Any]:
        dispatch = self.dispatch
        return {"worker_id": dispatch.worker_id, "task_id": dispatch.task_id, "attempt_id": dispatch.attempt_id}
