"""A workflow file whose tasks are filled in from the policy's task types: what every rule of the gate looks at.

Pure; only the gate, its rules and the builder of the normal form import it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from remit.contract import normal
from remit.contract.file import TaskModel, WorkflowFile
from remit.contract.references import Reference, parse_reference
from remit.policy.model import Policy, Pool, SpawnModel, TaskType


@dataclass(frozen=True)
class Task:
    """One task: its own words, and the type and pool that they rest on (None where the policy knows none)."""

    id: str
    own: TaskModel
    type: TaskType | None
    pool_name: str | None
    pool: Pool | None

    @property
    def capability(self) -> str:
        """The capability that a worker needs: the type's own name unless the file or the policy says otherwise."""
        return self.own.capability or (self.type.capability if self.type else None) or self.own.task_type

    @property
    def grants(self) -> dict[str, str]:
        """Grant by resource: the type's, with the task's own above them."""
        return {**(self.type.permissions if self.type else {}), **self.own.permissions.grants}

    @property
    def outputs(self) -> dict[str, str]:
        """Output kind by name: the task's own, else the type's."""
        if self.own.outputs is not None:
            return dict(self.own.outputs)
        return dict(self.type.outputs) if self.type else {}

    @property
    def tools(self) -> list[str]:
        """Tools: the task's own, else the type's."""
        if self.own.tools is not None:
            return self.own.tools
        return self.type.tools if self.type else []

    @property
    def risk_class(self) -> str:
        """Risk class: the task's own, else the type's."""
        return self.own.risk_class or (self.type.risk_class if self.type else "low")

    @property
    def output_schema(self) -> str | None:
        """Name of the output schema: the task's own, else the type's."""
        return self.own.output_schema or (self.type.output_schema if self.type else None)

    @property
    def definition_of_done(self) -> list[str]:
        """Requirements of this task alone: its own, else the type's."""
        if self.own.definition_of_done is not None:
            return self.own.definition_of_done
        return self.type.definition_of_done if self.type else []

    @property
    def spawn(self) -> SpawnModel | None:
        """What it may propose: as the task says, be it null, else its type's."""
        if "spawn" in self.own.model_fields_set:
            return self.own.spawn
        return self.type.spawn if self.type else None

    @property
    def branch(self) -> str | None:
        """The branch that it may write, if any."""
        grant = self.grants.get("repository", "none")
        return grant.removeprefix("read-write:") if grant.startswith("read-write:") else None


@dataclass(frozen=True)
class Filled:
    """A whole file with its tasks filled in, judged under `policy` at `now`."""

    file: WorkflowFile
    policy: Policy
    now: datetime
    is_bare: bool
    resolved: bool
    approved: normal.Workflow | None = None  # the version in force that it follows

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """The tasks, in file order."""
        return {task_id: self._task(task_id, own) for task_id, own in self.file.tasks.items()}

    def _task(self, task_id: str, own: TaskModel) -> Task:
        task_type = self.policy.task_types.get(own.task_type)
        pool_name = own.pool or (task_type.pool if task_type else None)
        return Task(task_id, own, task_type, pool_name, self.policy.pools.get(pool_name) if pool_name else None)

    def approved_limits(self, task_id: str | None = None) -> normal.Limits | None:
        """What the version in force says of a task, or of the workflow; None where it knows none of that."""
        if self.approved is None or task_id is None:
            return self.approved.limits if self.approved else None
        task = self.approved.tasks.get(task_id)
        return task.limits if task else None

    @cached_property
    def prerequisites(self) -> dict[str, frozenset[str]]:
        """Per task all tasks that it depends on, directly or not; a task on a cycle depends on itself."""
        return {task_id: self._reach(task_id) for task_id in self.tasks}

    def _reach(self, task_id: str) -> frozenset[str]:
        seen: set[str] = set()
        open_ = list(self.file.tasks[task_id].depends_on)
        while open_:
            other = open_.pop()
            if other in self.file.tasks and other not in seen:
                seen.add(other)
                open_ += self.file.tasks[other].depends_on
        return frozenset(seen)

    def reference(self, task_id: str, name: str) -> Reference | None:
        """What a task's input refers to, `input://` followed; None where its form is not known."""
        found = parse_reference(self.file.tasks[task_id].inputs[name], self.policy.reference_schemes)
        if found and found.kind == "input":
            text = self.file.inputs.get(found.name)
            found = parse_reference(text, self.policy.reference_schemes) if text else None
        return found

    def references(self, task_id: str) -> Iterator[tuple[str, Reference]]:
        """Name and reference of each input of a task whose form is known."""
        for name in self.file.tasks[task_id].inputs:
            found = self.reference(task_id, name)
            if found:
                yield name, found

    def revision_source(self, task_id: str) -> str | None:
        """The task whose revision `task_id` takes as an input, if any."""
        for _, found in self.references(task_id):
            producer = self.tasks.get(found.name)
            if found.kind == "task" and producer and producer.outputs.get(found.detail) == "revision":
                return producer.id
        return None

    def makes_revision(self, task_id: str) -> bool:
        """Whether a task declares an output of kind revision."""
        return "revision" in self.tasks[task_id].outputs.values()

    @cached_property
    def has_revision_line(self) -> bool:
        """Whether any task makes a revision, so that there will be a final one."""
        return any(self.makes_revision(task_id) for task_id in self.tasks)

    def repositories(self, task_id: str) -> frozenset[str]:
        """Names of the repositories that a task's inputs speak of, through the tasks whose revisions it takes."""
        found, seen, open_ = set(), set(), [task_id]
        while open_:
            current = open_.pop()
            seen.add(current)
            found |= {reference.name for _, reference in self.references(current) if reference.kind == "repo"}
            source = self.revision_source(current)
            if source and source not in seen:
                open_.append(source)
        return frozenset(found)
