"""What a command left in the `.git` of its workspace: HEAD and objects, read as files and never by git.

Git would obey the settings that the command put there: run programs, fetch from elsewhere, or take another repository
for this one. Only this role imports it.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from remit.errors import WorkspaceError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_MOST_TEXT = 16 << 20  # bytes of one file that names commits
_MOST_STEPS = 5  # from one name to the next, as git has it
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LOOSE_FOLDER = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}|[0-9a-f]{62}")
_PACKED = re.compile(r"pack-(?:[0-9a-f]{40}|[0-9a-f]{64})\.(?:pack|idx)")


def head_of(workspace: Path) -> str:
    """The hash that HEAD stands for, looked up through its branch; raises WorkspaceError where there is none."""
    with _git_folder(workspace) as folder:
        text = _text(folder, "HEAD")
        for _ in range(_MOST_STEPS):
            if text is None or not text.startswith("ref:"):
                break
            text = _named(folder, text.removeprefix("ref:").strip())
    if text is None or not _HASH.fullmatch(text.strip()):
        raise WorkspaceError("HEAD of the workspace names no commit")
    return text.strip()


def take_objects(workspace: Path, objects: Path) -> None:
    """Put each object and pack of the workspace into the folder `objects`, and nothing else that lies beside them.

    What its alternates name is left out as well. Raises WorkspaceError where a link or the like is in one's place.
    """
    with _git_folder(workspace, "objects") as folder:
        for name in os.listdir(folder):  # noqa: PTH208 - of an open folder
            wanted = _PACKED if name == "pack" else _LOOSE if _LOOSE_FOLDER.fullmatch(name) else None
            if wanted is not None:
                (objects / name).mkdir(exist_ok=True)
                with _folder(folder, name) as source:
                    _take(source, objects / name, wanted)


def _take(source: int, target: Path, wanted: re.Pattern[str]) -> None:
    for name in filter(wanted.fullmatch, os.listdir(source)):
        if not stat.S_ISREG(os.stat(name, dir_fd=source, follow_symlinks=False).st_mode):
            raise _no_plain_file()
        try:
            os.link(name, target / name, src_dir_fd=source, follow_symlinks=False)
        except OSError:  # a file system without hard links
            with os.fdopen(_open(name, _FILE, source), "rb") as original, (target / name).open("xb") as copy:
                shutil.copyfileobj(original, copy)


def _named(folder: int, ref: str) -> str | None:
    """What a ref says in its own file, else in the file of packed ones."""
    *way, name = ref.split("/")
    if not way or way[0] != "refs" or {"", ".", ".."} & {*way, name} or "\0" in ref:
        return None
    with suppress(FileNotFoundError), _folder(folder, *way) as place:
        if (text := _text(place, name)) is not None:
            return text
    lines = (each.partition(" ") for each in (_text(folder, "packed-refs") or "").split("\n"))
    return next((commit for commit, _, named in lines if named == ref), None)


@contextmanager
def _git_folder(workspace: Path, *names: str) -> Iterator[int]:
    try:
        with _folder(workspace, ".git", *names) as found:
            yield found
    except FileNotFoundError:
        raise WorkspaceError("the command left no whole .git in its workspace") from None


@contextmanager
def _folder(root: int | Path, *names: str) -> Iterator[int]:
    """A folder, opened name by name; raises WorkspaceError where one of them is a link or a file."""
    at = os.dup(root) if isinstance(root, int) else _open(str(root), _FOLDER)
    try:
        for name in names:
            above, at = at, _open(name, _FOLDER, at)
            os.close(above)
        yield at
    finally:
        os.close(at)


def _text(folder: int, name: str) -> str | None:
    """What stands in a file; None where there is none, or a folder of refs."""
    with suppress(FileNotFoundError):
        file = _open(name, _FILE, folder)
        try:
            mode = os.fstat(file).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise _no_plain_file()
            return os.fsdecode(os.read(file, _MOST_TEXT)) if stat.S_ISREG(mode) else None
        finally:
            os.close(file)
    return None


def _open(name: str, flags: int, folder: int | None = None) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError:
        raise _no_plain_file() from None


def _no_plain_file() -> WorkspaceError:
    return WorkspaceError(
        "the .git of the workspace is no plain folder of plain files: the runner takes no commit of it"
    )
