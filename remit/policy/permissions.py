"""Which grants and paths cover which. Pure; the policy room, the contract gate and routing import it."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

_WRITE = "read-write:"
_RANK = {"none": 0, "read-only": 1, "execute": 2, "read-write": 3}
_NO_BRANCH = re.compile(r"(^|/)[./-]|\.\.|//|[./]$|\.lock(/|$)|@\{|^$")


def is_grant(text: str) -> bool:
    """Whether it is a grant at all; whoever registers may write anything."""
    return text.startswith(_WRITE) or text in {"none", "read-only", "execute"}


def covers(allowed: Iterable[str], grant: str) -> bool:
    """Whether any of the `allowed` grants is at least as wide as `grant`: none < read-only < execute < read-write.

    The branch of an allowed read-write may be a glob.
    """
    return grant == "none" or any(_covers(one, grant) for one in allowed)


def _covers(allowed: str, grant: str) -> bool:
    if grant.startswith(_WRITE):
        return allowed.startswith(_WRITE) and fnmatchcase(grant.removeprefix(_WRITE), allowed.removeprefix(_WRITE))
    return _RANK[allowed.partition(":")[0]] >= _RANK[grant]


def is_branch(name: str) -> bool:
    """Whether git takes `name` for a branch (the characters themselves are bounded by the grant's pattern)."""
    return _NO_BRANCH.search(name) is None


def is_path_glob(glob: str) -> bool:
    """Whether `glob` stays inside the repository: relative, no `..`, no backslash, no control character."""
    parts = glob.split("/")
    return bool(glob) and glob.isprintable() and "\\" not in glob and not {"", ".", "..", ".git"} & set(parts)


def covers_path(allowed: Iterable[str], glob: str) -> bool:
    """Whether every path that `glob` matches is surely matched by one of `allowed`."""
    return any(one in ("**", glob) or (one.endswith("/**") and glob.startswith(one[:-2])) for one in allowed)
