"""Evidence against the checks of a task: complete, bound, observed by the runner, and saying that it holds. Pure.

A worker's text changes no rule here: what it merely writes never meets a revision, test_run, scan or command check.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from remit.contract.normal import Check, EvidenceKind
from remit.contract.normal import Workflow as Contract
from remit.events.base import Evidence, EvidenceForm, EvidenceType, ObservedBy, Subject
from remit.events.inputs import ResultBody
from remit.events.transitions import AcceptedOutput

from ..state import Attempt, Task
from .envelope import version_faults

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
    authors: frozenset[str]  # the workers who made what the task was given


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the evidence comes to: faults, and the evidence of a defect that anyone can reproduce.

    Of a verification: the evidence that does not show what the accepted evidence showed.
    """

    faults: tuple[str, ...]
    failing: tuple[Evidence, ...]


def judge(case: Case) -> Judgement:
    """Judge all checks of the task; no fault means that each requirement has its evidence."""
    faults: list[str] = []
    for requirement, check in case.contract.checks_of(case.task.task_id):
        faults += [f"{requirement.id}/{check.id}: {fault}" for fault in check_faults(case, check)]
    faults += _retest_faults(case)
    if case.contract.tasks[case.task.task_id].verifies is None:
        return Judgement(tuple(dict.fromkeys(faults)), failing_evidence(case))
    if case.attempt.worker_id in case.authors:
        faults.append("not independent: the verifier made what it verifies")
    return Judgement(tuple(dict.fromkeys(faults)), disputing_evidence(case))


def constraint_faults(case: Case) -> list[str]:
    """Versions that the contract asks for and the runner of its commands did not find."""
    runs = any(check.command for _, check in case.contract.checks_of(case.task.task_id))
    return version_faults(case.contract, case.body.environment) if runs else []


def failing_evidence(case: Case) -> tuple[Evidence, ...]:
    """Runner-observed commands of the contract that failed at the exact subject, with a report that names what."""
    mine = {check.command for _, check in case.contract.checks_of(case.task.task_id) if check.command}
    return tuple(
        each
        for each in case.body.evidence
        if each.command in mine
        and each.exit_status not in {0, None}
        and (each.failed_cases or each.findings)
        and _sound(case, each)
    )


def is_severe(evidence: Evidence) -> bool:
    """Whether a scanner that the runner ran names a finding of high severity: a person's to weigh, not a worker's."""
    is_scan = evidence.kind is EvidenceType.SCAN and evidence.observed_by is ObservedBy.RUNNER
    return is_scan and any(each.startswith("HIGH ") for each in evidence.failed_cases)


def disputing_evidence(case: Case) -> tuple[Evidence, ...]:
    """Whole runs of a verifier that are evidence in all respects, and show that a check does not hold.

    A run under other versions than the contract asks for says nothing.
    """
    checks = [check for _, check in case.contract.checks_of(case.task.task_id)]
    if constraint_faults(case):
        return ()
    return tuple(each for each in case.body.evidence if any(_disputes(case, check, each) for check in checks))


def _disputes(case: Case, check: Check, evidence: Evidence) -> bool:
    speaks = check.id in evidence.checks and evidence.kind.value == check.kind.value
    if not speaks or evidence.form is EvidenceForm.RETEST or not _sound(case, evidence):
        return False
    failed = bool(evidence.exit_status) or (check.kind is EvidenceKind.TEST_RUN and bool(_test_faults(check, evidence)))
    return failed and not _incomplete(case, check, evidence)


def _sound(case: Case, evidence: Evidence) -> bool:
    """Seen by the runner, in this attempt, at this subject."""
    return evidence.observed_by is ObservedBy.RUNNER and not _place_faults(case, evidence)


def check_faults(case: Case, check: Check) -> list[str]:
    """Why this check is not met, in words; empty when it is."""
    offered = [each for each in case.body.evidence if check.id in each.checks and each.kind.value == check.kind.value]
    if not offered:
        return [f"evidence missing: no {check.kind.value} evidence"]
    if check.kind in {EvidenceKind.DOCUMENT, EvidenceKind.REVIEW}:
        return [*_told_faults(case, offered), *_output_faults(case, check)]
    observed = [each for each in offered if each.observed_by is ObservedBy.RUNNER]
    if not observed:
        return ["not observed by the runner: what a worker writes itself is no evidence"]
    full = [each for each in observed if each.form is not EvidenceForm.RETEST]
    if not full:
        return ["evidence missing: only the retest was run"]
    faults = [fault for each in full for fault in _record_faults(case, check, each)]
    return [*faults, "what the worker wrote itself is no evidence"] if faults and observed != offered else faults


def _record_faults(case: Case, check: Check, evidence: Evidence) -> list[str]:
    faults = _place_faults(case, evidence)
    if check.kind is EvidenceKind.REVISION:
        return faults
    faults += _incomplete(case, check, evidence)
    if evidence.exit_status:
        faults.append(f"contradicts: {check.command} ended with exit status {evidence.exit_status}")
    if check.kind is EvidenceKind.TEST_RUN:
        faults += _test_faults(check, evidence)
    return faults


def _place_faults(case: Case, evidence: Evidence) -> list[str]:
    """What evidence must be bound to, whatever it shows: worker, task, attempt, subject, times."""
    faults = _binding_faults(case, evidence)
    if evidence.subject != case.subject:
        faults.append("not this subject: evidence speaks of another revision")
    return faults


def _told_faults(case: Case, offered: list[Evidence]) -> list[str]:
    """One record that is bound will do for a document or review; without a subject it speaks of the task's."""
    found = [_binding_faults(case, each) if each.subject is None else _place_faults(case, each) for each in offered]
    return [fault for faults in found for fault in faults] if all(found) else []


def _binding_faults(case: Case, evidence: Evidence) -> list[str]:
    pairs = (
        ("worker", evidence.worker_id, case.attempt.worker_id),
        ("task", evidence.task_id, case.task.task_id),
        ("attempt", evidence.attempt_id, case.attempt.attempt_id),
    )
    faults = [f"not this {name}: evidence of another {name}" for name, found, wanted in pairs if found != wanted]
    times = (case.body.started_at, evidence.started_at, evidence.ended_at, case.body.ended_at)
    known = [each for each in times if each is not None]
    return [*faults, "taken outside the attempt"] if known != sorted(known) else faults


def _incomplete(case: Case, check: Check, evidence: Evidence) -> list[str]:
    wanted = {
        "command": evidence.command == check.command and check.command is not None,
        "exit status": evidence.exit_status is not None,
        "environment digest": evidence.environment_digest is not None,
        "output digest": evidence.output is not None,
        "start and end": evidence.started_at is not None and evidence.ended_at is not None,
        "start and end of the attempt": case.body.started_at is not None and case.body.ended_at is not None,
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
    if check.kind is EvidenceKind.REVIEW and case.attempt.worker_id in case.authors:
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
        and not _retested(case, command, before)
    ]


def _retested(case: Case, command: str, before: Evidence) -> bool:
    return any(
        each.command == command
        and each.form is EvidenceForm.RETEST
        and each.exit_status is not None
        and set(before.failed_cases) <= {*each.passed_cases, *each.failed_cases}
        and _sound(case, each)
        for each in case.body.evidence
    )
