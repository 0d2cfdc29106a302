"""What `show` says of a workflow, as one document: pure functions of the folded state and its transitions.

Only `remit.cli` imports it. Values are JSON's own, but for times and money, which the printers write as text.
"""

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from remit.cli.folded import CONFLICT, Folded
from remit.cli.telling import authorisation
from remit.events.base import Evidence, Subject
from remit.events.transitions import Transition
from remit.roles import role

if TYPE_CHECKING:
    from supervisor.state import Attempt, Task, Workflow

Document = dict[str, Any]


def document(folded: Folded) -> Document:
    """Everything that `show` tells; the text form is printed from it."""
    workflow = folded.workflow
    return {
        **_head(folded, workflow),
        "queue": _actions().empty_because(workflow),
        "tasks": [_task(workflow, task) for task in workflow.tasks.values()],
        "outstanding_decisions": _outstanding(folded, workflow),
        "next_permitted_actions": [_plain(each) for each in _actions().next_permitted_actions(workflow)],
        "requirements": _requirements(workflow),
        "evidence": evidence(entry.transition for entry in folded.entries),
        "final_subjects": [_subject(workflow, each) for each in _finals(workflow)],
        "spent": _plain(role("supervisor.limits").spent_by(workflow)),
        "limits": _limits(workflow),
    }


def _actions() -> ModuleType:
    return role("supervisor.actions")


def _head(folded: Folded, workflow: "Workflow") -> Document:
    return {
        "workflow_id": workflow.workflow_id,
        "tenant_id": workflow.tenant_id,
        "objective": workflow.contract.objective,
        "owner": workflow.contract.owner,
        "status": workflow.status.value,
        "reasons": _reasons(folded, workflow),
        "development_acceptance": workflow.development_acceptance,
        "deployment_authorisation": _deployment(workflow),
        "contract_version": workflow.contract_version,
        "content_digest": workflow.content_digest,
        "policy_sha256": workflow.policy_sha256,
        "submitter": workflow.submitter,
        "submitted_at": workflow.submitted_at,
        "deadline_at": workflow.deadline_at,
        "updated_at": folded.entries[-1].transition.decided_at,
        "version": workflow.version,
        "sequence": workflow.sequence,
    }


def _deployment(workflow: "Workflow") -> str:
    """The word of record; before development acceptance nobody may be asked yet."""
    if workflow.contract.effects and workflow.development_acceptance != "approved":
        return "not due before development acceptance"
    return authorisation(workflow.deployment_authorisation)


def _reasons(folded: Folded, workflow: "Workflow") -> list[str]:
    """Why it stands where it stands: the stop reason and those hit with it, or each task that holds it up."""
    if folded.conflict:
        return [CONFLICT]
    if workflow.stop_reason is not None:
        stop = next((e.transition.stop for e in reversed(folded.entries) if e.transition.stop), None)
        said = [stop.detail] if stop and stop.detail else []
        reasons = [workflow.stop_reason.value, *(other.value for other in (stop.others if stop else ())), *said]
        return [reason for reason in reasons if reason != workflow.status.value]
    tasks = ((task.task_id, getattr(task.phase, "reason", None)) for task in workflow.tasks.values())
    return [f"{task_id}: {reason}" for task_id, reason in tasks if reason]


def _task(workflow: "Workflow", task: "Task") -> Document:
    contract = workflow.contract.tasks[task.task_id]
    last = task.attempts[-1] if task.attempts else None
    return {
        "task_id": task.task_id,
        "task_type": contract.task_type,
        "pool": contract.pool,
        "status": task.status.value,
        "round": task.round,
        "attempts": task.attempts_started,
        "max_attempts": contract.limits.max_attempts,
        "worker_id": last.worker_id if last else None,
        "waits_for": _actions().waits_for(workflow, task.task_id),
        "deadline_at": task.deadline_at,
        "history": [_attempt(attempt) for attempt in task.attempts if attempt.number],
    }


def _attempt(attempt: "Attempt") -> Document:
    return {
        "round": attempt.round,
        "attempt": attempt.number,
        "worker_id": attempt.worker_id,
        "attempt_id": attempt.attempt_id,
        "fencing_token": attempt.token,
        "outcome": attempt.outcome or "open",
        "cost_gbp": attempt.booked_gbp,
    }


