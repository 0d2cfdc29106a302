"""Which command lines are run, and what reports say: pure decisions."""

import json
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from remit.contract.normal import Command, EvidenceKind, ReportFormat
from remit.events.base import Evidence, EvidenceForm, EvidenceType, ObservedBy
from tests.workers.rig import SUITE, check, handout
from workers.plan import fill, node_id, plan
from workers.reports import read_report
from workers.repository import attempt_ref

BANDIT = Command(argv=("bandit", "-o", "{report}"), report=ReportFormat.BANDIT)


def failing(command: str, *cases: str) -> Evidence:
    return Evidence(
        kind=EvidenceType.TEST_RUN, observed_by=ObservedBy.RUNNER, worker_id="w", task_id="t", attempt_id=UUID(int=1),
        command=command, failed_cases=cases,
    )  # fmt: skip


def test_each_command_is_run_once_for_all_its_checks() -> None:
    """Checks that name one command share its run; kinds are kept apart."""
    given = handout(
        {},
        (check("a", EvidenceKind.TEST_RUN, "suite"), check("b", EvidenceKind.TEST_RUN, "suite"),
         check("c", EvidenceKind.COMMAND, "suite"), check("d", EvidenceKind.SCAN, "bandit"),
         check("e", EvidenceKind.REVISION)),
        {"suite": SUITE, "bandit": BANDIT},
    )  # fmt: skip
    suite, scan = plan(given, ())
    assert suite.checks == {EvidenceKind.TEST_RUN: ("a", "b"), EvidenceKind.COMMAND: ("c",)}
    assert (suite.form, scan.name, scan.checks) == (EvidenceForm.FULL, "bandit", {EvidenceKind.SCAN: ("d",)})


def test_a_retest_comes_before_the_whole_only_where_something_failed() -> None:
    """And only for a command that has a retest form."""
    given = handout(
        {},
        (check("a", EvidenceKind.TEST_RUN, "suite"), check("d", EvidenceKind.SCAN, "bandit")),
        {"suite": SUITE, "bandit": BANDIT},
    )
    runs = plan(given, (failing("suite", "m::x"), failing("bandit", "y")))
    assert [(run.name, run.form) for run in runs] == [
        ("suite", EvidenceForm.RETEST),
        ("suite", EvidenceForm.FULL),
        ("bandit", EvidenceForm.FULL),
    ]


def test_failing_cases_become_one_argument_each(tmp_path: Path) -> None:
    """`{report}` is filled in anywhere in a word, `{failing}` is a word of its own."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").touch()
    given = handout({}, (check("a", EvidenceKind.TEST_RUN, "suite"),), {"suite": SUITE})
    retest, _ = plan(given, (failing("suite", "tests.test_a.ATest::test_x[a b]", "tests.test_a::test_y", "-p::evil"),))
    words = fill(retest, tmp_path / "r.xml", tmp_path)
    assert words[-3:] == [
        f"--junitxml={tmp_path / 'r.xml'}",
        "tests/test_a.py::ATest::test_x[a b]",
        "tests/test_a.py::test_y",
    ]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("tests.test_a.ATest::test_x", "tests/test_a.py::ATest::test_x"),
        ("tests.test_a::test_x", "tests/test_a.py::test_x"),
        ("other.thing::test_x", "other.thing::test_x"),
        ("--rootdir=/::x", None),
        ("..etc.passwd::x", "..etc.passwd::x"),
    ],
)
def test_report_ids_become_what_the_test_runner_takes(tmp_path: Path, case: str, expected: str | None) -> None:
    """A file that the tree has, else the id as it stands; never what could pass for an option."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").touch()
    assert node_id(case, tmp_path) == expected


JUNIT = b"""<?xml version="1.0"?><testsuites><testsuite>
<testcase classname="t.A" name="ok"/>
<testcase classname="t.A" name="bad"><failure message="no"/></testcase>
<testcase classname="t.A" name="broken"><error/></testcase>
<testcase classname="t.A" name="left"><skipped/></testcase>
<testcase classname="t.A" name="torn"/><testcase classname="t.A" name="torn"><error/></testcase>
</testsuite></testsuites>"""


def test_a_report_may_name_a_case_by_what_is_no_file(tmp_path: Path) -> None:
    """A name that is too long for a file is handed to the test runner as it stands."""
    case = f"{'a' * 5_000}.b::c"
    assert node_id(case, tmp_path) == case


def test_junit_says_what_passed_failed_and_was_skipped() -> None:
    """An id that stands twice counts by its worse outcome."""
    report = read_report(ReportFormat.JUNIT, JUNIT)
    assert report is not None
    assert report.passed == ("t.A::ok",)
    assert report.failed == ("t.A::bad", "t.A::broken", "t.A::torn")
    assert report.skipped == ("t.A::left",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<testsuite",
        b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>',
        b"\xff\x00",
        b'<?xml version="1.0" encoding="no-such-one"?><testsuite/>',
        b'<?xml version="1.0" encoding="utf-7"?><testsuite/>',
        b"[" * 100_000,
    ],
)
def test_a_report_that_cannot_be_trusted_is_none(data: bytes) -> None:
    """Broken files, entity bombs and encodings that nobody knows show no test."""
    assert read_report(ReportFormat.JUNIT, data) is None
    assert read_report(ReportFormat.BANDIT, data) is None


def test_bandit_says_how_many_findings() -> None:
    """Whatever they are; the report itself is kept."""
    report = read_report(ReportFormat.BANDIT, b'{"results": [{}, {}], "metrics": {}}')
    assert report is not None
    assert report.findings == 2


def test_bandit_s_findings_are_named_the_severest_first() -> None:
    """Severity, test, file and line: what a person weighs, and what goes back with the evidence."""
    low = {"issue_severity": "LOW", "test_id": "B101", "filename": "a.py", "line_number": 3}
    high = {"issue_severity": "HIGH", "test_id": "B602", "filename": "b.py", "line_number": 9}
    report = read_report(ReportFormat.BANDIT, json.dumps({"results": [low, high, low]}).encode())
    assert report is not None
    assert (report.failed, report.findings) == (("HIGH B602 b.py:9", "LOW B101 a.py:3"), 3)


@pytest.mark.parametrize("workflow", ["a", "a:b", "a..b", ".a", "a.", "a.lock", "a.b-c_d"])
def test_every_workflow_id_has_a_ref(workflow: str) -> None:
    """Git takes it, and two ids never share one."""
    ref = attempt_ref(workflow, "0000")
    assert subprocess.run(["git", "check-ref-format", ref], check=False).returncode == 0  # noqa: S607
    assert attempt_ref("a%3Ab", "0") != attempt_ref("a:b", "0")
