"""What the commands of one attempt see in the sandbox: the handler, and the checks that the runner observes. Pure.

Only this role imports it.
"""

from pathlib import Path

from .job import Bench, Job
from .sandbox import View

NETWORK = "network"  # the resource of a policy whose grant `none` keeps the network away


def of_handler(job: Job, bench: Bench) -> View:
    """The attempt's own folders to write, all else of it to read; the tools' folder not at all."""
    ground = job.ground
    return View(
        folder=ground.workspace,
        readable=_borrowed(job, bench),
        writable=(ground.root,),
        guarded=(ground.inputs, ground.observed, ground.bin, ground.dispatch),
        hidden=(ground.tools,),
        network=has_network(job, bench),
    )


def of_check(job: Job, bench: Bench, folder: Path, tree: Path) -> View:
    """Its own folder and the tree, to write; the inputs to read; no network."""
    return View(
        folder=tree,
        readable=(*_borrowed(job, bench), job.ground.inputs),
        writable=(folder,) if tree.is_relative_to(folder) else (folder, tree),
    )


def confined(argv: list[str], view: View, bench: Bench) -> list[str]:
    """The command line in its view; as it is where there is no sandbox."""
    return bench.sandbox.wrapped(argv, view) if bench.sandbox is not None else argv


def has_network(job: Job, bench: Bench) -> bool:
    """Whether the handler gets the network: the worker's configuration opens it, and no grant forbids it."""
    return bool(bench.config.network) and job.offer.grant.permissions.get(NETWORK) != "none"


def _borrowed(job: Job, bench: Bench) -> tuple[Path, ...]:
    """The copies of the repositories that its clones borrow objects from."""
    places = {each.location for each in job.offer.inputs if each.kind == "git" and each.location is not None}
    return tuple(bench.repository(each).folder for each in sorted(places))
