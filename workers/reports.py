"""Reads the reports that commands leave: JUnit XML into test ids, Bandit's JSON into findings. Pure.

A report is a stranger's text: entities are refused, sizes are bounded, and what can't be read is no report.
Only this role imports it.
"""

import json
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from remit.contract.normal import ReportFormat

MAX_BYTES = 16 << 20
MAX_FINDINGS = 100  # that are named, the severest first
_SEVERITY = {"HIGH": 0, "MEDIUM": 1, "LOW": 2}
_WANTED = ("passed", "failed", "skipped")
_RANK = {"passed": 0, "skipped": 1, "failed": 2}


@dataclass(frozen=True)
class Report:
    """What a report says: test ids as `classname::name`, or findings as `SEVERITY TEST FILE:LINE`, and how many."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    findings: int | None = None


def read_report(form: ReportFormat, data: bytes) -> Report | None:
    """The report in `data`; None when it can't be read as that format."""
    if len(data) > MAX_BYTES:
        return None
    return _junit(data) if form is ReportFormat.JUNIT else _bandit(data)


def _junit(data: bytes) -> Report | None:
    try:
        root = fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):  # an encoding that nobody knows is the last
        return None
    outcome: dict[str, str] = {}
    for case in root.iter("testcase"):
        name = f"{case.get('classname') or ''}::{case.get('name') or ''}"
        found = _outcome(case)  # the same id twice, as with an error at tear-down: the worse one counts
        outcome[name] = max(found, outcome.get(name, found), key=_RANK.__getitem__)
    passed, failed, skipped = (tuple(name for name in outcome if outcome[name] == wanted) for wanted in _WANTED)
    return Report(passed=passed, failed=failed, skipped=skipped)


def _outcome(case: Element) -> str:
    tags = {child.tag for child in case}
    if tags & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in tags else "passed"


def _bandit(data: bytes) -> Report | None:
    try:
        results = json.loads(data)["results"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    if not isinstance(results, list):
        return None
    named = sorted((_finding(each) for each in results if isinstance(each, dict)), key=_by_severity)
    return Report(failed=tuple(dict.fromkeys(named))[:MAX_FINDINGS], findings=len(results))


def _finding(result: dict[str, object]) -> str:
    said = [str(result.get(name) or "?")[:200] for name in ("issue_severity", "test_id", "filename", "line_number")]
    return f"{said[0].upper()} {said[1]} {said[2]}:{said[3]}"


def _by_severity(finding: str) -> int:
    return _SEVERITY.get(finding.partition(" ")[0], len(_SEVERITY))
