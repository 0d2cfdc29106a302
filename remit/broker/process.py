"""Starts and stops the embedded broker of a home folder. Only `remit.broker` imports it.

The process is detached: it outlives the command that started it, and every later command finds it by its record.
"""

import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import psutil
from filelock import FileLock

from remit.broker import config, ports
from remit.broker.jars import ensure_jars
from remit.broker.java import find_java
from remit.broker.launch import launched, wait
from remit.broker.place import Place
from remit.broker.record import Broker, process_of, read_record, record_path, running, write_record
from remit.broker.trouble import refuse_unfit, translated
from remit.broker.warm import begin_training, warm_file, warm_flags
from remit.errors import BrokerError

STOP_S = 30.0


def up(
    home: Path,
    *,
    port: int | None = None,
    progress: Callable[[str], None] = lambda _line: None,
    flags: Sequence[str] | None = None,
) -> Broker:
    """Start the broker of `home` unless it runs, and return once it answers.

    Args:
        home: the folder that holds data, record and log; made if missing.
        port: the clients' port; by default the last one if it is free, else any free one.
        progress: takes one short line at a time.
        flags: for the JVM, in place of those that start it from its cache or begin the making of one.
    """
    _check_path(home)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / "broker.lock"):
            return _running_at(home, port) or _start(Place(home), port, progress, flags)
    except OSError as error:
        raise translated(error, home) from error


def down(home: Path, *, within: float = STOP_S) -> bool:
    """Stop the broker of `home`; False if none runs. BrokerError if another process wears its pid.

    A broker that has not ended `within` seconds is killed.
    """
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
        return _stop(process, within)


def _refuse_strangers(pid: int) -> bool:
    if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        raise BrokerError(
            f"stale pid: the broker recorded as process {pid} is gone and another process has that number now; "
            "nothing was stopped, and the record is cleared"
        )
    return False


def _stop(process: psutil.Process, within: float) -> bool:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(within)
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
        wait(Place(home), broker)
    return broker


def _start(place: Place, port: int | None, progress: Callable[[str], None], flags: Sequence[str] | None) -> Broker:
    last = read_record(place.home)
    refuse_unfit(place, last)
    java, class_path = find_java(), config.class_path(ensure_jars(progress))
    record = ports.chosen(last, port)
    warm = warm_file(java, class_path)
    given = warm_flags(warm) if flags is None else flags
    progress("starting Apache Kafka")
    broker = launched(place, [str(java), *config.JVM_FLAGS, *given, "-cp", class_path], record)
    if flags is None:
        begin_training(warm)
    return broker
