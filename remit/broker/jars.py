"""Kafka's jars: pinned, fetched once into a cache, verified before every start. Only `remit.broker` imports it.

`jars.sha256` is the whole class path in the form `sha256sum -c` reads: hash and path in a Maven repository. It is
pinned file by file, so nothing is resolved on a user's machine and a start needs no network once the cache is full.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from filelock import FileLock

from remit.errors import BrokerError

if TYPE_CHECKING:
    from jgo.maven import MavenContext

KAFKA_VERSION = "4.2.0"
MIRROR_VARIABLE = "REMIT_MAVEN_MIRROR"
CACHE_VARIABLE = "REMIT_BROKER_CACHE"
_AT_ONCE = 4

Progress = Callable[[str], None]
"""Takes one short line, such as a spinner or a terminal shows."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned file: `path` inside a Maven repository, and the SHA-256 that it must have."""

    path: PurePosixPath
    sha256: str

    @property
    def coordinates(self) -> tuple[str, str, str]:
        """Group, artefact and version, as the path spells them."""
        *group, artefact, version, _name = self.path.parts
        return ".".join(group), artefact, version


def pinned() -> tuple[Jar, ...]:
    """The class path, in its fixed order."""
    lines = files("remit.broker").joinpath("jars.sha256").read_text("ascii").splitlines()
    pairs = (line.split(maxsplit=1) for line in lines)
    return tuple(Jar(PurePosixPath(path), sha256) for sha256, path in pairs)


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the jars lie: REMIT_BROKER_CACHE, else a folder in the user's cache."""
    if chosen := environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser().absolute()
    users = environ.get("XDG_CACHE_HOME")
    return (Path(users) if users else Path.home() / ".cache") / "remit" / "jars"


def ensure_jars(progress: Progress, environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Paths of all jars, verified; what the cache lacks is fetched. BrokerError if that can't be."""
    folder, jars = cache_folder(environ), pinned()
    if any(not _sound(folder, jar) for jar in jars):
        _fill(folder, jars, environ.get(MIRROR_VARIABLE), progress)
    return tuple(folder / jar.path for jar in jars)


def _sound(folder: Path, jar: Jar) -> bool:
    path = folder / jar.path
    return path.is_file() and _sha256(path) == jar.sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _fill(folder: Path, jars: tuple[Jar, ...], mirror: str | None, progress: Progress) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".fetching.lock"), tempfile.TemporaryDirectory(dir=folder) as staging:
            missing = [jar for jar in jars if not _sound(folder, jar)]
            _fetch_all(missing, folder, _maven(Path(staging), mirror), progress)
    except OSError as error:
        raise BrokerError(f"the cache folder for Kafka's jars can't be used: {error}") from error


def _maven(staging: Path, mirror: str | None) -> "MavenContext":
    try:
        from jgo.maven import MavenContext  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise BrokerError(
            "Kafka's jars are not in the cache, and the package that fetches them is not installed: "
            "pip install 'remit[broker]'"
        ) from error
    repositories = {"central": mirror.rstrip("/")} if mirror else None
    return MavenContext(repo_cache=staging, remote_repos=repositories, timeout=60)


def _fetch_all(missing: list[Jar], folder: Path, maven: "MavenContext", progress: Progress) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        fetching = [pool.submit(_fetch, jar, folder, maven) for jar in missing]
        try:
            for done, future in enumerate(as_completed(fetching), start=1):
                future.result()
                progress(f"fetching Apache Kafka {KAFKA_VERSION}: {done} of {len(missing)} jars")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _fetch(jar: Jar, folder: Path, maven: "MavenContext") -> None:
    fetched = _download(jar, maven)
    if (found := _sha256(fetched)) != jar.sha256:
        raise BrokerError(f"{jar.path.name}: SHA-256 is {found}, pinned is {jar.sha256}; it was not used")
    target = folder / jar.path
    target.parent.mkdir(parents=True, exist_ok=True)
    fetched.replace(target)


def _download(jar: Jar, maven: "MavenContext") -> Path:
    from requests import RequestException  # noqa: PLC0415 - comes with the optional extra

    group, artefact, version = jar.coordinates
    try:
        found: Path = maven.project(group, artefact).at_version(version).artifact().resolve()
    except (RequestException, RuntimeError) as error:
        raise BrokerError(
            f"Kafka's jars are not all in the cache, and {jar.path.name} could not be fetched "
            f"({type(error).__name__}): is there a network? A mirror is named by {MIRROR_VARIABLE}, "
            f"a cache brought along by {CACHE_VARIABLE}"
        ) from error
    return found
