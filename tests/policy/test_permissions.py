"""Grants and paths: which covers which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.policy.permissions import covers, covers_path, is_branch, is_path_glob

ORDER = ["none", "read-only", "execute", "read-write:feature/x"]


@given(st.sampled_from(ORDER), st.sampled_from(ORDER))
def test_grants_are_ordered(wide: str, narrow: str) -> None:
    """A grant covers itself and whatever is narrower, and nothing wider."""
    assert covers([wide], narrow) == (ORDER.index(wide) >= ORDER.index(narrow))


@pytest.mark.parametrize(
    ("allowed", "grant", "expected"),
    [
        (["read-write:feature/*"], "read-write:feature/password-reset", True),
        (["read-write:feature/*"], "read-write:main", False),
        (["read-write:feature/a"], "read-write:feature/b", False),
        ([], "none", True),
        ([], "read-only", False),
        (["execute", "read-only"], "read-only", True),
    ],
)
def test_a_branch_is_part_of_the_grant(allowed: list[str], grant: str, expected: bool) -> None:
    """A write is covered only on a branch that the allowed one names."""
    assert covers(allowed, grant) is expected


@pytest.mark.parametrize("name", ["a", "feature/x", "a.b", "a-b_c"])
def test_branches(name: str) -> None:
    """Plain names are branches."""
    assert is_branch(name)


@pytest.mark.parametrize(
    "name", ["", "-x", "a/-x", "a..b", "a//b", "/a", "a/", "a.", ".a", "a/.b", "a.lock", "a.lock/b", "a@{1}"]
)
def test_no_branches(name: str) -> None:
    """What git refuses, or reads as an option or a range, is none."""
    assert not is_branch(name)


@pytest.mark.parametrize("glob", ["", "/a", "../a", "a/../b", "./a", "a//b", "a\\b", "a\nb", ".git/hooks", "a/"])
def test_no_path_globs(glob: str) -> None:
    """A glob never leaves the repository nor touches git's own files."""
    assert not is_path_glob(glob)
    assert is_path_glob("accounts/**")


def test_path_globs_cover() -> None:
    """A folder's glob covers what lies below it."""
    assert covers_path(["accounts/**"], "accounts/reset/*.py")
    assert covers_path(["**"], "anything")
    assert not covers_path(["accounts/**"], "accountsx/a")
    assert not covers_path(["accounts/**"], "**")
