"""One attempt from offer to result, by a real process in a real checkout."""

import json
from pathlib import Path
from uuid import UUID

import pytest

from remit.contract.normal import EvidenceKind, OutputKind
from remit.events.base import Evidence, EvidenceForm, EvidenceType, InputVersion, ObservedBy
from remit.events.inputs import ErrorClass, LeaseKind, ResultKind, ResultStatus
from remit.topics import partition_of, worker_key
from tests.workers.rig import SUITE, WORKER, Rig, check, evidence, git, git_input, handout, offer_of, repository, script

COMMIT = """
import json, os, pathlib, subprocess
pathlib.Path("answer.py").write_text("def answer():\\n    return 42\\n")
subprocess.run(["git", "add", "."], check=True)
subprocess.run(["git", "commit", "-q", "-m", "Answer"], check=True)
print("done")
usage = {"model": "m", "tokens_in": 3, "tokens_out": 4, "tool_calls": 1}
pathlib.Path(os.environ["REMIT_USAGE"]).write_text(json.dumps(usage))
"""
TWO_CASES = """
import unittest


class ATest(unittest.TestCase):
    def test_x(self): pass
    def test_y(self): pass
"""
KEY = "ghp_" + "a1B2" * 9
TESTS = {"test_answer.py": "from answer import answer\n\n\ndef test_answer():\n    assert answer() == 42\n"}


def test_a_revision_is_committed_tested_and_pushed(rig: Rig, tmp_path: Path) -> None:
    """Without an envelope: HEAD, diff and log become outputs, and the runner's own test run becomes evidence."""
    source = tmp_path / "source"
    base = repository(source, TESTS)
    given = handout(
        {"revision": OutputKind.REVISION, "diff": OutputKind.DIFF, "log": OutputKind.LOG, "report": OutputKind.REPORT},
        (
            check("committed", EvidenceKind.REVISION),
            check("suite", EvidenceKind.TEST_RUN, "suite"),
            check("again", EvidenceKind.TEST_RUN, "suite"),
        ),
        {"suite": SUITE},
        {"language": "Python >=3.11", "framework": "Django"},
    )
    with rig.working(script(tmp_path, COMMIT)):
        offer = rig.send(offer_of(given, (git_input(source, base),)))
        result = rig.result(offer)
    body = result.result
    assert body is not None
    assert (body.status, body.error_class) == (ResultStatus.COMPLETED, ErrorClass.COMPLETED), body.message
    output = rig.output(result)
    commit = output["revision"]
    assert git(source, "rev-parse", f"refs/remit/wf%3A1/{offer.attempt_id}") == commit
    assert git(source, "rev-parse", "main") == base
    shown = git(source, "show", "-s", "--format=%(trailers)", commit)
    assert shown.splitlines()[:2] == ["Remit-Task: coding", f"Remit-Attempt: {offer.attempt_id}"]
    assert b"+    return 42" in rig.stored(output["diff"])
    assert b"1 passed" in rig.stored(output["log"])
    assert b"<testcase" in rig.stored(output["report"])
    (run,) = evidence(result, "suite")
    assert run.checks == ("suite", "again")
    assert (run.kind, run.observed_by, run.form) == (EvidenceType.TEST_RUN, ObservedBy.RUNNER, EvidenceForm.FULL)
    assert (run.exit_status, run.passed_cases, run.failed_cases) == (0, ("test_answer::test_answer",), ())
    assert run.subject is not None
    assert (run.subject.repository, run.subject.revision) == ("accounts", commit)
    assert None not in (run.output, run.report, run.environment_digest, run.started_at, run.ended_at)
    times = [body.started_at, run.started_at, run.ended_at, body.ended_at]
    assert times == sorted(each for each in times if each is not None)
    assert {"python", "django"} <= set(body.environment)
    assert body.usage is not None
    assert (body.usage.tokens_in, body.usage.tokens_out, body.usage.tool_calls, body.usage.model) == (3, 4, 2, "m")
    (revision,) = [each for each in body.evidence if each.kind is EvidenceType.REVISION]
    assert (revision.checks, revision.note) == (("committed",), f"base {base}")


