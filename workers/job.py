"""One attempt as the runner sees it: the offer, its folders, and the bench of tools that all attempts share. Pure data.

Only this role imports it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from remit.artefacts import ArtefactStore
from remit.contract.handout import Handout
from remit.events.base import InputVersion
from remit.events.service import Dispatch, Offer
from remit.redaction import Redactor
from remit.subjects import git_input

from .config import WorkerConfig
from .repository import Repository


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

    def make(self) -> None:
        """Make the folders; the workspace comes with its content."""
        for folder in (self.out, self.inputs, self.home, self.scratch, self.observed):
            folder.mkdir(parents=True)


@dataclass(frozen=True)
class Bench:
    """What all attempts of a worker share."""

    config: WorkerConfig
    store: ArtefactStore
    redactor: Redactor
    secrets: Mapping[str, str]
    clock: Callable[[], datetime]  # aware UTC

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
