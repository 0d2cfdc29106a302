"""Which broker runs in a home folder: `broker.json`, and whether its process still is ours.

Only `remit.broker` imports it.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import psutil

from remit.errors import BrokerError
from remit.typed_json import read_json

LATER_S = 1.0
Port = Annotated[int, msgspec.Meta(ge=1, le=65_535)]
Pid = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that answers: where clients connect, and its process."""

    bootstrap: str
    pid: int


@dataclass(frozen=True, slots=True)
class Record:
    """Content of `broker.json`; `pid` is None while no broker was left running.

    `created` is the process's start in seconds since the epoch; the ports are kept for the next start. `cluster` and
    `kafka` are the id of the log and the version that last started it.
    """

    port: Port
    controller_port: Port
    pid: Pid | None = None
    created: float = 0.0
    cluster: str | None = None
    kafka: str | None = None

    @property
    def bootstrap(self) -> str:
        """What a client is given as bootstrap.servers."""
        return f"127.0.0.1:{self.port}"


def record_path(home: Path) -> Path:
    """Where the record of a home folder lies."""
    return home / "broker.json"


def properties_path(home: Path) -> Path:
    """The configuration file; its absolute path in a command line is what marks our process."""
    return home.absolute() / "broker" / "server.properties"


def read_record(home: Path) -> Record | None:
    """The record, or None; BrokerError if the file is not one."""
    try:
        return read_json(record_path(home).read_bytes(), Record)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise BrokerError(f"{record_path(home)} is no record of a broker; remove it if no broker runs") from error
    except OSError as error:
        raise BrokerError(f"{record_path(home)} can't be read ({type(error).__name__})") from error


def write_record(home: Path, record: Record) -> None:
    """Replace the record in one step."""
    new = record_path(home).with_suffix(".new")
    new.write_text(json.dumps(asdict(record) | {"bootstrap": record.bootstrap}, indent=2) + "\n", "utf-8")
    new.replace(record_path(home))


def running(home: Path) -> Broker | None:
    """The broker of this home folder, if its process lives; it may still be starting."""
    record = read_record(home)
    process = process_of(home, record) if record else None
    return Broker(record.bootstrap, process.pid) if record and process else None


def process_of(home: Path, record: Record) -> psutil.Process | None:
    """The recorded process, or None if it is gone or another process wears its pid now."""
    if record.pid is None:
        return None
    try:
        process = psutil.Process(record.pid)
        lives = process.status() != psutil.STATUS_ZOMBIE and _is_ours(process, home, record)
    except psutil.Error:
        return None
    return process if lives else None


def _is_ours(process: psutil.Process, home: Path, record: Record) -> bool:
    # Either mark will do: a clock that was set moves the start time, a container may hide the command line.
    started = abs(process.create_time() - record.created) < LATER_S
    return started or os.fspath(properties_path(home)) in process.cmdline()