def _outstanding(folded: Folded, workflow: "Workflow") -> list[Document]:
    gate = next((e.transition.gate for e in reversed(folded.entries) if e.transition.gate), None)
    every = [_plain(each) for each in _actions().outstanding_decisions(workflow)]
    return [each | {"person": each["person"] or (gate.authoriser if gate else None)} for each in every]


def _requirements(workflow: "Workflow") -> list[Document]:
    acceptance = role("supervisor.decide.acceptance")
    asked = {each.id: each.checks for each in workflow.contract.requirements}
    found = [acceptance.requirement_held(workflow, each) for each in workflow.contract.requirements]
    return [
        {
            "id": each.requirement_id,
            "text": each.text,
            "mandatory": each.mandatory,
            "held": each.held,
            "checks": list(each.checks),
            "standing": [acceptance.standing(workflow, check)._asdict() for check in asked[each.requirement_id]],
        }
        for each in found
    ]


def evidence(transitions: Iterable[Transition]) -> list[Document]:
    """Every piece of evidence that was judged, with the verdict on its attempt."""
    return [_evidence(transition, each) for transition in transitions for each in _judged(transition)]


def _judged(transition: Transition) -> tuple[Evidence, ...]:
    if transition.accepted is not None:
        return transition.accepted.evidence
    ending = transition.ending
    return (*ending.evidence, *(each for each in ending.failing if each not in ending.evidence)) if ending else ()


def _evidence(transition: Transition, each: Evidence) -> Document:
    return {
        "task_id": each.task_id,
        "round": transition.round,
        "attempt": transition.attempt,
        "verdict": "accepted" if transition.accepted else (transition.reason or "refused"),
        "kind": each.kind.value,
        "observed_by": each.observed_by.value,
        "checks": list(each.checks),
        "command": each.command,
        "form": each.form.value if each.form else None,
        "exit_status": each.exit_status,
        "passed_cases": len(each.passed_cases),
        "failed_cases": list(each.failed_cases),
        "findings": each.findings,
        "subject": _about(each.subject),
        "report": each.report.reference if each.report else None,
        "output": each.output.reference if each.output else None,
    }


def _about(subject: Subject | None) -> str | None:
    if subject is None:
        return None
    return subject.revision or subject.digest


def _finals(workflow: "Workflow") -> tuple[Subject, ...]:
    if workflow.development_acceptance != "approved":
        return ()
    found: tuple[Subject, ...] = role("supervisor.dataflow").final_subjects(workflow)
    return found


def _subject(workflow: "Workflow", subject: Subject) -> Document:
    return {
        "repository": subject.repository,
        "revision": subject.revision,
        "branch": branch_of(workflow),
        "move_branch": move_branch(workflow, subject),
    }


def branch_of(workflow: "Workflow") -> str | None:
    """The branch that the contract grants, which names the revision line."""
    grants = [task.permissions.grants.get("repository", "") for task in workflow.contract.tasks.values()]
    return next((each.removeprefix("read-write:") for each in grants if each.startswith("read-write:")), None)


def move_branch(workflow: "Workflow", subject: Subject) -> str | None:
    """The one git command that moves the granted branch to the revision; git itself refuses to lose commits."""
    branch = branch_of(workflow)
    location = role("supervisor.dataflow").location_of(workflow.contract, subject.repository or "")
    if branch is None or location is None or subject.revision is None:
        return None
    return f"git -C {location} push . {subject.revision}:refs/heads/{branch}"


def _limits(workflow: "Workflow") -> Document:
    limits = workflow.contract.limits
    return {
        "cost_gbp": limits.max_cost_gbp,
        "tokens": limits.max_tokens,
        "tool_calls": limits.max_tool_calls,
        "turns": None,  # each task has its turns for itself
    }


def _plain(each: Any) -> Document:  # noqa: ANN401 - a frozen record of a role
    names = getattr(each, "__struct_fields__", None) or each.__dataclass_fields__
    return {name: getattr(each, name) for name in names}
