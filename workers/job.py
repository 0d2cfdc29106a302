"""One attempt as the runner sees it: the offer, its folders, and the bench of tools that all attempts share. Pure data.

Only this role imports it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from remit.artefacts import ArtefactStore
from remit.contract.handout import Handout
from remit.errors import WorkspaceError
from remit.events.base import InputVersion
from remit.events.service import Dispatch, Offer
from remit.redaction import Redactor
from remit.subjects import git_input

from .config import WorkerConfig
from .removal import remove
from .repository import Repository
from .sandbox import Sandbox


@dataclass(frozen=True)
class Ground:
    """The folders and files of one attempt."""

    root: Path

    @property
    def workspace(self) -> Path:
        """Where the command works: `$REMIT_WORKSPACE`."""
        return self.root / "workspace"

    @property
    def out(self) -> Path:
        """Where it may leave output files: `$REMIT_OUT`."""
        return self.root / "out"

    @property
    def inputs(self) -> Path:
        """Where inputs lie."""
        return self.root / "inputs"

    @property
    def home(self) -> Path:
        """Its home folder, beside the workspace, so that no cache gets into a commit."""
        return self.root / "home"

    @property
    def scratch(self) -> Path:
        """Its temporary folder."""
        return self.root / "tmp"

    @property
    def observed(self) -> Path:
        """Where the runner runs the checks' commands."""
        return self.root / "observed"

    @property
    def tools(self) -> Path:
        """Where tools work; no handler sees what lies there."""
        return self.root / "tools"

    @property
    def bin(self) -> Path:
        """The way to the tools: `remit-tool`, and the socket that it speaks to."""
        return self.root / "bin"

    @property
    def dispatch(self) -> Path:
        """`$REMIT_DISPATCH`."""
        return self.root / "dispatch.json"

    @property
    def result(self) -> Path:
        """`$REMIT_RESULT`."""
        return self.out / "result.json"

    @property
    def usage(self) -> Path:
        """`$REMIT_USAGE`."""
        return self.out / "usage.json"

    @property
    def checkpoint(self) -> Path:
        """`$REMIT_CHECKPOINT`."""
        return self.out / ".checkpoint"

    @property
    def resumed(self) -> Path:
        """What a lost attempt saved last."""
        return self.root / "resume_from"

    @property
    def correction(self) -> Path:
        """`$REMIT_CORRECTION`; there while a result is to be mended."""
        return self.root / "correction.json"

    def make(self) -> None:
        """Make the folders; the workspace comes with its content."""
        for folder in (self.out, self.inputs, self.home, self.scratch, self.observed, self.tools, self.bin):
            folder.mkdir(parents=True)

    def refuse_links(self) -> None:
        """Raise WorkspaceError where the command put a link in place of a folder that the runner reads and clears."""
        for folder in (self.workspace, self.out, self.observed):
            if folder.is_symlink():
                raise WorkspaceError(f"the command put a link in place of its folder {folder.name}")

    def make_ready_again(self) -> None:
        """Take away what the first submission said; what the command worked on stays."""
        for path in (self.result, self.usage, self.observed, self.correction):
            remove(path)
        self.observed.mkdir()


@dataclass(frozen=True)
class Bench:
    """What all attempts of a worker share."""

    config: WorkerConfig
    store: ArtefactStore
    redactor: Redactor
    secrets: Mapping[str, str]
    clock: Callable[[], datetime]  # aware UTC
    sandbox: Sandbox | None = None  # of all commands; None: they run with the worker's own rights

    def repository(self, location: str) -> Repository:
        """This worker's own copy of the repository at a location."""
        return Repository(self.config.home / "repositories", location)


@dataclass(frozen=True)
class Job:
    """One attempt."""

    dispatch: Dispatch
    offer: Offer
    handout: Handout
    ground: Ground
    until: float  # monotonic clock: the hard end

    @property
    def base(self) -> InputVersion | None:
        """The git input that the workspace is made of."""
        return git_input(self.offer.inputs)
