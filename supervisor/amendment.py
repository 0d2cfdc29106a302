"""What another contract version means for the tasks of a workflow: whose evidence is void, who must stop. Pure."""

from remit.contract.normal import Workflow as Contract
from remit.contract.normal import task_hash, work_hash

from . import graph
from .state import Completed, Queued, Stopped, Waiting, Workflow


def voided(workflow: Workflow, contract: Contract) -> frozenset[str]:
    """The accepted tasks whose work or evidence rests on what is another now."""
    return frozenset(
        task_id
        for task_id, task in workflow.tasks.items()
        if isinstance(task.phase, Completed) and _is_other(workflow.contract, contract, task_id)
    )


def _is_other(before: Contract, after: Contract, task_id: str) -> bool:
    """Whether what was done under the one version is no work or evidence under the other."""
    if task_id not in after.tasks:
        return False
    changed = work_hash(before, task_id) != work_hash(after, task_id)
    return changed or _asks_other_versions(before, after, task_id)


def _asks_other_versions(before: Contract, after: Contract, task_id: str) -> bool:
    """Whether the task's commands must run where they need not have run; a constraint that goes asks for nothing."""
    asked = after.constraints.items() - before.constraints.items()
    return bool(asked) and any(check.command for _, check in after.checks_of(task_id))


def undone(workflow: Workflow, contract: Contract, task_id: str) -> tuple[str, ...]:
    """What a result of the task rests on, itself included, and the version would void."""
    own = {task_id, *graph.upstream(workflow.contract, task_id)}
    return tuple(each for each in workflow.tasks if each in own and _is_other(workflow.contract, contract, each))


def sent_back(workflow: Workflow, contract: Contract) -> frozenset[str]:
    """The tasks that must do their work anew: the voided ones, and all that come after those."""
    void = voided(workflow, contract)
    later = {each for task_id in void for each in graph.downstream(contract, task_id)}
    return void | (later & workflow.tasks.keys())


def disturbed(workflow: Workflow, contract: Contract) -> tuple[str, ...]:
    """The tasks with an attempt under way that can't go on: what they work by, with or on is another now."""
    back = sent_back(workflow, contract)
    return tuple(
        task_id
        for task_id, task in workflow.tasks.items()
        if (attempt := task.current()) is not None
        and task_id in contract.tasks
        and (
            task_id in back
            or attempt.contract_sha256 != task_hash(contract, task_id)
            or _asks_other_versions(workflow.contract, contract, task_id)
        )
    )


def worked_on(workflow: Workflow, contract: Contract) -> tuple[str, ...]:
    """The tasks that the version lacks and that can't go: offered, worked on, or ended."""
    return tuple(
        task_id
        for task_id, task in workflow.tasks.items()
        if task_id not in contract.tasks and (task.attempts or not isinstance(task.phase, Waiting | Queued))
    )


def behind_stopped(workflow: Workflow, contract: Contract) -> tuple[tuple[str, str], ...]:
    """The tasks that the version newly lets wait for a task that was stopped, each with that one: for ever."""
    stopped = {task_id for task_id, task in workflow.tasks.items() if isinstance(task.phase, Stopped)}
    return tuple(
        (task_id, needed)
        for task_id, task in contract.tasks.items()
        if task_id not in stopped
        for needed in task.depends_on
        if needed in stopped and needed not in _needed_before(workflow, task_id)
    )


def _needed_before(workflow: Workflow, task_id: str) -> tuple[str, ...]:
    task = workflow.contract.tasks.get(task_id)
    return task.depends_on if task else ()
