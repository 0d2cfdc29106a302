"""Facts about commits, by git itself. Every answer is a verdict with what was found."""

import shutil
import subprocess

from remit.events.inputs import Verdict

Fact = tuple[Verdict, tuple[str, ...]]
TIMEOUT_S = 30
GIT = shutil.which("git") or "git"
NOT_ANCESTOR = 1
SHOWN_PATHS = 20


def commit_exists(location: str, expected: tuple[str, ...]) -> Fact:
    """Whether the commit `expected[0]` is in the repository."""
    return _fact(location, ["cat-file", "-e", f"{expected[0]}^{{commit}}"])


def descends(location: str, expected: tuple[str, ...]) -> Fact:
    """Whether `expected[0]` descends from (or is) `expected[1]`."""
    revision, base = expected[:2]
    done = _git(location, ["merge-base", "--is-ancestor", base, revision])
    if done is not None and done.returncode == NOT_ANCESTOR:
        return Verdict.MISMATCH, (f"{revision[:12]} does not descend from {base[:12]}",)
    return _verdict(done, location)


def touches_only(location: str, expected: tuple[str, ...]) -> Fact:
    """Whether the changes from `expected[1]` to `expected[0]` lie within the globs that follow; none = anywhere."""
    revision, base, *globs = expected
    if not globs:
        return Verdict.MATCH, ()
    outside = [".", *(f":(top,exclude,glob){glob}" for glob in globs)]
    done = _git(location, ["diff", "--name-only", "--no-renames", base, revision, "--", *outside])
    if done is None or done.returncode != 0:
        return _verdict(done, location)
    paths = tuple(done.stdout.decode(errors="replace").splitlines())
    return (Verdict.MISMATCH, paths[:SHOWN_PATHS]) if paths else (Verdict.MATCH, ())


def _fact(location: str, argv: list[str]) -> Fact:
    return _verdict(_git(location, argv), location)


def _verdict(done: subprocess.CompletedProcess[bytes] | None, location: str) -> Fact:
    if done is None:
        return Verdict.TIMED_OUT, ()
    if done.returncode == 0:
        return Verdict.MATCH, ()
    reachable = _git(location, ["rev-parse", "--git-dir"])
    if reachable is None or reachable.returncode != 0:
        return Verdict.UNREACHABLE, ("no repository answers there",)
    return Verdict.MISSING, ()


def _git(location: str, argv: list[str]) -> subprocess.CompletedProcess[bytes] | None:
    path = location.removeprefix("file://")
    try:
        return subprocess.run(
            [GIT, "-C", path, *argv], capture_output=True, timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError:
        return subprocess.CompletedProcess(argv, returncode=127, stdout=b"", stderr=b"")
