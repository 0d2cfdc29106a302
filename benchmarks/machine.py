"""What a figure depends on beside the code: processor, memory, versions, and how busy the machine was."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import psutil

from remit.broker.jars import KAFKA_VERSION

CPUINFO = Path("/proc/cpuinfo")
BUSY = 0.5
"""Load per core, before anything of ours runs, from which on absolute figures say little."""


def line() -> str:
    """One line about the machine."""
    memory = psutil.virtual_memory().total / 2**30
    versions = (
        f"Kafka {KAFKA_VERSION}, Python {platform.python_version()}, confluent-kafka {version('confluent-kafka')}"
    )
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; {versions}, fastavro {version('fastavro')}"


def load() -> float:
    """Processes that ran or wanted to, mean of the last minute."""
    return os.getloadavg()[0]


def is_busy(found: float) -> bool:
    """Whether others keep the cores from us."""
    return found > BUSY * (os.cpu_count() or 1)


def _processor() -> str:
    lines = CPUINFO.read_text("utf-8").splitlines() if CPUINFO.exists() else []
    named = next((each.partition(":")[2].strip() for each in lines if each.startswith("model name")), "")
    return named or platform.processor() or platform.machine()
