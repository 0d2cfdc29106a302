"""The folds of what ends tasks and workflows, well or not. Pure."""

from msgspec.structs import replace

from remit.events.transitions import Transition, WorkflowStatus

from ..state import Completed, Escalated, Quarantined, Stopped, Workflow
from .parts import settled, task_of, with_tasks, without_offer


def task_escalated(workflow: Workflow, transition: Transition) -> Workflow:
    stop = transition.stop
    owner = (stop.owner if stop else None) or workflow.contract.owner
    phase = Escalated(transition.reason or "", owner, transition.sequence)
    task = settled(task_of(workflow, transition), transition, "escalated", answered=True)
    return with_tasks(workflow, replace(task, phase=phase))


def task_stopped(workflow: Workflow, transition: Transition) -> Workflow:
    stop = transition.stop
    if stop is None:
        return workflow
    task = settled(without_offer(task_of(workflow, transition), transition), transition, stop.stop_reason.value)
    return with_tasks(workflow, replace(task, phase=Stopped(stop.stop_reason)))


def workflow_accepted(workflow: Workflow, transition: Transition) -> Workflow:
    gate, stop = transition.gate, transition.stop
    if gate is None or stop is None:
        return workflow
    return replace(
        workflow,
        status=WorkflowStatus.ACCEPTED,
        stop_reason=stop.stop_reason,
        development_acceptance=gate.development_acceptance,
        deployment_authorisation=gate.deployment_authorisation,
    )


def workflow_stopped(workflow: Workflow, transition: Transition) -> Workflow:
    stop = transition.stop
    if stop is None:
        return workflow
    ended = [
        replace(task, phase=Stopped(stop.stop_reason))
        for task in workflow.tasks.values()
        if not isinstance(task.phase, Completed | Stopped | Quarantined)
    ]
    return replace(with_tasks(workflow, *ended), status=WorkflowStatus.STOPPED, stop_reason=stop.stop_reason)


def workflow_quarantined(workflow: Workflow, transition: Transition) -> Workflow:
    stop = transition.stop
    if stop is None:
        return workflow
    frozen = workflow
    if transition.task_id is not None:
        task = settled(task_of(workflow, transition), transition, "quarantined", answered=True)
        frozen = with_tasks(workflow, replace(task, phase=Quarantined(transition.reason or "")))
    return replace(frozen, status=WorkflowStatus.QUARANTINED, stop_reason=stop.stop_reason)
