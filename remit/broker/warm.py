"""The broker's warm start: a cache of loaded and linked classes, kept beside the jars. Only `remit.broker` imports it.

A Java of 25 or newer starts Kafka in about a third of the time from such a cache (JEP 514). It fits one Java build,
one list of jars and one set of flags; all three are in its name, so another one never meets it. `training` makes it.
"""

import contextlib
import hashlib
import sys
import time
from pathlib import Path

from remit.broker import config
from remit.broker.jars import cache_folder
from remit.broker.java import java_version
from remit.broker.launch import spawned

FIRST_JAVA = 25
AGAIN_AFTER_S = 24 * 60 * 60.0
CHECKED = "-XX:+VerifySharedSpaces"
"""A file that was damaged is passed over, not loaded."""


def warm_folder() -> Path:
    """Where the caches and the traces of their making lie."""
    return cache_folder() / "warm"


def warm_file(java: Path, class_path: str) -> Path | None:
    """The cache for this Java and these jars, made or not; None where this Java knows no such thing."""
    build = _build(java)
    if java_version(build) < FIRST_JAVA:
        return None
    marks = "\0".join([build, class_path, *config.JVM_FLAGS])
    return warm_folder() / f"kafka-{hashlib.sha256(marks.encode()).hexdigest()[:16]}.aot"


def warm_flags(file: Path | None) -> list[str]:
    """Flags that start from the cache, none while there is none."""
    return [f"-XX:AOTCache={file}", CHECKED] if file and file.is_file() else []


def training_flags(file: Path) -> list[str]:
    """Flags under which a JVM writes the cache to `file` when it ends."""
    return [f"-XX:AOTCacheOutput={file}"]


def tried_file(file: Path) -> Path:
    """Its age says when the last try to make the cache began."""
    return file.with_suffix(".tried")


def is_due(file: Path) -> bool:
    """Whether to make it now: it is not there, and no try was made within a day."""
    tried = tried_file(file)
    return not file.exists() and not (tried.exists() and time.time() - tried.stat().st_mtime < AGAIN_AFTER_S)


def begin_training(file: Path | None) -> None:
    """Start the making of the cache as a detached process, if it is due; nothing waits for it, nothing fails by it."""
    with contextlib.suppress(OSError):
        if file is None or not is_due(file):
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        tried_file(file).touch()
        spawned([sys.executable, "-m", "remit.broker.training"], file.parent / "training.log")


def _build(java: Path) -> str:
    """What the runtime's `release` file says of it; it reads like a banner, and costs no start of Java."""
    release = java.resolve().parents[1] / "release"
    text = release.read_text("utf-8", errors="replace") if release.is_file() else ""
    return text.replace("JAVA_VERSION=", "version ", 1)
