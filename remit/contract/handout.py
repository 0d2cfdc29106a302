"""What an offer carries of a contract: one task, its requirements, its command lines. Pure; anyone may import it.

A storage format: it travels as JSON in the `contract` field of an offer.
"""

import msgspec

from remit.contract.normal import Command, Requirement, TaskContract, Workflow, encode


class Handout(msgspec.Struct, frozen=True, kw_only=True):
    """One task's part of a workflow; a field may be added with a default."""

    task: TaskContract
    requirements: tuple[Requirement, ...] = ()  # those with a check that this task must yield evidence for
    commands: dict[str, Command] = {}  # the command lines that those checks name
    constraints: dict[str, str] = {}  # language, framework: what the runner's environment must meet


def hand_out(workflow: Workflow, task_id: str) -> Handout:
    """The part of a workflow that the worker of `task_id` is given."""
    found = workflow.checks_of(task_id)
    named = {requirement.id for requirement, _ in found}
    commands = [check.command for _, check in found if check.command]
    return Handout(
        task=workflow.tasks[task_id],
        requirements=tuple(each for each in workflow.requirements if each.id in named),
        commands={name: workflow.commands[name] for name in commands},
        constraints=workflow.constraints,
    )


def handout_text(workflow: Workflow, task_id: str) -> str:
    """JSON text of the handout, as an offer carries it."""
    return encode(hand_out(workflow, task_id))


def read_handout(text: str) -> Handout:
    """The handout whose JSON text an offer carries; raises msgspec.ValidationError on anything else."""
    return msgspec.json.decode(text, type=Handout)
