"""Requirements of a filled file: each text of `definition_of_done`, `must_preserve` and `security`, with its checks.

Pure; the gate's rules judge what stands here and the builder turns it into the normal form.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from remit.contract.filled import Filled
from remit.faults import Path
from remit.policy.checks import RUNNER_KINDS
from remit.policy.model import CheckModel, CommandModel

_NO_SLUG = re.compile(r"[^a-z0-9]+")
_LONGEST_SLUG = 64


@dataclass(frozen=True)
class Wanted:
    """One requirement text, its place, and the task that it belongs to (None: the workflow)."""

    text: str
    source: str
    path: Path
    task: str | None = None


@dataclass(frozen=True)
class WantedCheck:
    """One check of a requirement: its place, and the task that yields its evidence (None: nobody says)."""

    model: CheckModel
    path: Path
    in_policy: bool
    task: str | None


def wanted(filled: Filled) -> Iterator[Wanted]:
    """Every requirement, the workflow's before the tasks'."""
    file = filled.file
    lists = (
        ("definition_of_done", file.definition_of_done, ("definition_of_done",)),
        ("must_preserve", file.constraints.must_preserve, ("constraints", "must_preserve")),
        ("security", file.constraints.security, ("constraints", "security")),
    )
    for source, texts, path in lists:
        yield from (Wanted(text, source, (*path, number)) for number, text in enumerate(texts))
    for task in filled.tasks.values():
        for number, text in enumerate(task.definition_of_done):
            yield Wanted(text, "definition_of_done", ("tasks", task.id, "definition_of_done", number), task.id)


def checks_of(filled: Filled, requirement: Wanted) -> list[WantedCheck]:
    """The checks of a requirement: the file's, else the policy's."""
    in_policy = requirement.text not in filled.file.checks
    models = (filled.policy.checks if in_policy else filled.file.checks).get(requirement.text, [])
    return [
        WantedCheck(
            model,
            requirement.path if in_policy else ("checks", requirement.text, number),
            in_policy,
            model.task or requirement.task or _only_task(filled, model),
        )
        for number, model in enumerate(models)
    ]


def _only_task(filled: Filled, check: CheckModel) -> str | None:
    """The one task that could yield a check's evidence where neither file nor policy names it."""
    able = [task_id for task_id, task in filled.tasks.items() if len(filled.tasks) == 1 or check.output in task.outputs]
    if check.kind == "revision":
        able = [task_id for task_id in filled.tasks if filled.makes_revision(task_id)] or able
    return able[0] if len(able) == 1 else None


def commands_of(filled: Filled) -> dict[str, CommandModel]:
    """The command lines that checks may name: the file's above the policy's."""
    return {**filled.policy.commands, **filled.file.commands}


def holds_at(filled: Filled, check: CheckModel, task_id: str) -> str:
    """Which subject a check's evidence must speak of: as it says, else by its kind and task.

    A check that the runner answers, a revision and a review hold at the final revision if their task makes or takes a
    revision of this workflow; everything else at the task's own subject, or at none if the task has no inputs.
    """
    if check.holds_at is not None:
        return check.holds_at
    if check.kind in RUNNER_KINDS | {"revision", "review"} and on_revision_line(filled, task_id):
        return "final"
    return "own" if filled.file.tasks[task_id].inputs else "none"


def on_revision_line(filled: Filled, task_id: str) -> bool:
    """Whether a task makes a revision or takes one that a task made."""
    return filled.makes_revision(task_id) or filled.revision_source(task_id) is not None


def slugs(texts: list[str]) -> list[str]:
    """An id for each requirement text, in order: lower-case words and dashes, at most 64 characters, unique."""
    used: set[str] = set()
    return [_unique(_NO_SLUG.sub("-", text.lower()).strip("-") or "requirement", used) for text in texts]


def _unique(slug: str, used: set[str]) -> str:
    candidate, number = slug[:_LONGEST_SLUG].rstrip("-"), 1
    while candidate in used:
        number += 1
        suffix = f"-{number}"
        candidate = slug[: _LONGEST_SLUG - len(suffix)].rstrip("-") + suffix
    used.add(candidate)
    return candidate
