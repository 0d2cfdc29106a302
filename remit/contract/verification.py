"""Independent re-runs in a contract: for each task that the policy wants verified, one more that repeats its commands.

A verification is a task like any other, made by the gate after all rules: it takes the exact subject, runs the same
checks, and stands between the task and whatever depends on it. In documents it never appears. Pure; gate, amendments
and the way back to a document import it.
"""

from collections.abc import Collection

from msgspec.structs import replace

from remit.contract.file import TaskModel
from remit.contract.filled import Filled, Task
from remit.contract.limits import task_limits
from remit.contract.normal import Check, Input, OutputKind, Permissions, Requirement, TaskContract, Workflow
from remit.ids import digest
from remit.policy.checks import RUNNER_KINDS
from remit.policy.model import Policy
from remit.policy.verification import SUFFIX, TASK_TYPE, wants_verification

SECOND_OPINION = 2  # attempts that a verification has at least: one more verifier where the first one disagrees


def verified_tasks(workflow: Workflow, policy: Policy) -> tuple[str, ...]:
    """Ids of the tasks whose commands are to be run again, in file order; the same contract gives the same ones."""
    return tuple(
        task.task_id
        for task in workflow.tasks.values()
        if wants_verification(policy, task.task_type, task.risk_class, has_code=_is_about_code(workflow, task))
        and any(check.kind.value in RUNNER_KINDS for _, check in workflow.checks_of(task.task_id))
        and _is_drawn(workflow, task.task_id, policy.verification.percent)
    )


def _is_drawn(workflow: Workflow, task_id: str, percent: int | None) -> bool:
    name = [workflow.tenant_id, workflow.workflow_id, task_id]
    return percent is None or int(digest(name)[:12], 16) % 100 < percent


def with_verifications(workflow: Workflow, filled: Filled) -> Workflow:
    """The workflow with a verifying task after each task that the policy wants verified."""
    chosen = verified_tasks(workflow, filled.policy)
    if not chosen:
        return workflow
    tasks: dict[str, TaskContract] = {}
    for task in workflow.tasks.values():
        tasks[task.task_id] = replace(task, depends_on=_behind(task.depends_on, chosen))
        if task.task_id in chosen:
            made = _verifying(filled, workflow, task)
            tasks[made.task_id] = made
    requirements = tuple(_with_copies(each, chosen) for each in workflow.requirements)
    return replace(workflow, tasks=tasks, requirements=requirements)


def without_verifications(workflow: Workflow) -> Workflow:
    """The workflow as its document says it: the reverse of `with_verifications`."""
    made = {task.task_id for task in workflow.tasks.values() if task.verifies is not None}
    if not made:
        return workflow
    tasks = {
        task_id: replace(task, depends_on=tuple(each for each in task.depends_on if each not in made))
        for task_id, task in workflow.tasks.items()
        if task_id not in made
    }
    requirements = tuple(
        replace(each, checks=tuple(check for check in each.checks if check.task not in made))
        for each in workflow.requirements
    )
    return replace(workflow, tasks=tasks, requirements=requirements)


def _behind(depends_on: tuple[str, ...], chosen: Collection[str]) -> tuple[str, ...]:
    """What is not verified yet is used by nobody."""
    return tuple(name for each in depends_on for name in ((each, each + SUFFIX) if each in chosen else (each,)))


def _with_copies(requirement: Requirement, chosen: Collection[str]) -> Requirement:
    copies = [_copy(each) for each in requirement.checks if each.task in chosen and each.kind.value in RUNNER_KINDS]
    return replace(requirement, checks=(*requirement.checks, *copies))


def _copy(check: Check) -> Check:
    return replace(check, id=check.id + SUFFIX, task=check.task + SUFFIX)


def _verifying(filled: Filled, workflow: Workflow, task: TaskContract) -> TaskContract:
    task_type = filled.policy.task_types[TASK_TYPE]
    asked = Task(
        task.task_id + SUFFIX,
        TaskModel(task_type=TASK_TYPE),
        task_type,
        task_type.pool,
        filled.policy.pools[task_type.pool],
    )
    inputs = _subject(workflow, task)
    limits = task_limits(filled, asked, workflow.limits)
    return TaskContract(
        task_id=asked.id,
        task_type=TASK_TYPE,
        capability=asked.capability,
        pool=task_type.pool,
        objective=task_type.objective or f"Run the commands of {task.task_id} again on what it is about",
        depends_on=(task.task_id,),
        inputs=inputs,
        permissions=_permissions(asked, has_code=any(_is_revision(workflow, each) for each in inputs.values())),
        tools=tuple(asked.tools),
        limits=replace(limits, max_attempts=max(limits.max_attempts or SECOND_OPINION, SECOND_OPINION)),
        risk_class=task.risk_class,
        verifies=task.task_id,
    )


def _subject(workflow: Workflow, task: TaskContract) -> dict[str, Input]:
    """What the task's evidence speaks of: the revision that it makes, else the one that it takes, else all inputs."""
    made = next((name for name, kind in task.outputs.items() if kind is OutputKind.REVISION), None)
    if made is not None:
        return {made: Input(reference=f"task://{task.task_id}/{made}", kind="task")}
    code = {name: each for name, each in task.inputs.items() if _is_revision(workflow, each)}
    return code or task.inputs


def _is_about_code(workflow: Workflow, task: TaskContract) -> bool:
    makes = OutputKind.REVISION in task.outputs.values()
    return makes or any(_is_revision(workflow, each) for each in task.inputs.values())


def _is_revision(workflow: Workflow, each: Input) -> bool:
    if each.kind != "task":
        return each.kind == "git"
    producer, _, output = each.reference.removeprefix("task://").partition("/")
    return workflow.tasks[producer].outputs.get(output) is OutputKind.REVISION


def _permissions(task: Task, *, has_code: bool) -> Permissions:
    """Nothing but the right to run what it takes."""
    known = task.pool.permissions if task.pool else {}
    grants = dict.fromkeys(known, "none")
    return Permissions(grants=grants | {"repository": "execute"} if has_code else grants)
