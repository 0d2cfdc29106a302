"""The logs of a task's attempts, read from the artefact store for people. Only `remit.cli` imports it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from remit.artefacts import ArtefactStore
from remit.errors import ArtefactError, RefusedError
from remit.events.base import ArtefactRef, Evidence
from remit.events.inputs import Result, ResultBody

if TYPE_CHECKING:
    from supervisor.state import Attempt, Task, Workflow


def task_of(workflow: "Workflow", task_id: str) -> "Task":
    """The task of that id; RefusedError, with those that there are, if there is none."""
    task = workflow.tasks.get(task_id)
    if task is None:
        raise RefusedError(f"{workflow.workflow_id} has no task {task_id}; it has: {', '.join(workflow.tasks)}")
    return task


def begun(task: "Task", number: int | None) -> list["Attempt"]:
    """The attempts that a worker took up, the oldest first; with `number` only those of that number in their round."""
    return [each for each in task.attempts if each.number and number in {None, each.number}]


def heading(attempt: "Attempt") -> str:
    """One line: which attempt, whose, and how it ended."""
    return f"== round {attempt.round}, attempt {attempt.number}, {attempt.worker_id}: {attempt.outcome or 'at work'}"


def log_lines(attempt: "Attempt", sent: Sequence[Result], store: ArtefactStore, *, commands: bool) -> Iterator[str]:
    """What an attempt's handler wrote, then each command that the runner ran; with `commands` their output too."""
    bodies = [each.result for each in sent if each.attempt_id == attempt.attempt_id and each.result is not None]
    if not bodies:
        yield "no log: no result was handed in" if attempt.outcome else "no log yet: it is handed in with the result"
    for body in bodies:
        yield from _of_result(body, store, commands=commands)


def _of_result(body: ResultBody, store: ArtefactStore, *, commands: bool) -> Iterator[str]:
    if body.log is None:
        yield "no log: its worker handed in none"
    else:
        yield from _stored(body.log, store)
    for each in body.evidence:
        if each.command is not None and each.output is not None:
            yield _command(each)
            if commands:
                yield from _stored(each.output, store)


def _command(evidence: Evidence) -> str:
    form = f" ({evidence.form.value})" if evidence.form else ""
    return f"-- command {evidence.command}{form}, exit {evidence.exit_status}"


def _stored(reference: ArtefactRef, store: ArtefactStore) -> Iterator[str]:
    """The text of a stored object, or the one line that says why it can't be shown."""
    try:
        text = store.get(reference).decode("utf-8", errors="replace")
    except ArtefactError as error:
        yield f"no log: {error}"
        return
    yield from text.rstrip("\n").split("\n") if text else ("the log is empty",)
