"""Runs Kafka's programs: formats a data folder, starts the broker, waits for it. Only `remit.broker` imports it."""

import base64
import os
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from remit.broker import config
from remit.broker.answers import cluster_at
from remit.broker.jars import KAFKA_VERSION
from remit.broker.place import Place
from remit.broker.record import Broker, Record, properties_path, running, write_record
from remit.broker.trouble import with_tail
from remit.errors import BrokerError

START_S = 90.0


def launched(place: Place, java: Sequence[str], record: Record) -> Broker:
    """Format the data folder if it is new, start the broker under `java` and its flags, return once it serves."""
    _write_configuration(place, record)
    command = [*java, f"-Dlog4j2.configurationFile={place.log4j.as_uri()}"]
    _format(place, command)
    pid = spawned([*command, "kafka.Kafka", str(properties_path(place.home))], place.log)
    created = psutil.Process(pid).create_time()
    cluster = place.identity.get("cluster.id")
    write_record(place.home, replace(record, pid=pid, created=created, cluster=cluster, kafka=KAFKA_VERSION))
    broker = Broker(record.bootstrap, pid)
    wait(place, broker)
    return broker


def wait(place: Place, broker: Broker) -> None:
    """Return once the broker serves; BrokerError if it ends, or does not within START_S."""
    deadline = time.monotonic() + START_S
    while not _serves(place, broker):
        if running(place.home) is None:
            raise BrokerError(with_tail("the broker ended while it started", place.log))
        if time.monotonic() > deadline:
            raise BrokerError(with_tail(f"the broker did not answer within {START_S:.0f} s", place.log))


def spawned(command: Sequence[str], log: Path) -> int:
    """Start detached, as leader of its own session: neither a closed terminal nor its Ctrl-C reaches it."""
    if log.exists():
        log.replace(log.with_suffix(".log.1"))
    to_log = (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    actions = [nothing, to_log, (os.POSIX_SPAWN_DUP2, 1, 2)]
    return os.posix_spawn(command[0], list(command), os.environ, file_actions=actions, setsid=True)


def _write_configuration(place: Place, record: Record) -> None:
    properties = properties_path(place.home)
    properties.parent.mkdir(parents=True, exist_ok=True)
    properties.write_text(config.server_properties(place.data, record.port, record.controller_port), "ascii")
    place.log4j.write_text(config.LOG4J, "ascii")


def _format(place: Place, java: list[str]) -> None:
    if place.identity:
        return
    tool = ["kafka.tools.StorageTool", "format", "--ignore-formatted"]
    arguments = ["-t", _cluster_id(), "-c", str(properties_path(place.home))]
    ran = subprocess.run([*java, *tool, *arguments], capture_output=True, text=True, check=False)
    if ran.returncode:
        place.log.write_text(ran.stdout + ran.stderr, "utf-8")
        raise BrokerError(with_tail("the broker's storage could not be formatted", place.log))


def _cluster_id() -> str:
    """22 characters of URL-safe base64; never a dash in front, which the tool would take for a flag."""
    return "R" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii")[1:22]


def _serves(place: Place, broker: Broker) -> bool:
    """Whether our cluster answers: another broker may have taken the port in the meantime."""
    return cluster_at(broker.bootstrap, timeout=1.0) == place.identity["cluster.id"]
