"""What became of a workspace: the commits that a worker made, with their trailers, pushed where they are kept alive.

Only this role imports it.
"""

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


def settle(
    repository: Repository, workspace: Path, base: str, trailers: dict[str, str], ref: str, *, redactor: Redactor
) -> Revision | None:
    """Take the workspace's HEAD, see to the trailers of each new commit, and push it; None when HEAD did not move.

    Raises WorkspaceError when a commit holds a secret: it can't be redacted without becoming another commit.
    """
    head = repository.take(workspace)
    if head == base:
        return None
    if rules := redactor.shapes(repository.history(base, head).decode(errors="replace")):
        raise WorkspaceError(f"nothing was pushed: a commit holds what looks like a secret ({', '.join(rules)})")
    commit = _with_trailers(repository, base, head, trailers)
    repository.push(commit, ref)
    return Revision(commit=commit, base=base, told=head)


def _with_trailers(repository: Repository, base: str, head: str, trailers: dict[str, str]) -> str:
    """The same history, in which each commit that lacks a trailer is made anew, and so is what stands on it.

    A HEAD that does not stand on the base is left as it is: the inspector refuses it.
    """
    if not repository.descends(head, base):
        return head
    renamed: dict[str, str] = {}
    for commit in repository.commits(base, head):
        message = repository.message(commit)
        wanted = repository.with_trailers(message, trailers)
        old = repository.parents(commit)
        parents = [renamed.get(parent, parent) for parent in old]
        if wanted.strip() != message.strip() or parents != old:
            renamed[commit] = repository.rewrite(commit, wanted, parents)
    return renamed.get(head, head)
