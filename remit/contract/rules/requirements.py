"""Requirements and checks: every text has a check, and every check can be met by a task of this workflow."""

from collections.abc import Iterator

from remit.contract.filled import Filled, Task
from remit.contract.requirements import (
    Wanted,
    WantedCheck,
    checks_of,
    commands_of,
    holds_at,
    on_revision_line,
    wanted,
)
from remit.contract.revision_lines import last_maker, seen_by
from remit.faults import Fault, Path, unknown_key
from remit.ids import is_id
from remit.policy.checks import RUNNER_KINDS, check_faults, command_faults
from remit.policy.permissions import covers


def faults(filled: Filled) -> Iterator[Fault]:
    """Texts without a check, checks without a text, and checks that no evidence could meet."""
    requirements = list(wanted(filled))
    if not requirements:
        yield Fault(("definition_of_done",), "is required: at least one mandatory check")
    for name, command in filled.file.commands.items():
        yield from command_faults(command, ("commands", name))
    texts = [requirement.text for requirement in requirements]
    for text in filled.file.checks:
        if text not in texts:
            yield unknown_key(("checks", text), texts, "a requirement of this contract")
    seen: set[tuple[Path, str]] = set()
    for requirement in requirements:
        place = (requirement.path[:-1], requirement.text)
        if place in seen:
            yield Fault(requirement.path, "stands twice")
        else:
            yield from _requirement(filled, requirement)
        seen.add(place)


def _requirement(filled: Filled, requirement: Wanted) -> Iterator[Fault]:
    checks = checks_of(filled, requirement)
    if not checks:
        yield Fault(requirement.path, "has no check")
    ids: set[str] = set()
    for check in checks:
        if not is_id(check.model.id):
            yield _at(check, "id", "is not an id: 1 to 128 of A-Z a-z 0-9 . _ : -")
        elif check.model.id in ids:
            yield _at(check, "id", "stands twice")
        ids.add(check.model.id)
        if not check.in_policy:  # the policy's own checks were judged when it was applied
            yield from check_faults(check.model, check.path, commands_of(filled))
        yield from _task_of(filled, check)


def _at(check: WantedCheck, field: str, rule: str) -> Fault:
    """A fault of a check: at its field in the file, or at the requirement that the policy's check serves."""
    if check.in_policy:
        return Fault(check.path, f": {field} of the policy's check {check.model.id} {rule}")
    return Fault((*check.path, field), rule)


def _task_of(filled: Filled, check: WantedCheck) -> Iterator[Fault]:
    if check.task is None:
        yield _at(check, "task", "is required")
    elif check.task not in filled.tasks:
        if check.in_policy:
            yield _at(check, "task", "is not a task of this workflow")
        else:
            yield unknown_key((*check.path, "task"), filled.tasks, "a task of this workflow", check.task)
    else:
        yield from _can_be_met(filled, check, filled.tasks[check.task])


def _can_be_met(filled: Filled, check: WantedCheck, task: Task) -> Iterator[Fault]:
    model = check.model
    whose = "its task" if filled.is_bare else f"task {task.id}"  # the id of a lone task is a value of its document
    if model.kind == "revision" and not filled.makes_revision(task.id):
        yield _at(check, "kind", f"needs an output of kind revision in {whose}")
    if model.output is not None and model.output not in task.outputs:
        yield _at(check, "output", f"is not an output of {whose}")
    if holds_at(filled, model, task.id) == "final":
        yield from _final(filled, check, task, whose)
    if model.kind in RUNNER_KINDS and _may_not_execute(filled, task):
        yield _at(check, "command", f"needs permissions.repository execute in {whose}")


def _final(filled: Filled, check: WantedCheck, task: Task, whose: str) -> Iterator[Fault]:
    """Evidence that must hold at the end of the line comes from a task that sees the end of the line."""
    if not on_revision_line(filled, task.id):
        yield _at(check, "holds_at", f"can't be final: {whose} neither makes nor takes a revision of this workflow")
        return
    seen, last = seen_by(filled, task.id), last_maker(filled, task.id)
    if seen != last and not filled.prerequisites[task.id] & {task.id}:  # a cycle has its own fault
        works_on = f"the revision of {seen}" if seen else "a commit from outside"
        yield _at(check, "holds_at", f"can't be final: {whose} works on {works_on}, and {last} makes a later one")


def _may_not_execute(filled: Filled, task: Task) -> bool:
    grant = task.grants.get("repository")  # a missing one has its own fault
    has_code = bool(filled.repositories(task.id)) or on_revision_line(filled, task.id)
    return has_code and grant is not None and not covers([grant], "execute")
