"""Why the broker can't start, in words: the folder's faults, before and after a try. Only `remit.broker` imports it."""

import errno
import os
import re
import shutil
from pathlib import Path

from remit.broker.config import NODE_ID
from remit.broker.jars import KAFKA_VERSION
from remit.broker.place import Place
from remit.broker.record import Record
from remit.errors import BrokerError

NEEDED_BYTES = 100 * 1024 * 1024
TAIL_LINES = 15
LAYOUT = "1"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SHUT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NEWER = (
    f"the data folder was written by a newer Kafka than this {KAFKA_VERSION}, which can't read it: "
    "start it with the version of Remit that wrote it, or set another REMIT_HOME"
)
_KNOWN = (
    (r"No space left on device|Disk quota exceeded", "the disk of the data folder is full: make room, then remit up"),
    (r"Permission denied|Read-only file system|AccessDenied", "the data folder can't be written: check its owner"),
    (r"Failed to acquire lock on file", "another broker uses the data folder; remit doctor names its process"),
    (r"MetadataParseException|Can't read version|No MetadataVersion with feature level", _NEWER),
    (r"[Ii]nvalid cluster\.id|InconsistentClusterId", "the data folder holds files of two clusters"),
    (r"Could not reserve enough space|insufficient memory|OutOfMemoryError", "the machine has too little free memory"),
    (r"Address already in use", "another process took the port while the broker started: try again"),
)
"""What the broker's log says, and what it means; the first that is found counts."""


def refuse_unfit(place: Place, record: Record | None) -> None:
    """Raise BrokerError for a folder that is full or shut, or whose data are not those that this home made."""
    _refuse_shut(place)
    free = shutil.disk_usage(place.home).free
    if free < NEEDED_BYTES:
        raise BrokerError(
            f"the disk of {place.home} is full: {free >> 20} MiB are free, the broker needs {NEEDED_BYTES >> 20} MiB. "
            "Make room, or set REMIT_HOME to a folder on another disk"
        )
    if place.data.exists() and any(place.data.iterdir()):
        _refuse_foreign(place, place.identity, record)


def translated(error: OSError, home: Path) -> BrokerError:
    """The BrokerError for what the operating system said of a file below `home`."""
    where = error.filename or home
    if error.errno in _FULL:
        return BrokerError(f"the disk of {home} is full: make room, or set REMIT_HOME to a folder on another disk")
    if error.errno in _SHUT:
        return _shut(Path(os.fsdecode(where)))
    return BrokerError(f"the broker's folder {home} can't be used: {error.strerror or type(error).__name__} ({where})")


def with_tail(what: str, log: Path) -> str:
    """`what`, the reason if the log names a known one, and the log's last lines."""
    text = log.read_text("utf-8", errors="replace") if log.exists() else ""
    known = reason(text)
    told = f"{what}: {known}" if known else what
    return "\n".join([f"{told}; the end of {log}:", *text.splitlines()[-TAIL_LINES:]])


def reason(log: str) -> str | None:
    """Why a broker with this log did not start, if it is one of the known reasons. Pure."""
    return next((meaning for pattern, meaning in _KNOWN if re.search(pattern, log)), None)


def _refuse_shut(place: Place) -> None:
    for folder in (place.home, place.data):
        if folder.exists() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise _shut(folder)


def _shut(path: Path) -> BrokerError:
    return BrokerError(f"{path} can't be written: give it to the user that runs Remit, or set another REMIT_HOME")


def _refuse_foreign(place: Place, identity: dict[str, str], record: Record | None) -> None:
    cluster = identity.get("cluster.id")
    if cluster is None:
        raise BrokerError(
            f"{place.data} holds files but no identity (meta.properties): an incomplete copy? "
            "Put the whole folder back, or move it away to begin an empty log"
        )
    if identity.get("version") != LAYOUT or identity.get("node.id") != str(NODE_ID):
        raise BrokerError(
            f"{place.data} is the data folder of another broker (layout {identity.get('version')}, "
            f"node {identity.get('node.id')}; expected layout {LAYOUT}, node {NODE_ID}): set another REMIT_HOME"
        )
    if record and record.cluster not in {None, cluster}:
        raise BrokerError(
            f"{place.data} is of cluster {cluster}, this home's log is of cluster {record.cluster}: put the folder "
            "back that belongs here. To go on with this one, remove broker.json, then run remit rebuild"
        )
    if record and record.kafka and _numbers(record.kafka) > _numbers(KAFKA_VERSION):
        raise BrokerError(f"{place.data}: written by Kafka {record.kafka}. {_NEWER}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