def test_trailers_are_added_where_the_worker_went_round_the_hooks(rig: Rig, tmp_path: Path) -> None:
    """Commits without the trailers are made anew with them; author, order and content stay."""
    source = tmp_path / "source"
    base = repository(source, TESTS)
    handler = """
import json, os, pathlib, subprocess
for number in (1, 2):
    pathlib.Path(f"f{number}").write_text("x")
    subprocess.run(["git", "add", "."], check=True)
    around = ["git", "-c", "core.hooksPath=/dev/null", "-c", "user.name=Ann"]
    subprocess.run([*around, "commit", "-qm", f"Step {number}"], check=True)
head = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
envelope = {"status": "completed", "evidence": [], "output": {"revision": head}}
pathlib.Path(os.environ["REMIT_RESULT"]).write_text(json.dumps(envelope))
"""
    with rig.working(script(tmp_path, handler)):
        offer = rig.send(offer_of(handout({"revision": OutputKind.REVISION}), (git_input(source, base),)))
        commit = rig.output(rig.result(offer))["revision"]
    shown = git(source, "log", "--format=%an %s %(trailers:key=Remit-Attempt,valueonly)", f"{base}..{commit}")
    assert [line for line in shown.splitlines() if line] == [
        f"Ann Step 2 {offer.attempt_id}",
        f"Ann Step 1 {offer.attempt_id}",
    ]


MERGE = """
import os, pathlib, subprocess
def git(*words, hooks):
    off = [] if hooks else ["-c", "core.hooksPath=/dev/null"]
    subprocess.run(["git", *off, *words], check=True)
pathlib.Path("mine").write_text("x")
git("add", ".", hooks=False)
git("commit", "-qm", {words!r}, hooks={hooks})
git("merge", "-q", "--no-ff", "-m", "Merge", {other!r}, hooks=False)
"""


@pytest.mark.parametrize("hooks", [True, False])
def test_what_was_only_merged_keeps_its_commits(rig: Rig, tmp_path: Path, hooks: bool) -> None:
    """A merged input is not rewritten; the merge itself is where its own side was."""
    source = tmp_path / "source"
    base = repository(source, TESTS)
    (source / "theirs").write_text("x", encoding="utf-8")
    git(source, "add", ".")
    git(source, "commit", "-qm", "Theirs")
    other = git(source, "rev-parse", "HEAD")
    inputs = (git_input(source, base), git_input(source, other, "other"))
    with rig.working(script(tmp_path, MERGE.format(words="Mine", hooks=hooks, other=other)), keep_workspaces=True):
        offer = rig.send(offer_of(handout({"revision": OutputKind.REVISION}), inputs))
        commit = rig.output(rig.result(offer))["revision"]
    mine, theirs = git(source, "rev-parse", f"{commit}^1", f"{commit}^2").splitlines()
    assert theirs == other
    assert git(source, "show", "-s", "--format=%s %(trailers:key=Remit-Attempt,valueonly)", mine).split() == [
        "Mine",
        str(offer.attempt_id),
    ]
    workspace = rig.folder / "home" / "workers" / WORKER / "attempts" / str(offer.attempt_id) / "workspace"
    assert (git(workspace, "rev-parse", "HEAD") == commit) is hooks
    assert git(source, "show", "-s", "--format=%B", commit) == "Merge"


def test_a_commit_of_another_attempt_keeps_its_trailer(rig: Rig, tmp_path: Path) -> None:
    """A commit that says already of which attempt it is gets no second word on that."""
    source = tmp_path / "source"
    base = repository(source, TESTS)
    words = f"Theirs\n\nRemit-Attempt: {UUID(int=5)}"
    handler = MERGE.format(words=words, hooks=False, other=base)
    with rig.working(script(tmp_path, handler)):
        offer = rig.send(offer_of(handout({"revision": OutputKind.REVISION}), (git_input(source, base),)))
        commit = rig.output(rig.result(offer))["revision"]
    assert git(source, "show", "-s", "--format=%B", commit) == words


def test_a_failing_test_is_observed_whatever_the_worker_says(rig: Rig, tmp_path: Path) -> None:
    """VALID-7: a worker's own test_run stays its word; the runner's record shows the failing case."""
    source = tmp_path / "source"
    base = repository(source, TESTS | {"answer.py": "def answer():\n    return 41\n"})
    lie = {
        "status": "completed",
        "output": {"summary": "all tests pass"},
        "evidence": [
            {
                "kind": "test_run",
                "checks": ["suite"],
                "command": "suite",
                "exit_status": 0,
                "passed_cases": ["test_answer::test_answer"],
                "note": "all tests pass",
            }
        ],
    }
    handler = f"import os, pathlib; pathlib.Path(os.environ['REMIT_RESULT']).write_text({json.dumps(lie)!r})"
    given = handout({"summary": OutputKind.VALUE}, (check("suite", EvidenceKind.TEST_RUN, "suite"),), {"suite": SUITE})
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(given, (git_input(source, base),))))
    by = {each.observed_by: each for each in evidence(result, "suite")}
    assert by[ObservedBy.RUNNER].failed_cases == ("test_answer::test_answer",)
    assert by[ObservedBy.RUNNER].exit_status == 1
    assert by[ObservedBy.WORKER].note == "all tests pass"
    assert by[ObservedBy.WORKER].environment_digest is None


