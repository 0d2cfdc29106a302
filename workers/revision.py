"""What became of a workspace: the commits that a worker made, with their trailers, pushed where they are kept alive.

Only this role imports it.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from remit.errors import WorkspaceError
from remit.redaction import Redactor

from .repository import Repository


@dataclass(frozen=True)
class Revision:
    """A revision that an attempt made: the commit, its base, and what it was called before trailers were added."""

    commit: str
    base: str
    told: str


@dataclass(frozen=True)
class Origin:
    """Where an attempt's commits come from, and where they go."""

    base: str
    others: tuple[str, ...]  # further commits that it was handed
    trailers: dict[str, str]  # what its own commits are to say; by the last one they are known
    ref: str


def settle(repository: Repository, workspace: Path, origin: Origin, redactor: Redactor) -> Revision | None:
    """Take the workspace's HEAD, see to the trailers of each new commit, and push it; None when HEAD did not move.

    Raises WorkspaceError when a commit holds a secret: it can't be redacted without becoming another commit. Nothing
    of it then stays outside the workspace.
    """
    with tempfile.TemporaryDirectory(dir=workspace.parent, prefix="taken-") as folder:  # goes with the attempt
        found = repository.quarantine(workspace, origin.base, Path(folder))
        if found.head == origin.base:
            return None
        if rules := _secrets(found.history(), redactor):
            raise WorkspaceError(f"nothing was pushed: a commit holds what looks like a secret ({', '.join(rules)})")
        repository.take(found)
    commit = _with_trailers(repository, origin, found.head)
    repository.push(commit, origin.ref)
    return Revision(commit=commit, base=origin.base, told=found.head)


def _secrets(history: bytes, redactor: Redactor) -> list[str]:
    """The rules that find something, in the bytes as they are or as text of two bytes a character."""
    views = {history, history.replace(b"\0", b"")}
    return sorted({rule for view in views for rule in redactor.shapes(view.decode(errors="replace"))})


def _with_trailers(repository: Repository, origin: Origin, head: str) -> str:
    """The same history, in which each own commit that lacks a trailer is made anew, and so is what stands on it.

    What was only merged stays as it is, and a merge is made anew only where its parents are. A HEAD that does not
    stand on the base is left as it is: the inspector refuses it.
    """
    if not repository.descends(head, origin.base):
        return head
    renamed: dict[str, str] = {}
    for commit in repository.commits(head, (origin.base, *origin.others)):
        old = repository.parents(commit)
        parents = [renamed.get(parent, parent) for parent in old]
        message = repository.message(commit)
        wanted = message if len(old) > 1 else _worded(repository, commit, message, origin.trailers)
        if wanted.strip() != message.strip() or parents != old:
            renamed[commit] = repository.rewrite(commit, wanted, parents)
    return renamed.get(head, head)


def _worded(repository: Repository, commit: str, message: bytes, trailers: dict[str, str]) -> bytes:
    """The message with the trailers, unless the commit says already of which attempt it is."""
    return (
        message if repository.has_trailer(commit, list(trailers)[-1]) else repository.with_trailers(message, trailers)
    )
