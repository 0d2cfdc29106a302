"""Reports that commands leave: test reports, scanners' reports, and stored outputs as the inspector looks at them."""

import json
from pathlib import Path
from random import Random

from remit.artefacts import ArtefactStore
from remit.contract.normal import ReportFormat
from remit.events.base import ArtefactRef
from remit.events.inputs import Answer, Question, QuestionKind, Verdict
from supervisor.inspect.questions import answer
from workers.plan import node_id
from workers.reports import read_report

from ..making import bombs, documents, raw, texts
from ..target import LawBrokenError, Target

_JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" errors="0" failures="1" skipped="1" tests="3">
<testcase classname="tests.test_a.TestB" name="test_c[x-1]" time="0.01"/>
<testcase classname="tests.test_a" name="test_d"><failure message="assert 1 == 2">at &lt;x&gt;</failure></testcase>
<testcase classname="tests.test_a" name="test_e"><skipped/></testcase>
</testsuite></testsuites>
"""
_BANDIT = json.dumps({"errors": [], "results": [{"filename": "a.py", "issue_severity": "LOW", "line_number": 3}]})
_OUTPUTS = (json.dumps({"report": "fine", "n": [1, 2, {"a": None}]}), _BANDIT)
_KINDS = (QuestionKind.ARTEFACT, QuestionKind.SECRETS, QuestionKind.OUTPUT, QuestionKind.OUTPUT)


def _junit(dice: Random) -> bytes:
    match dice.randrange(8):
        case 0:
            return texts.as_bytes(dice, bombs.xml(dice))
        case 1:
            return texts.as_bytes(dice, texts.mutated(dice, bombs.xml(dice)))
        case 2:
            return raw.mutated(dice, _JUNIT.encode(), bombs.xml(dice).encode())
    return texts.as_bytes(dice, texts.mutated(dice, _JUNIT))


def _read_junit(given: bytes) -> bool:
    report = read_report(ReportFormat.JUNIT, given)
    for case in report.failed if report else ():
        node_id(case, Path(__file__).parent)
    return report is not None


def _bandit(dice: Random) -> bytes:
    return documents.json_file(dice, (_BANDIT,))


def _read_bandit(given: bytes) -> bool:
    return read_report(ReportFormat.BANDIT, given) is not None


def _stored(dice: Random) -> tuple[str, bytes]:
    return dice.choice(_KINDS).value, documents.json_file(dice, _OUTPUTS)


def _inspected(given: tuple[str, bytes]) -> bool:
    """Errors become verdicts, never exceptions; what is told of an object can be written to the log."""
    kind, data = given
    store = ArtefactStore("memory://fuzz-reports")
    ref: ArtefactRef = store.put(data)
    asked = Question(id="q", kind=QuestionKind(kind), reference=ref.reference, expected=(ref.sha256,), size=ref.size)
    found: Answer = answer(asked, store)
    if found.content is not None and found.content.encode() == b"":
        raise LawBrokenError("an output without content")
    return found.verdict is Verdict.MATCH


TARGETS = (
    Target("report.junit", _junit, _read_junit, least=1_000),
    Target("report.bandit", _bandit, _read_bandit),
    Target("report.inspected", _stored, _inspected),
)