def test_what_the_handler_leaves_behind_helps_no_check(rig: Rig, tmp_path: Path) -> None:
    """VALID-7: the command runs in a fresh checkout, so an uncommitted conftest that skips everything is not there."""
    source = tmp_path / "source"
    base = repository(source, TESTS | {"answer.py": "def answer():\n    return 41\n"})
    handler = "import pathlib; pathlib.Path('answer.py').write_text('def answer():\\n    return 42\\n')"
    given = handout({}, (check("suite", EvidenceKind.TEST_RUN, "suite"),), {"suite": SUITE})
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(given, (git_input(source, base),))))
    (run,) = evidence(result, "suite")
    assert run.failed_cases == ("test_answer::test_answer",)
    assert (source / "answer.py").read_text(encoding="utf-8").endswith("41\n")


def test_a_round_after_a_defect_retests_what_failed_first(rig: Rig, tmp_path: Path) -> None:
    """The retest form runs on the failing case alone, then the whole command: two records."""
    source = tmp_path / "source"
    tests = {
        "tests/__init__.py": "",
        "tests/test_a.py": TWO_CASES,
    }
    base = repository(source, tests)
    given = handout({}, (check("suite", EvidenceKind.TEST_RUN, "suite"),), {"suite": SUITE})
    before = Evidence(
        kind=EvidenceType.TEST_RUN,
        observed_by=ObservedBy.RUNNER,
        worker_id="w-0",
        task_id="testing",
        attempt_id=UUID(int=1),
        command="suite",
        exit_status=1,
        failed_cases=("tests.test_a.ATest::test_x",),
    )
    with rig.working(script(tmp_path, "")):
        result = rig.result(rig.send(offer_of(given, (git_input(source, base),), rework=(before,))))
    retest, full = evidence(result, "suite")
    assert (retest.form, retest.passed_cases) == (EvidenceForm.RETEST, ("tests.test_a.ATest::test_x",))
    assert retest.argv[-1] == "tests/test_a.py::ATest::test_x"
    assert (full.form, len(full.passed_cases)) == (EvidenceForm.FULL, 2)


def test_inputs_and_offer_are_handed_over_as_files(rig: Rig, tmp_path: Path) -> None:
    """The dispatch file has what DEFINITIONS lists, and each input that has bytes lies at its path."""
    ref = rig.store.put(b"a diff")
    inputs = (
        InputVersion(name="diff", kind="artefact", reference=ref.reference, sha256=ref.sha256),
        InputVersion(name="size", kind="value", reference="task://a/size", value='{"n": 1}'),
        InputVersion(name="sku", kind="external", reference="sku:A14"),
    )
    handler = """
import json, os, pathlib
d = json.loads(pathlib.Path(os.environ["REMIT_DISPATCH"]).read_text())
text = {name: each["path"] and pathlib.Path(each["path"]).read_text() for name, each in d["inputs"].items()}
cwd = os.getcwd() == os.environ["REMIT_WORKSPACE"]
out = {"seen": {"keys": sorted(d), "inputs": text, "env": sorted(os.environ), "cwd": cwd}}
pathlib.Path(os.environ["REMIT_RESULT"]).write_text(json.dumps({"status": "completed", "evidence": [], "output": out}))
"""
    with rig.working(script(tmp_path, handler)):
        seen = rig.output(rig.result(rig.send(offer_of(handout({"seen": OutputKind.VALUE}), inputs))))["seen"]
    wanted = {
        "attempt_id",
        "contract_version",
        "state_version",
        "attempt",
        "round",
        "fencing_token",
        "idempotency_key",
        "lease_seconds",
        "deadline_at",
        "objective",
        "constraints",
        "requirements",
        "inputs",
        "outputs",
        "output_schema",
        "permissions",
        "grant",
        "remaining",
        "rework",
        "resume_from",
    }
    assert wanted <= set(seen["keys"])
    assert seen["inputs"] == {"diff": "a diff", "size": '{"n": 1}', "sku": None}
    assert seen["cwd"]
    assert not {"HOSTNAME", "USER", "VIRTUAL_ENV"} & set(seen["env"])


