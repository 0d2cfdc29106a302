"""Gathers facts from this machine. Only `remit.doctor` imports it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from remit.artefacts import ArtefactStore
from remit.broker.processes import embedded_processes, stale_pid
from remit.doctor.facts import Disk, Processes, Store
from remit.errors import ArtefactError, RefusedError
from remit.log.protocols import Partition
from remit.reading import open_copy, view_files
from remit.settings import Settings

NEWEST_ARTEFACT = """SELECT output_reference FROM evidence
    WHERE output_reference LIKE 'artefact://%' ORDER BY ended_at DESC NULLS LAST LIMIT 1"""


def processes(home: Path) -> Processes:
    """Embedded brokers of ours without a record, and a record of `home` without a process."""
    return Processes(home, embedded_processes(), stale_pid(home))


def disks(settings: Settings) -> list[Disk]:
    """The disks under the home folder and the artefact store, each once."""
    found: dict[int, Disk] = {}
    for folder, setting in _folders(settings):
        usage = shutil.disk_usage(folder)
        found.setdefault(folder.stat().st_dev, Disk(folder, usage.total, usage.free, setting))
    return list(found.values())


def store(settings: Settings) -> Store:
    """Whether the artefact store can be read, and gives the newest artefact that the views name."""
    try:
        kept = ArtefactStore(settings.artefact_url)
        kept.refuse_unreadable()
        for reference in _newest(settings):
            kept.get(reference)
    except ArtefactError as error:
        return Store(_without_login(settings.artefact_url), str(error))
    return Store(_without_login(settings.artefact_url), None)


def positions(settings: Settings) -> dict[Partition, int]:
    """How far the published copy is; RefusedError while there is none."""
    with open_copy(view_files(settings.home).published) as copy:
        return dict(copy.freshness().positions)


def _newest(settings: Settings) -> list[str]:
    with suppress(RefusedError), open_copy(view_files(settings.home).published) as copy:
        return [reference for (reference,) in copy.query(NEWEST_ARTEFACT).rows]
    return []


def _folders(settings: Settings) -> Iterator[tuple[Path, str]]:
    yield _existing(settings.home.absolute()), "REMIT_HOME"
    address = urlsplit(settings.artefact_url)
    if address.scheme in {"file", ""}:
        yield _existing(Path(address.path).absolute()), "REMIT_ARTEFACTS"


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if os.path.exists(each))  # noqa: PTH110 - of any length


def _without_login(url: str) -> str:
    address = urlsplit(url)
    return address._replace(netloc=address.netloc.rpartition("@")[2], query="").geturl()
