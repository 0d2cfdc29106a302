"""The four workers as commands: what they read, and what they leave."""

import fnmatch
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.example.example_bench import EXAMPLE, Bench, git

pytestmark = pytest.mark.xdist_group("example")  # the suite is run once for each tree

EXPIRED = "tests.test_reset_expired.Expired::test_no_expired_token_accepted"


def test_coding_chooses_by_evidence_not_by_count(coding: ModuleType) -> None:
    """The same evidence gives the same answer, however often it comes; no evidence gives the first one."""
    choose = coding.choose
    assert choose("expired", [], implemented=False) == choose("expired", [], implemented=False)
    assert choose("expired", [EXPIRED], implemented=True) == ("Refuse an expired token", [("slip-expired", True)])
    both = [EXPIRED, "tests.test_reset_reused.Reused::test_no_reused_token_accepted"]
    assert choose("expired", both, implemented=True)[1] == [("slip-expired", True), ("slip-reused", True)]


def test_coding_asks_when_the_evidence_says_nothing_to_it(coding: ModuleType) -> None:
    """Unknown cases, or no evidence about finished work, lead to a question rather than to a guess."""
    choose = coding.choose
    assert choose("expired", ["tests.test_other::test_x"], implemented=True) is None
    assert choose("expired", [], implemented=True) is None


def test_coding_commits_with_its_trailers(bench: Bench) -> None:
    """The commit names the task and the attempt it was made in, whatever the round."""
    revision = bench.code(bench.base, "none", [], task_id="coding", attempt_id="at-9", round=7)
    trailers = git(bench.repository, "log", "-1", "--format=%(trailers:only)", revision)
    assert trailers.splitlines() == ["Remit-Task: coding", "Remit-Attempt: at-9"]


def test_coding_without_requirements_is_blocked(bench: Bench) -> None:
    """No requirements, no code."""
    workspace = bench.checkout(bench.base)
    answer = bench.work("coding", workspace, {"inputs": {}})
    assert (answer.envelope["status"], answer.envelope["blocked_reason"]) == ("blocked", "input")
    assert git(workspace, "rev-parse", "HEAD") == bench.base


def test_coding_refuses_an_unknown_defect(bench: Bench) -> None:
    """A misspelt defect is named, and nothing is committed."""
    with pytest.raises(subprocess.CalledProcessError) as failure:
        bench.code(bench.base, "sturdy", [])
    assert "none, expired, reused, stubborn" in failure.value.stderr


def test_usage_stays_inside_a_task_s_share(bench: Bench) -> None:
    """Three rounds of coding stay well inside a quarter of the workflow's tokens and calls."""
    inputs = {"requirements": bench.store("word " * 400)}
    revision, spent, calls = bench.base, 0, 0
    for failed in ([], [EXPIRED], [EXPIRED]):
        workspace = bench.checkout(revision)
        offer = {"inputs": inputs, "rework": {"evidence": [{"failed_cases": failed}]}}
        usage = bench.work("coding", workspace, offer, REMIT_EXAMPLE_DEFECT="stubborn").usage
        revision = git(workspace, "rev-parse", "HEAD")
        spent += usage["tokens_in"] + usage["tokens_out"]
        calls += usage["tool_calls"]
    assert usage["model"] == "scripted"
    assert (spent < 3000, calls <= 5) == (True, True)


def test_requirements_tighten_and_name_only_known_commands(bench: Bench) -> None:
    """The draft keeps every requirement, adds six with checks, and no command line."""
    before = ["single-use token", "expiry required"]
    answer = bench.work("requirements", bench.checkout(bench.base), {"constraints": {"security": before}})
    output = answer.envelope["output"]
    draft = output["contract"]
    assert draft["constraints"]["security"][:2] == before
    assert sorted(draft["checks"]) == sorted(draft["constraints"]["security"][2:])
    assert len(draft["checks"]) == 6
    assert "commands" not in draft
    assert "128 random bits" in Path(output["requirements"]["file"]).read_text()
    for (check,) in draft["checks"].values():
        assert check["command"] == "suite"
        assert all(fnmatch.filter(bench.suite(bench.base).cases, glob) for glob in check["cases"])


def test_requirements_keep_the_whole_contract_when_they_know_it(bench: Bench) -> None:
    """Handed the approved version, the worker drafts that version with more in it, and nothing less."""
    approved = {
        "tasks": {"t": {}},
        "limits": {"max_tokens": 1},
        "constraints": {"security": ["x"]},
        "checks": {"x": []},
    }
    answer = bench.work("requirements", bench.checkout(bench.base), {"contract": approved})
    draft = answer.envelope["output"]["contract"]
    assert (draft["tasks"], draft["limits"], draft["checks"]["x"]) == ({"t": {}}, {"max_tokens": 1}, [])
    assert draft["constraints"]["security"][0] == "x"


def test_testing_reads_the_diff_and_claims_nothing(bench: Bench) -> None:
    """The testing worker names what changed; it writes no evidence of its own."""
    revision = bench.code(bench.base, "none", [])
    diff = git(bench.repository, "diff", bench.base, revision)
    answer = bench.work("testing", bench.checkout(revision), {"inputs": {"diff": bench.store(diff)}})
    assert answer.envelope == {"status": "completed", "output": {}, "evidence": []}
    assert "accounts/reset.py" in answer.said
    missing = bench.work("testing", bench.checkout(revision), {"inputs": {}})
    assert missing.envelope["status"] == "blocked"


def review_inputs(bench: Bench, revision: str, logs: str = "51 passed") -> dict[str, Any]:
    return {
        "revision": {"kind": "git", "reference": f"repo://accounts-service@commit:{revision}"},
        "tests": bench.store(bench.suite(revision).report),
        "logs": bench.store(logs),
        "threat_model": bench.store((EXAMPLE / "threat-model.md").read_text()),
    }


def test_security_finds_the_final_revision_sound(bench: Bench) -> None:
    """All eight checks hold at the correct revision, and the findings name it and what stays open."""
    revision = bench.code(bench.base, "none", [])
    answer = bench.work("security", bench.checkout(revision), {"inputs": review_inputs(bench, revision)})
    findings = Path(answer.envelope["output"]["findings"]["file"]).read_text()
    assert answer.envelope["status"] == "completed", findings
    assert findings.count("| holds |") == 8
    assert revision in findings
    assert "A known account takes longer" in findings


def test_security_sends_an_open_check_to_a_person(bench: Bench) -> None:
    """A failed case in the recorded report, or a token in the logs, is a finding."""
    revision = bench.code(bench.base, "expired", [])
    leaked = "token=" + "Ab3-" * 5 + "xy"
    inputs = review_inputs(bench, revision, logs=leaked)
    answer = bench.work("security", bench.checkout(revision), {"inputs": inputs})
    findings = Path(answer.envelope["output"]["findings"]["file"]).read_text()
    assert answer.envelope["status"] == "needs_review"
    assert "test_no_expired_token_accepted failed" in findings
    assert "the log of the test run shows a token" in findings
    assert leaked not in findings


def test_security_is_blocked_at_another_revision(bench: Bench) -> None:
    """The review speaks of the revision it was given, or not at all."""
    revision = bench.code(bench.base, "none", [])
    inputs = review_inputs(bench, revision)
    answer = bench.work("security", bench.checkout(bench.base), {"inputs": inputs})
    assert answer.envelope["blocked_reason"] == "input"