@pytest.mark.parametrize(
    ("envelope", "status", "error_class"),
    [
        ({"status": "blocked", "blocked_reason": "permission"}, "blocked", "PERMANENT_FAILED"),
        ({"status": "blocked", "blocked_reason": "ambiguity"}, "blocked", "NEEDS_REVIEW"),
        ({"status": "needs_review"}, "needs_review", "NEEDS_REVIEW"),
        ({"status": "failed", "error_class": "PERMANENT_FAILED"}, "failed", "PERMANENT_FAILED"),
    ],
)
def test_each_status_travels_with_its_class(
    rig: Rig, tmp_path: Path, envelope: dict[str, str], status: str, error_class: str
) -> None:
    """The envelope's word becomes status and error class of the result."""
    whole: dict[str, object] = {"output": {}, "evidence": [], **envelope}
    handler = f"import os, pathlib; pathlib.Path(os.environ['REMIT_RESULT']).write_text({json.dumps(whole)!r})"
    with rig.working(script(tmp_path, handler)):
        body = rig.result(rig.send(offer_of(handout()))).result
    assert body is not None
    assert (body.status.value, body.error_class.value) == (status, error_class)
    assert body.usage is None  # not reported: the whole reservation is booked


def test_exit_status_speaks_where_there_is_no_envelope(rig: Rig, tmp_path: Path) -> None:
    """A command that fails without a result is a retryable failure, with its log."""
    with rig.working(script(tmp_path, "print('boom'); raise SystemExit(3)"), calls_no_model=True):
        body = rig.result(rig.send(offer_of(handout()))).result
    assert body is not None
    assert (body.status, body.error_class) == (ResultStatus.FAILED, ErrorClass.RETRYABLE_FAILED)
    assert "exit status 3" in (body.message or "")
    assert body.log is not None
    assert rig.store.get(body.log) == b"boom\n"
    assert body.usage is not None
    assert body.usage.worker_seconds > 0


def test_a_command_that_never_began_used_nothing(rig: Rig, tmp_path: Path) -> None:
    """An input that the store doesn't hold now fails the attempt, and books none of its reservation."""
    lost = InputVersion(name="diff", kind="artefact", reference=f"artefact://sha256/{'0' * 64}", sha256="0" * 64)
    with rig.working(script(tmp_path, "raise SystemExit('began')")):
        body = rig.result(rig.send(offer_of(handout(), (lost,)))).result
    assert body is not None
    assert (body.status, body.error_class) == (ResultStatus.FAILED, ErrorClass.RETRYABLE_FAILED)
    assert "nothing is stored" in (body.message or "")
    assert body.usage is not None  # else the whole reservation would be booked, and the task could not be tried again
    assert (body.usage.tokens_in, body.usage.tool_calls) == (0, 0)


def test_a_completed_envelope_of_a_failed_command_is_a_failure(rig: Rig, tmp_path: Path) -> None:
    """Completed and exit status 1 contradict each other: nothing counts as done."""
    handler = """import os, pathlib
pathlib.Path(os.environ['REMIT_RESULT']).write_text('{"status": "completed", "output": {}, "evidence": []}')
raise SystemExit(1)"""
    with rig.working(script(tmp_path, handler)):
        body = rig.result(rig.send(offer_of(handout()))).result
    assert body is not None
    assert body.status is ResultStatus.FAILED


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"status": "completed", "output": {}}', "evidence is required"),
        ('{"status": "completed", "output": {}, "evidence": null}', "evidence must be a list"),
        ("not json", "line 1"),
        (json.dumps({"status": "completed", "output": {"x": "y" * 70_000}, "evidence": []}), "at most 65536 inline"),
        (json.dumps({"status": "completed", "output": {"x": "y" * 3_000_000}, "evidence": []}), "at most 262144"),
        ('{"status": "completed", "output": {"x": {"file": "../../etc/passwd"}}, "evidence": []}', "must lie in"),
        (
            json.dumps({"status": "completed", "output": {"x": {"file": "f", "sha256": "0" * 64}}, "evidence": []}),
            "another sha256",
        ),
    ],
)
def test_an_envelope_that_does_not_fit_travels_as_malformed(rig: Rig, tmp_path: Path, text: str, fault: str) -> None:
    """AVRO-4, KOPS-5, REDACT-5: path or size with its limit and a way out, and the attempt ends as recorded."""
    (tmp_path / "envelope").write_text(text, encoding="utf-8")
    handler = f"""import os, pathlib
pathlib.Path("f").write_text("x")
pathlib.Path(os.environ['REMIT_RESULT']).write_text(pathlib.Path({str(tmp_path / "envelope")!r}).read_text())"""
    with rig.working(script(tmp_path, handler)):
        result = rig.result(rig.send(offer_of(handout({"x": OutputKind.VALUE}))))
    assert result.kind is ResultKind.MALFORMED
    assert result.malformed is not None
    assert any(fault in each for each in result.malformed.faults), result.malformed.faults
    assert len(result.malformed.text.encode()) <= 65536
    if "bytes" in fault:
        assert '{"file": "PATH"}' in result.malformed.faults[0]


