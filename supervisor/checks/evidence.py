"""Evidence against the checks of a task: complete, bound, observed by the runner, and saying that it holds. Pure.

A worker's text changes no rule here: what it merely writes never meets a revision, test_run, scan or command check.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from remit.contract.normal import Check, EvidenceKind
from remit.contract.normal import Workflow as Contract
from remit.events.base import Evidence, EvidenceForm, ObservedBy, Subject
from remit.events.inputs import ResultBody
from remit.events.transitions import AcceptedOutput

from ..state import Attempt, Task

COMMANDED = frozenset({EvidenceKind.TEST_RUN, EvidenceKind.SCAN, EvidenceKind.COMMAND})


@dataclass(frozen=True, slots=True)
class Case:
    """All that evidence is judged against: the contract, the task, its attempt, its outputs, its subject."""

    contract: Contract
    task: Task
    attempt: Attempt
    body: ResultBody
    outputs: tuple[AcceptedOutput, ...]
    subject: Subject
    author: str | None  # who made the subject, if another worker did


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the evidence comes to: faults, and the evidence of a defect that anyone can reproduce."""

    faults: tuple[str, ...]
    failing: tuple[Evidence, ...]


def judge(case: Case) -> Judgement:
    """Judge all checks of the task; no fault means that each requirement has its evidence."""
    faults: list[str] = []
    for requirement, check in case.contract.checks_of(case.task.task_id):
        faults += [f"{requirement.id}/{check.id}: {fault}" for fault in check_faults(case, check)]
    faults += _retest_faults(case)
    return Judgement(tuple(dict.fromkeys(faults)), failing_evidence(case))


def failing_evidence(case: Case) -> tuple[Evidence, ...]:
    """Runner-observed commands that failed at the exact subject, with a report that names what failed."""
    return tuple(
        each
        for each in case.body.evidence
        if each.observed_by is ObservedBy.RUNNER
        and each.subject == case.subject
        and each.exit_status not in {0, None}
        and (each.failed_cases or each.findings)
        and not _binding_faults(case, each)
    )


def check_faults(case: Case, check: Check) -> list[str]:
    """Why this check is not met, in words; empty when it is."""
    offered = [each for each in case.body.evidence if check.id in each.checks and each.kind.value == check.kind.value]
    if not offered:
        return [f"evidence missing: no {check.kind.value} evidence"]
    if check.kind in {EvidenceKind.DOCUMENT, EvidenceKind.REVIEW}:
        return _output_faults(case, check)
    observed = [each for each in offered if each.observed_by is ObservedBy.RUNNER]
    if not observed:
        return ["not observed by the runner: what a worker writes itself is no evidence"]
    full = [each for each in observed if each.form is not EvidenceForm.RETEST]
    if not full:
        return ["evidence missing: only the retest was run"]
    return [fault for each in full for fault in _record_faults(case, check, each)]


def _record_faults(case: Case, check: Check, evidence: Evidence) -> list[str]:
    faults = _binding_faults(case, evidence)
    if evidence.subject != case.subject:
        faults.append("not this subject: evidence speaks of another revision")
    if check.kind is EvidenceKind.REVISION:
        return faults
    faults += _incomplete(case, check, evidence)
    if evidence.exit_status:
        faults.append(f"contradicts: {check.command} ended with exit status {evidence.exit_status}")
    if check.kind is EvidenceKind.TEST_RUN:
        faults += _test_faults(check, evidence)
    return faults


def _binding_faults(case: Case, evidence: Evidence) -> list[str]:
    bound = (evidence.worker_id, evidence.task_id, evidence.attempt_id)
    if bound != (case.attempt.worker_id, case.task.task_id, case.attempt.attempt_id):
        return ["not this task: evidence of another worker, task or attempt"]
    times = (case.body.started_at, evidence.started_at, evidence.ended_at, case.body.ended_at)
    known = [each for each in times if each is not None]
    return ["taken outside the attempt"] if known != sorted(known) else []


def _incomplete(case: Case, check: Check, evidence: Evidence) -> list[str]:
    wanted = {
        "command": evidence.command == check.command and check.command is not None,
        "exit status": evidence.exit_status is not None,
        "environment digest": evidence.environment_digest is not None,
        "output digest": evidence.output is not None,
        "start and end": evidence.started_at is not None and evidence.ended_at is not None,
    }
    lacking = [name for name, there in wanted.items() if not there]
    command = case.contract.commands.get(check.command or "")
    if command is not None and command.report is not None and evidence.report is None:
        lacking.append("report")
    return [f"evidence incomplete: no {', no '.join(lacking)}"] if lacking else []


def _test_faults(check: Check, evidence: Evidence) -> list[str]:
    if not evidence.passed_cases and not evidence.failed_cases:
        return ["evidence incomplete: the report shows no test"]
    if not check.cases:
        return [f"failing case {case}" for case in evidence.failed_cases]
    return [fault for glob in check.cases for fault in _glob_faults(glob, evidence)]


def _glob_faults(glob: str, evidence: Evidence) -> list[str]:
    failed = [case for case in evidence.failed_cases if fnmatchcase(case, glob)]
    passed = [case for case in evidence.passed_cases if fnmatchcase(case, glob)]
    if not failed and not passed:
        return [f"no test matches {glob}"]
    return [f"failing case {case}" for case in failed]


def _output_faults(case: Case, check: Check) -> list[str]:
    output = next((each for each in case.outputs if each.name == check.output), None)
    if output is None or output.artefact is None:
        return [f"evidence missing: output {check.output} is not stored"]
    if check.kind is EvidenceKind.REVIEW and case.author == case.attempt.worker_id:
        return ["not independent: the reviewer made the subject"]
    return []


def _retest_faults(case: Case) -> list[str]:
    """In a round after a defect the failed cases are run first and alone, then the whole command."""
    commands = {each.command: each for each in case.task.rework if each.command and each.failed_cases}
    mine = {check.command for _, check in case.contract.checks_of(case.task.task_id)}
    return [
        f"{command}: evidence missing: no targeted retest of what failed before"
        for command, before in commands.items()
        if command in mine
        and case.contract.commands[command].retest is not None
        and not _retested(case.body.evidence, command, before)
    ]


def _retested(evidence: Iterable[Evidence], command: str, before: Evidence) -> bool:
    return any(
        each.command == command
        and each.form is EvidenceForm.RETEST
        and each.observed_by is ObservedBy.RUNNER
        and set(before.failed_cases) <= {*each.passed_cases, *each.failed_cases}
        for each in evidence
    )
