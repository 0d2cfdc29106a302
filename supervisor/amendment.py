"""What another contract version means for the tasks of a workflow: whose evidence is void, who must stop. Pure."""

from remit.contract.normal import Workflow as Contract
from remit.contract.normal import task_hash, work_hash

from . import graph
from .state import Completed, Queued, Waiting, Workflow


def voided(workflow: Workflow, contract: Contract) -> frozenset[str]:
    """The accepted tasks whose work or evidence rests on a task contract that is another now."""
    return frozenset(
        task_id
        for task_id, task in workflow.tasks.items()
        if isinstance(task.phase, Completed)
        and task_id in contract.tasks
        and work_hash(workflow.contract, task_id) != work_hash(contract, task_id)
    )


def sent_back(workflow: Workflow, contract: Contract) -> frozenset[str]:
    """The tasks that must do their work anew: the voided ones, and all that come after those."""
    void = voided(workflow, contract)
    later = {each for task_id in void for each in graph.downstream(contract, task_id)}
    return void | (later & workflow.tasks.keys())


def disturbed(workflow: Workflow, contract: Contract) -> tuple[str, ...]:
    """The tasks with an attempt under way that can't go on: on another task contract, or on what is voided."""
    back = sent_back(workflow, contract)
    return tuple(
        task_id
        for task_id, task in workflow.tasks.items()
        if (attempt := task.current()) is not None
        and task_id in contract.tasks
        and (task_id in back or attempt.contract_sha256 != task_hash(contract, task_id))
    )


def worked_on(workflow: Workflow, contract: Contract) -> tuple[str, ...]:
    """The tasks that the version lacks and that can't go: offered, worked on, or ended."""
    return tuple(
        task_id
        for task_id, task in workflow.tasks.items()
        if task_id not in contract.tasks and (task.attempts or not isinstance(task.phase, Waiting | Queued))
    )
