"""`remit init`: a first policy, workflow and worker, which run at once with the commands that it prints."""

import os
import shlex
from importlib.resources import files
from pathlib import Path

import click

from remit.cli.output import say
from remit.errors import RefusedError

POLICY, WORKFLOW, WORKER = "policy.yaml", "workflow.yaml", "worker.sh"
FILES = (POLICY, WORKFLOW, WORKER)
WORKFLOW_ID, TASK_ID = "first-1", "greet"
EXECUTABLE = 0o755


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
def init(folder: Path) -> None:
    """Write a policy, a workflow and a shell worker to FOLDER (this one), and print the commands that run them.

    Nothing is overwritten: exit 1 if one of the three files is there.
    """
    write(folder)
    say(f"Written to {folder}: {', '.join(FILES)}\n")
    service, person = commands(folder)
    say("Broker, supervisor, projector and the worker, in one terminal until Ctrl-C:\n")
    say("\n".join(f"  {each}" for each in service))
    say("\nThe workflow, in another terminal:\n")
    say("\n".join(f"  {each}" for each in person))


def write(folder: Path) -> None:
    """Write the three files; RefusedError if one of them is there, before anything is written, or can't be written."""
    there = [name for name in FILES if os.path.lexists(folder / name)]  # a link that leads nowhere is there too
    if there:
        raise RefusedError(f"{', '.join(there)} in {folder}: nothing was written, since nothing is overwritten")
    try:
        _write(folder)
    except OSError as error:
        raise RefusedError(f"{folder} can't be written: {error.strerror or type(error).__name__}") from None


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        text = files("remit.cli").joinpath("first", name).read_text(encoding="utf-8")
        with (folder / name).open("x", encoding="utf-8") as file:
            file.write(text)
    (folder / WORKER).chmod(EXECUTABLE)


def commands(folder: Path) -> tuple[list[str], list[str]]:
    """The command lines for the terminal of the service, and those for a person's."""
    there = [] if folder.resolve() == Path.cwd() else [f"cd {shlex.quote(str(folder))}"]
    service = [*there, f"remit dev --policy {POLICY} --worker shell=./{WORKER}"]
    person = [
        *there,
        f"remit submit {WORKFLOW} --wait",
        f"remit show {WORKFLOW_ID}",
        f"remit logs {WORKFLOW_ID} {TASK_ID}",
        f"remit budget {WORKFLOW_ID}",
    ]
    return service, person