def test_an_offer_for_another_worker_is_left_alone(rig: Rig, tmp_path: Path) -> None:
    """Only records that name this worker are acted on."""
    place = partition_of(worker_key(WORKER), 8)
    other = next(f"v-{n}" for n in range(1000) if partition_of(worker_key(f"v-{n}"), 8) == place)
    with rig.working(script(tmp_path, "")):
        rig.send(offer_of(handout(), token=5, worker_id=other))
        mine = rig.send(offer_of(handout(), token=6))
        rig.result(mine)
    assert [each.attempt_id for each in rig.leases(LeaseKind.CLAIM)] == [mine.attempt_id]


@pytest.mark.parametrize(
    "secret",
    [
        KEY.encode(),
        b"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
        b"\0\1\2" + KEY.encode() + b"\0\xff",
        f"one line\n{KEY}\n".encode("utf-16"),
    ],
    ids=["text", "pem", "binary", "utf-16"],
)
def test_a_commit_with_a_secret_is_not_pushed(rig: Rig, tmp_path: Path, secret: bytes) -> None:
    """A commit can't be redacted, so one that holds a secret stays where it is, even if a later one takes it out.

    No attribute of the workspace hides it, and the worker's long-lived copy of the repository never has it.
    """
    source = tmp_path / "source"
    base = repository(source, TESTS)
    given = handout({"revision": OutputKind.REVISION}, (check("committed", EvidenceKind.REVISION),), {}, {})
    leak = f"""
import pathlib, subprocess
pathlib.Path("key.txt").write_bytes({secret!r})
pathlib.Path(".git/info/attributes").write_text("*.txt -diff")
for words in ("add key.txt", "commit -q -m add", "rm -q key.txt", "commit -q -m remove"):
    subprocess.run(["git", *words.split()], check=True)
"""
    with rig.working(script(tmp_path, leak)):
        offer = rig.send(offer_of(given, (git_input(source, base),)))
        body = rig.result(offer).result
    assert body is not None
    assert body.status is ResultStatus.FAILED
    assert "a commit holds what looks like a secret" in (body.message or "")
    assert git(source, "for-each-ref", "refs/remit") == ""
    (tmp_path / "key").write_bytes(secret)
    blob = git(source, "hash-object", str(tmp_path / "key"))
    (copy,) = (rig.folder / "home" / "repositories").glob("*.git")
    kept = git(copy, "cat-file", "--batch-all-objects", "--batch-check")
    assert base in kept
    assert blob not in kept
    assert not list((rig.folder / "home").rglob("taken-*"))


def test_the_word_of_an_allowed_variable_may_stand_in_a_commit(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `env_allow` passes is redacted where it is written, but it is no secret: code may use the same word."""
    monkeypatch.setenv("PLAIN_SETTING", "answer")
    source = tmp_path / "source"
    base = repository(source, TESTS)
    given = handout({"revision": OutputKind.REVISION}, (check("committed", EvidenceKind.REVISION),), {}, {})
    with rig.working(script(tmp_path, COMMIT), env_allow=["PLAIN_SETTING"]):
        offer = rig.send(offer_of(given, (git_input(source, base),)))
        result = rig.result(offer)
    assert result.result is not None
    assert result.result.status is ResultStatus.COMPLETED, result.result.message
    assert git(source, "rev-parse", f"refs/remit/wf%3A1/{offer.attempt_id}") == rig.output(result)["revision"]
