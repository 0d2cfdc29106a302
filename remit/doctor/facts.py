"""What the probes saw: facts without a judgement, and nothing but data. Pure; only `remit.doctor` imports it.

Partitions carry full topic names, prefix included, as an operator's other tools show them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from remit.log.protocols import Partition


@dataclass(frozen=True, slots=True)
class Layout:
    """How a topic lies on the brokers: the fewest replicas of a partition, and min.insync.replicas."""

    topic: str
    replicas: int
    min_in_sync: int


@dataclass(frozen=True, slots=True)
class OpenEnd:
    """A partition whose last stable offset stands behind its end; `since` is when what it hides began."""

    partition: Partition
    stable_end: int
    end: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Unread:
    """A partition that a reader has not read to its end; `oldest` is when its first unread record was appended."""

    partition: Partition
    position: int
    end: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a reader is: `supervisors` or `views`. `members` run now; None where nobody knows."""

    reader: str
    members: int | None
    unread: tuple[Unread, ...]


@dataclass(frozen=True, slots=True)
class Disk:
    """The disk under a folder, in bytes; `setting` moves the folder elsewhere."""

    folder: Path
    total: int
    free: int
    setting: str


@dataclass(frozen=True, slots=True)
class Processes:
    """The embedded brokers that run under our user, and what this home's record says.

    `orphans` are (pid, home) of those that no record knows; `stale` is a recorded pid without a process.
    """

    home: Path
    orphans: tuple[tuple[int, Path], ...]
    stale: int | None


@dataclass(frozen=True, slots=True)
class Store:
    """The artefact store at `url` (a login left out); `fault` is why it, or the newest artefact, can't be read."""

    url: str
    fault: str | None


@dataclass(frozen=True, slots=True)
class Brokers:
    """The cluster's brokers by id: the highest metadata level of each, and by how much its clock is ahead."""

    levels: Mapping[int, int | None]
    ahead: Mapping[int, timedelta]


@dataclass(frozen=True, slots=True)
class StandsStill:
    """An open workflow that nothing moves, or one of its tasks, and why."""

    tenant_id: str
    workflow_id: str
    task_id: str | None
    why: str
