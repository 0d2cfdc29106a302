"""What an offer carries of a contract, as its worker reads it: one task, its checks, their command lines. Pure.

A storage format: it travels as JSON in the `contract` field of an offer. Anyone may import it.
"""

from typing import Any

import msgspec

from remit.contract.normal import Check, Command, Requirement, TaskContract
from remit.typed_json import read_json


class Handout(msgspec.Struct, frozen=True, kw_only=True):
    """One task's part of a workflow; a field may be added with a default."""

    task: TaskContract
    objective: str = ""  # of the workflow
    requirements: tuple[Requirement, ...] = ()  # those with a check that this task must yield evidence for
    commands: dict[str, Command] = {}  # the command lines that those checks name
    constraints: dict[str, str] = {}  # language, framework: what the runner's environment must meet
    workflow: dict[str, Any] | None = None  # the whole contract as a file, for a task that drafts the next version

    def checks(self) -> tuple[Check, ...]:
        """The checks that the task must yield evidence for, in order."""
        return tuple(check for each in self.requirements for check in each.checks if check.task == self.task.task_id)


def read_handout(text: str) -> Handout:
    """The handout whose JSON text an offer carries; raises msgspec.DecodeError on anything else."""
    return read_json(text, Handout)
