"""What flows into a task and what its work is about: inputs resolved to versions, subjects, revision lines. Pure."""

from remit.contract.normal import HoldsAt, Input, OutputKind
from remit.contract.normal import Workflow as Contract
from remit.events.base import InputVersion, Subject, SubjectKind
from remit.events.transitions import AcceptedOutput
from remit.subjects import GIT, subject_of

from . import graph
from .once import once
from .state import Workflow


def input_versions(workflow: Workflow, task_id: str) -> tuple[InputVersion, ...]:
    """The task's inputs by reference and hash, as they stand now; its prerequisites must be accepted."""
    inputs = workflow.contract.tasks[task_id].inputs
    return tuple(version_of(workflow, name, each) for name, each in inputs.items())


def version_of(workflow: Workflow, name: str, each: Input) -> InputVersion:
    """One input as it stands now; the task that yields it must be accepted."""
    if each.kind != "task":
        return InputVersion(
            name=name, kind=each.kind, reference=each.reference, sha256=each.sha256, location=each.location
        )
    producer, output_name = split_task_reference(each.reference)
    output = next(o for o in workflow.tasks[producer].outputs if o.name == output_name)
    return _from_output(workflow.contract, producer, name, output)


def split_task_reference(reference: str) -> tuple[str, str]:
    """Task and output that `task://TASK/OUTPUT` names."""
    producer, _, output = reference.removeprefix("task://").partition("/")
    return producer, output


def _from_output(contract: Contract, producer: str, name: str, output: AcceptedOutput) -> InputVersion:
    if output.subject is not None and output.subject.revision is not None:
        subject = output.subject
        return InputVersion(
            name=name,
            kind=GIT,
            reference=repository_reference(subject.repository or "", output.subject.revision),
            location=location_of(contract, subject.repository or ""),
        )
    if output.artefact is not None:
        return InputVersion(
            name=name, kind="artefact", reference=output.artefact.reference, sha256=output.artefact.sha256
        )
    return InputVersion(name=name, kind="value", reference=f"task://{producer}/{output.name}", value=output.value)


def repository_reference(repository: str, revision: str) -> str:
    """`repo://NAME@commit:HEX`."""
    return f"repo://{repository}@commit:{revision}"


def split_repository_reference(reference: str) -> tuple[str, str]:
    """Repository and revision that `repo://NAME@commit:HEX` names."""
    repository, _, revision = reference.removeprefix("repo://").partition("@commit:")
    return repository, revision


def location_of(contract: Contract, repository: str) -> str | None:
    """Where the contract's own inputs say that repository is."""
    every = [*contract.inputs.values(), *(each for task in contract.tasks.values() for each in task.inputs.values())]
    return next((i.location for i in every if i.location and i.reference.startswith(f"repo://{repository}@")), None)


def work_subject(inputs: tuple[InputVersion, ...], outputs: tuple[AcceptedOutput, ...]) -> Subject:
    """What an attempt's work is about: the revision it made, else the one it was given, else all its inputs."""
    made = next((output.subject for output in outputs if output.subject is not None), None)
    if made is not None:
        return made
    return subject_of(inputs)


def authors(workflow: Workflow, task_id: str) -> frozenset[str]:
    """The workers who made what the task is about: its revision, else the outputs that it is given.

    For a verification the worker is among them whose result it verifies.
    """
    wanted = workflow.contract.tasks[task_id]
    inputs = wanted.inputs.values()
    made = {split_task_reference(each.reference) for each in inputs if each.kind == "task"}
    revisions = {(task, name) for task, name in made if _makes_revision(workflow.contract, task, name)}
    makers = {task for task, _ in (revisions or made)} | ({wanted.verifies} if wanted.verifies else set())
    return frozenset(author for task in makers if (author := workflow.tasks[task].author) is not None)


def _makes_revision(contract: Contract, task_id: str, output: str) -> bool:
    return contract.tasks[task_id].outputs.get(output) is OutputKind.REVISION


@once
def final_subjects(workflow: Workflow) -> tuple[Subject, ...]:
    """The final revision of each repository: what the line's last task produced, else the one it started from."""
    finals: dict[str, Subject] = {}
    for task_id in graph.in_order(workflow.contract):
        subject = workflow.tasks[task_id].subject
        makes = OutputKind.REVISION in workflow.contract.tasks[task_id].outputs.values()
        if subject is not None and subject.kind is SubjectKind.GIT and subject.repository:
            finals[subject.repository] = subject if makes else finals.get(subject.repository, subject)
    return tuple(finals.values())


def expected_subject(workflow: Workflow, task_id: str, holds_at: HoldsAt) -> tuple[Subject, ...] | None:
    """The subjects of which one must be a check's; None where any will do."""
    if holds_at is HoldsAt.NONE:
        return None
    own = workflow.tasks[task_id].subject
    finals = final_subjects(workflow)
    if holds_at is HoldsAt.FINAL and own is not None and own.kind is SubjectKind.GIT and finals:
        return tuple(each for each in finals if each.repository == own.repository)
    return (own,) if own is not None else ()
