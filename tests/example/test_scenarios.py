"""Each defect of the example, played through: what the coding worker commits, and what the suite says of it."""

import json
import sys
from subprocess import run

import pytest

from tests.example.example_bench import EXAMPLE, Bench, git, run_suite

pytestmark = pytest.mark.xdist_group("example")  # the suite is run once for each tree

EXPIRED = ["tests.test_reset_expired.Expired::test_no_expired_token_accepted"]
REUSED = [
    "tests.test_reset_concurrent.Concurrent::test_concurrent_redemption_succeeds_once",
    "tests.test_reset_replay.Replay::test_no_older_token_accepted_after_a_reset",
    "tests.test_reset_replay.Replay::test_no_replayed_request_accepted",
    "tests.test_reset_reused.Reused::test_no_reused_token_accepted",
]


def test_the_base_serves_authentication_and_no_reset(bench: Bench) -> None:
    """The base commit passes the authentication API and has no password reset."""
    suite = bench.suite(bench.base)
    assert all(outcome == "passed" for name, outcome in suite.cases.items() if "test_auth_api" in name)
    assert sum("test_auth_api" in name for name in suite.cases) > 5
    shown = {name for name in suite.cases if "test_reset_" in name and suite.cases[name] == "failure"}
    assert {*EXPIRED, *REUSED} <= shown


@pytest.mark.parametrize(("defect", "failing"), [("expired", EXPIRED), ("reused", REUSED)])
def test_the_first_commit_fails_just_its_defect_and_the_second_passes(
    bench: Bench, defect: str, failing: list[str]
) -> None:
    """The planted defect is all that fails; its evidence leads to a second commit that passes everything."""
    first = bench.code(bench.base, defect, [])
    assert bench.suite(first).failed == failing
    second = bench.code(first, defect, failing)
    assert git(bench.repository, "rev-parse", f"{second}^") == first
    assert bench.suite(second).failed == []


def test_without_a_defect_the_first_commit_passes(bench: Bench) -> None:
    """DEFECT=none needs no rework."""
    assert bench.suite(bench.code(bench.base, "none", [])).failed == []


def test_a_stubborn_worker_never_mends_it(bench: Bench) -> None:
    """Every answer is a new commit with a change in it, and each still accepts an expired token."""
    revision = bench.code(bench.base, "stubborn", [])
    for _ in range(2):
        answer = bench.code(revision, "stubborn", EXPIRED)
        assert git(bench.repository, "diff", "--name-only", revision, answer) == "accounts/reset.py"
        revision = answer
        assert bench.suite(revision).failed == EXPIRED


def test_a_worker_that_starts_again_from_the_base_still_mends_it(bench: Bench) -> None:
    """Where rework starts at the base commit, the evidence leads to the same tree."""
    again = bench.code(bench.base, "expired", EXPIRED)
    assert bench.suite(again).failed == []


def test_the_failing_case_can_be_run_alone(bench: Bench) -> None:
    """The report names file and case, so that the targeted retest runs just the case that failed."""
    passing = bench.checkout(bench.code(bench.base, "none", []))
    assert 'file="tests/test_reset_expired.py"' in bench.suite(bench.base).report
    node = "tests/test_reset_expired.py::Expired::test_no_expired_token_accepted"
    assert run_suite(passing, bench.folder / "retest.xml", node).cases == {EXPIRED[0]: "passed"}


def test_the_final_revision_passes_the_scanner(bench: Bench) -> None:
    """Bandit finds nothing in the code that is accepted."""
    folder = bench.checkout(bench.code(bench.base, "none", []))
    report = bench.folder / "bandit.json"
    argv = [sys.executable, "-m", "bandit", "-q", "-r", "accounts", "-f", "json", "-o", str(report)]
    assert run(argv, cwd=folder, check=False, capture_output=True).returncode == 0
    assert json.loads(report.read_text())["results"] == []


def test_no_commit_touches_anything_but_the_application(bench: Bench) -> None:
    """Every prepared change stays inside coding's paths, and the acceptance tests stand as they are."""
    for defect in ("none", "expired", "reused", "stubborn"):
        first = bench.code(bench.base, defect, [])
        names = git(bench.repository, "diff", "--name-only", bench.base, first).splitlines()
        assert names
        assert all(name.startswith("accounts/") for name in names)


def test_the_prepared_commits_are_small() -> None:
    """All patches together stay under 300 lines, and name no file outside the application."""
    lines = [line for patch in (EXAMPLE / "patches").glob("*.patch") for line in patch.read_text().splitlines()]
    assert 0 < len(lines) < 300
    heads = [line for line in lines if line.startswith("diff --git")]
    assert all(" a/accounts/" in head and " b/accounts/" in head for head in heads)
