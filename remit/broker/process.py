"""Starts and stops the embedded broker of a home folder. Only `remit.broker` imports it.

The process is detached: it outlives the command that started it, and every later command finds it by its record.
"""

import base64
import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from filelock import FileLock

from remit.broker import config
from remit.broker.answers import cluster_at
from remit.broker.jars import ensure_jars
from remit.broker.java import find_java
from remit.broker.record import (
    Broker,
    Record,
    process_of,
    properties_path,
    read_record,
    record_path,
    running,
    write_record,
)
from remit.errors import BrokerError

START_S = 90.0
STOP_S = 30.0
TAIL_LINES = 15


@dataclass(frozen=True, slots=True)
class Place:
    """The files of one home folder."""

    home: Path

    @property
    def data(self) -> Path:
        """Kafka's own data: all that must survive."""
        return self.home.absolute() / "kafka"

    @property
    def log(self) -> Path:
        """Where the broker prints."""
        return self.home.absolute() / "broker.log"

    @property
    def log4j(self) -> Path:
        """The logging configuration."""
        return properties_path(self.home).with_name("log4j2.properties")


def up(home: Path, *, port: int | None = None, progress: Callable[[str], None] = lambda _line: None) -> Broker:
    """Start the broker of `home` unless it runs, and return once it answers.

    Args:
        home: the folder that holds data, record and log; made if missing.
        port: the clients' port; by default the last one if it is free, else any free one.
        progress: takes one short line at a time.
    """
    _check_path(home)
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / "broker.lock"):
        return _running_at(home, port) or _start(Place(home), port, progress)


def down(home: Path) -> bool:
    """Stop the broker of `home`; False if none runs. BrokerError if another process wears its pid."""
    if not record_path(home).exists():
        return False
    with FileLock(home / "broker.lock"):
        record = read_record(home)
        if record is None or record.pid is None:
            return False
        process = process_of(home, record)
        write_record(home, replace(record, pid=None, created=0.0))
        if process is None:
            return _refuse_strangers(record.pid)
        return _stop(process)


def _refuse_strangers(pid: int) -> bool:
    if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        raise BrokerError(
            f"stale pid: the broker recorded as process {pid} is gone and another process has that number now; "
            "nothing was stopped, and the record is cleared"
        )
    return False


def _stop(process: psutil.Process) -> bool:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_S)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(STOP_S)
    return True


def _check_path(home: Path) -> None:
    if "," in str(home.absolute()):
        raise BrokerError("Kafka can't keep its data below a folder whose name holds a comma: choose another home")


def _running_at(home: Path, port: int | None) -> Broker | None:
    broker = running(home)
    if broker and port and not broker.bootstrap.endswith(f":{port}"):
        raise BrokerError(f"the broker already runs at {broker.bootstrap}: stop it before it moves to port {port}")
    if broker:
        _wait(Place(home), broker)
    return broker


def _start(place: Place, port: int | None, progress: Callable[[str], None]) -> Broker:
    java, jars = find_java(), ensure_jars(progress)
    record = _ports(read_record(place.home), port)
    _write_configuration(place, record)
    command = [str(java), *config.JVM_FLAGS, f"-Dlog4j2.configurationFile={place.log4j.as_uri()}"]
    command += ["-cp", config.class_path(jars)]
    progress("starting Apache Kafka")
    _format(place, command)
    pid = _launch([*command, "kafka.Kafka", str(properties_path(place.home))], place.log)
    write_record(place.home, replace(record, pid=pid, created=psutil.Process(pid).create_time()))
    broker = Broker(record.bootstrap, pid)
    _wait(place, broker)
    return broker


def _ports(last: Record | None, port: int | None) -> Record:
    if port is not None and not _is_free(port):
        raise BrokerError(f"port {port} of 127.0.0.1 is taken by another process: choose another, or none for any")
    kept = last.port if last and _is_free(last.port) else None
    chosen = port or kept or _free_port()
    controller = last.controller_port if last and _is_free(last.controller_port) else _free_port()
    while controller == chosen:
        controller = _free_port()
    return Record(chosen, controller)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # What the broker itself does: a port in TIME_WAIT is free, one that is listened on is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _write_configuration(place: Place, record: Record) -> None:
    properties = properties_path(place.home)
    properties.parent.mkdir(parents=True, exist_ok=True)
    properties.write_text(config.server_properties(place.data, record.port, record.controller_port), "ascii")
    place.log4j.write_text(config.LOG4J, "ascii")


def _format(place: Place, java: list[str]) -> None:
    if (place.data / "meta.properties").exists():
        return
    tool = ["kafka.tools.StorageTool", "format", "--ignore-formatted"]
    arguments = ["-t", _cluster_id(), "-c", str(properties_path(place.home))]
    ran = subprocess.run([*java, *tool, *arguments], capture_output=True, text=True, check=False)
    if ran.returncode:
        place.log.write_text(ran.stdout + ran.stderr, "utf-8")
        raise BrokerError(_with_tail("the broker's storage could not be formatted", place.log))


def _cluster_id() -> str:
    """22 characters of URL-safe base64; never a dash in front, which the tool would take for a flag."""
    return "R" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii")[1:22]


def _launch(command: list[str], log: Path) -> int:
    """Start detached, as leader of its own session: neither a closed terminal nor its Ctrl-C reaches it."""
    if log.exists():
        log.replace(log.with_suffix(".log.1"))
    to_log = (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    actions = [nothing, to_log, (os.POSIX_SPAWN_DUP2, 1, 2)]
    return os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)


def _wait(place: Place, broker: Broker) -> None:
    deadline = time.monotonic() + START_S
    while not _serves(place, broker):
        if running(place.home) is None:
            raise BrokerError(_with_tail("the broker ended while it started", place.log))
        if time.monotonic() > deadline:
            raise BrokerError(_with_tail(f"the broker did not answer within {START_S:.0f} s", place.log))


def _serves(place: Place, broker: Broker) -> bool:
    """Whether our cluster answers: another broker may have taken the port in the meantime."""
    found = cluster_at(broker.bootstrap, timeout=1.0)
    return f"cluster.id={found}" in (place.data / "meta.properties").read_text("utf-8").splitlines()


def _with_tail(what: str, log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").splitlines() if log.exists() else []
    return "\n".join([f"{what}; the end of {log}:", *lines[-TAIL_LINES:]])
