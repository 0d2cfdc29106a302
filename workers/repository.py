"""This machine's bare copy of a repository: workspaces are made from it, and what a worker commits comes back to it.

The worker's command only ever sees a clone, and git never runs there again once the command began: nothing that it
plants (hooks, settings, another repository's name) reaches the runner's own git commands, and nothing touches the
user's checkout. Only this role imports it.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from remit.errors import WorkspaceError
from remit.ids import sha256

from .commits import head_of, take_objects
from .git import git, line

_IDENTITY = tuple(f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE"))
# Where a handler's objects are looked at: no settings of a machine, nothing fetched from anywhere but a folder.
_ALONE = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ALLOW_PROTOCOL": "file", "GIT_NO_LAZY_FETCH": "1",
}  # fmt: skip
_NO_REF = re.compile(r"[^A-Za-z0-9_.-]|^\.|\.$|\.\.|\.lock$|@\{")


@dataclass(frozen=True)
class Quarantine:
    """What a workspace's HEAD has and its base has not, where nothing of the workspace's settings holds."""

    folder: Path
    base: str
    head: str

    def history(self) -> bytes:
        """Messages and patches of all new commits; what git would call binary is shown like text."""
        shown = ("--no-ext-diff", "--no-textconv", "--text", "--no-color", "--format=%an %ae %cn %ce%n%B", "-p", "-m")
        return git(self.folder, "-c", "log.showRoot=true", "log", *shown, self.head, f"^{self.base}")


class Repository:
    """The bare copy of the repository at `location` (a path or URL)."""

    def __init__(self, folder: Path, location: str) -> None:
        """Keep the copy below `folder`; several processes may."""
        self.location = _plain(location)
        self._bare = folder / f"{sha256(self.location.encode())[:24]}.git"
        self._lock = FileLock(f"{self._bare}.lock")

    @property
    def folder(self) -> Path:
        """Where the copy lies: its clones borrow their objects from there."""
        return self._bare

    def fetch(self, revision: str) -> None:
        """Have this commit; raises WorkspaceError when the repository doesn't."""
        self._bare.parent.mkdir(parents=True, exist_ok=True)
        with self._lock:
            if not self._bare.is_dir():
                git(self._bare.parent, "init", "--quiet", "--bare", str(self._bare))
            if self._has(revision):
                return
            try:
                git(self._bare, "fetch", "--quiet", "--no-tags", self.location, revision)
            except WorkspaceError:  # a server that hands out no bare commits: take what it names
                git(self._bare, "fetch", "--quiet", "--no-tags", self.location, "+refs/*:refs/fetched/*")
            if not self._has(revision):
                raise WorkspaceError(f"the repository has no commit {revision}")

    def check_out(self, revision: str, folder: Path) -> None:
        """Make `folder` a clone of its own at this commit, detached, with no remote to push to."""
        git(self._bare, "clone", "--quiet", "--shared", "--no-checkout", str(self._bare), str(folder))
        git(folder, "remote", "remove", "origin")
        git(folder, "checkout", "--quiet", "--detach", revision)

    def quarantine(self, workspace: Path, base: str, folder: Path) -> Quarantine:
        """Fetch a workspace's HEAD into a repository of its own below `folder`, which borrows what this copy has.

        It comes by way of another one, of which no setting is the workspace's; fetching computes each hash anew.
        """
        head = head_of(workspace)
        left, found = self._borrower(folder / "left"), self._borrower(folder / "found")
        take_objects(workspace, left / "objects")
        git(found, "update-ref", "refs/base", base)  # so that no more than what is new is fetched
        git(found, "fetch", "--quiet", "--no-tags", str(left), head, variables=_ALONE)
        commit = line(found, "rev-parse", "--verify", f"{head}^{{commit}}")
        git(found, "update-ref", "refs/head", commit)
        return Quarantine(found, base, commit)

    def _borrower(self, folder: Path) -> Path:
        """A new bare repository that borrows what this copy has."""
        git(self._bare, "init", "--quiet", "--bare", "--template=", str(folder))
        (folder / "objects" / "info").mkdir(exist_ok=True)
        alternates = folder / "objects" / "info" / "alternates"
        alternates.write_text(f"{self._bare.absolute() / 'objects'}\n", encoding="utf-8")
        return folder

    def take(self, found: Quarantine) -> None:
        """Have what was made, now that it was looked at."""
        with self._lock:
            git(self._bare, "fetch", "--quiet", "--no-tags", str(found.folder), "refs/head")

    def diff(self, base: str, revision: str) -> bytes:
        """The patch between two commits."""
        return git(self._bare, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", base, revision)

    def commits(self, revision: str, known: Iterable[str]) -> list[str]:
        """The commits that `revision` has and no `known` one has, parents first; unheard-of ones don't count."""
        without = [f"^{each}" for each in known if self._has(each)]
        return line(self._bare, "rev-list", "--reverse", "--topo-order", revision, *without).split()

    def descends(self, revision: str, base: str) -> bool:
        """Whether `revision` stands on `base`."""
        try:
            git(self._bare, "merge-base", "--is-ancestor", base, revision)
        except WorkspaceError:
            return False
        return True

    def message(self, commit: str) -> bytes:
        """A commit's message."""
        return git(self._bare, "log", "-1", "--format=%B", commit)

    def has_trailer(self, commit: str, name: str) -> bool:
        """Whether a commit's message has this trailer, whatever its value."""
        return bool(line(self._bare, "log", "-1", f"--format=%(trailers:key={name},valueonly)", commit))

    def with_trailers(self, message: bytes, trailers: dict[str, str]) -> bytes:
        """The message with those trailers, each once."""
        words = [word for name, value in trailers.items() for word in ("--trailer", f"{name}: {value}")]
        return git(
            self._bare, "interpret-trailers", "--if-exists", "addIfDifferent", *words, stdin=message.rstrip() + b"\n"
        )

    def rewrite(self, commit: str, message: bytes, parents: list[str]) -> str:
        """The same commit with another message and other parents; authors and times stay."""
        shown = git(self._bare, "show", "-s", "--format=%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd", "--date=raw", commit)
        values = shown.decode(errors="surrogateescape").rstrip("\n").split("\0")
        words = [word for parent in parents for word in ("-p", parent)]
        tree = line(self._bare, "rev-parse", f"{commit}^{{tree}}")
        identity = dict(zip(_IDENTITY, values, strict=True))
        made = git(self._bare, "commit-tree", tree, *words, "-F", "-", stdin=message, variables=identity)
        return made.decode().strip()

    def parents(self, commit: str) -> list[str]:
        """A commit's parents, in order."""
        return line(self._bare, "rev-parse", f"{commit}^@").split()

    def push(self, revision: str, ref: str) -> None:
        """Make `ref` of the repository name this commit: the only thing that is ever pushed."""
        git(self._bare, "push", "--quiet", "--force", self.location, f"{revision}:{ref}")

    def _has(self, revision: str) -> bool:
        try:
            git(self._bare, "cat-file", "-e", f"{revision}^{{commit}}")
        except WorkspaceError:
            return False
        return True


def attempt_ref(workflow_id: str, attempt_id: str) -> str:
    """The ref that keeps an attempt's revision alive."""
    name = _NO_REF.sub(lambda found: "".join(f"%{ord(char):02X}" for char in found[0]), workflow_id)
    return f"refs/remit/{name}/{attempt_id}"


def _plain(location: str) -> str:
    path = location.removeprefix("file://")
    return str(Path(path).absolute()) if "://" not in path and ":" not in path else path
