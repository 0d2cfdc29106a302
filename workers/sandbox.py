"""A command's view of this machine under bubblewrap: what it may see, write and reach. Pure; only this role imports it.

Whether it works here is found out by `confinement`. Everything that is not named is not there: the user's home, other
attempts, the worker's own files, the network.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ETC = (
    "alternatives", "ca-certificates", "group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime",
    "mime.types", "nsswitch.conf", "passwd", "pki", "protocols", "resolv.conf", "services", "ssl", "timezone",
)  # fmt: skip
_APART = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
# The runner ends what it starts; should it and the guardian both be killed, the kernel ends the rest.
_ENDS = ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
_DEVICES = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108 - the sandbox's own
_NOWHERE = Path("/dev/null")


@dataclass(frozen=True)
class View:
    """What one command may see, beyond the system; a later field holds over an earlier one."""

    folder: Path  # where it starts
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    guarded: tuple[Path, ...] = ()  # in what is writable, but only to be read
    hidden: tuple[Path, ...] = ()  # folders in what is writable, that it sees empty
    network: bool = False


@dataclass(frozen=True)
class Sandbox:
    """What is the same for all commands of a worker."""

    program: str  # bwrap
    system: tuple[str, ...]  # arguments that show the system
    readable: tuple[Path, ...]  # the interpreter, the handler's own files, what the configuration names; resolved
    links: tuple[tuple[Path, Path], ...]  # other names of these, and what they stand for
    home: Path  # of the worker: shown empty but for what a view names
    secrets: tuple[Path, ...] = ()  # files that are shown empty, by each name that they have in it

    def wrapped(self, argv: Sequence[str], view: View) -> list[str]:
        """The command line that runs `argv` in that view."""
        inside = [each for each in (*self.readable, *view.readable) if each.is_relative_to(self.home)]
        outside = [each for each in (*self.readable, *view.readable) if each not in inside]
        words = [self.program, *_APART, *_ENDS, *self.system, *_DEVICES]
        words += [] if view.network else ["--unshare-net"]
        words += _bound("--ro-bind-try", _outermost(outside))
        words += self._linked(outside)
        words += ["--tmpfs", str(self.home)]
        words += _bound("--ro-bind-try", _outermost(inside))
        words += _bound("--bind", view.writable)
        words += _bound("--ro-bind", view.guarded)
        words += [word for each in view.hidden for word in ("--tmpfs", str(each), "--remount-ro", str(each))]
        words += self._masks((*_shown_by(self.system), *outside, *inside, *view.writable))
        words += ["--remount-ro", str(self.home), "--remount-ro", "/", "--chdir", str(view.folder)]
        return [*words, "--", *argv]

    def _linked(self, visible: Sequence[Path]) -> Iterator[str]:
        """Links, where what is visible has not the very link already."""
        kept = [name for name, _ in self.links if not any(name.is_relative_to(each) for each in visible)]
        for name, target in self.links:
            if name in _outermost(kept):
                yield from ("--symlink", str(target), str(name))

    def _masks(self, visible: Sequence[Path]) -> list[str]:
        """Nothing in place of each file of secrets that would be seen."""
        shown = [file for file in self.secrets if any(file.is_relative_to(each) for each in visible)]
        return [word for file in shown for word in ("--ro-bind", str(_NOWHERE), str(file))]


def system_of(roots: Iterable[tuple[Path, str | None]]) -> tuple[str, ...]:
    """Arguments that show the system: each root as the folder it is, or as a link to what it names; little of /etc."""
    words: list[str] = []
    for root, link in roots:
        words += ("--ro-bind", str(root), str(root)) if link is None else ("--symlink", link, str(root))
    for name in ETC:
        words += ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    return tuple(words)


def _shown_by(system: Sequence[str]) -> Iterator[Path]:
    """What those arguments bind, by its name in the sandbox."""
    return (Path(name) for how, name in zip(system, system[2:], strict=False) if how.startswith("--ro-bind"))


def _bound(how: str, paths: Iterable[Path]) -> Iterator[str]:
    for each in paths:
        yield from (how, str(each), str(each))


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Without those that lie in another one, which shows them already; the outer ones first."""
    found: list[Path] = []
    for each in sorted(set(paths), key=lambda path: (len(path.parts), path)):
        if not any(each.is_relative_to(outer) for outer in found):
            found.append(each)
    return found
