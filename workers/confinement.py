"""Finds out whether bubblewrap works here, and what of this machine a worker's commands need to see. Once, at start.

Only this role imports it.
"""

import logging
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import remit
from remit.errors import SettingsError

from .config import WorkerConfig
from .sandbox import ETC, Sandbox, View, system_of

log = logging.getLogger("remit.worker")
PROGRAM = "bwrap"
_PATIENCE_S = 30
_ROOTS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_WIDE = (
    "", "dev", "etc", "home", "media", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", "var",
    "var/lib", "var/tmp",
)  # fmt: skip
_TOO_WIDE = frozenset(f"/{name}" for name in _WIDE)


def confinement(config: WorkerConfig) -> Sandbox | None:
    """The sandbox for this worker's commands; None, said loudly, where it has none.

    Raises SettingsError where the configuration requires one and there is none.
    """
    if config.sandbox == "off":
        _warn("the configuration says sandbox: off")
        return None
    made = sandbox_for(config, shutil.which(PROGRAM) or "")
    fault = trouble(made)
    if fault is None:
        if config.network:
            log.warning(
                "the sandbox of worker %s is open to the whole network: hosts are not filtered", config.worker_id
            )
        return made
    if config.sandbox == "require":
        raise SettingsError(f"sandbox: require, but {fault}")
    _warn(fault)
    return None


def _warn(why: str) -> None:
    log.warning(
        "NO SANDBOX: %s. Handlers and checks run with all rights of this user: its files, other attempts, secrets, "
        "the network. With `sandbox: require` a worker refuses to start like this",
        why,
    )


def trouble(sandbox: Sandbox) -> str | None:
    """Why it doesn't work on this machine; None when it does: the interpreter was started in it."""
    if not sandbox.program:
        return f"there is no {PROGRAM} (bubblewrap) on this machine"
    argv = sandbox.wrapped([sys.executable, "-I", "-S", "-c", ""], View(folder=Path("/")))
    try:
        done = subprocess.run(argv, capture_output=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{PROGRAM} can't be run ({type(error).__name__})"
    if done.returncode == 0:
        return None
    told = done.stderr.decode(errors="replace").strip().splitlines()
    return f"{PROGRAM} does not work here: {told[0] if told else f'exit status {done.returncode}'}"


def sandbox_for(config: WorkerConfig, program: str) -> Sandbox:
    """The sandbox of a worker, whether it works or not."""
    roots = [(path, str(path.readlink()) if path.is_symlink() else None) for path in map(Path, _ROOTS) if path.exists()]
    own = [*_interpreter(), *_handler(config), *config.read_only]
    shown = [each.absolute() for each in own if not _is_system(each.absolute())]
    return Sandbox(
        program=program,
        system=system_of(roots),
        readable=tuple(dict.fromkeys(real for each in shown if not _is_system(real := each.resolve()))),
        links=tuple({each: each.resolve() for each in shown if each != each.resolve()}.items()),
        home=config.home,
        secrets=_names_of(config.secrets_from) if config.secrets_from is not None else (),
    )


def _interpreter() -> Iterator[Path]:
    """This interpreter, and the package that a handler in Python imports."""
    yield from (Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix))
    yield Path(remit.__file__).parent


def _handler(config: WorkerConfig) -> Iterator[Path]:
    """What the command line names: a folder as it is, a file with the folder that it really lies in.

    Nothing that would show half of the machine: of a file in such a folder the file alone.
    """
    found = shutil.which(config.argv[0])
    for word in ([found] if found else []) + list(config.argv[1:]):
        path = Path(word)
        if not path.is_absolute() or not _exists(path):
            continue
        if path.is_dir():
            yield from _narrow([path.resolve()], config)
        else:
            yield path
            yield from _narrow([path.parent.absolute(), path.resolve().parent], config)


def _narrow(folders: Sequence[Path], config: WorkerConfig) -> Iterator[Path]:
    for folder in folders:
        wide = str(folder) in _TOO_WIDE or Path.home().is_relative_to(folder) or folder == config.home
        if not wide:
            yield folder
        elif folder not in config.read_only:
            log.warning("the sandbox shows no %s: name it in read_only if the handler needs all of it", folder)


def _names_of(file: Path) -> tuple[Path, ...]:
    """The names by which the sandbox would show a file: the real one, and those below links in /etc that lead to it."""
    real = file.resolve()
    entries = [(entry, entry.resolve()) for entry in (Path("/etc", name) for name in ETC)]
    return (real, *(entry / real.relative_to(at) for entry, at in entries if entry != at and real.is_relative_to(at)))


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(root) for root in _ROOTS)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # any word of a command line
        return False
