"""Handlers in Python, through the same runner as any command."""

import sys
from pathlib import Path

import pytest

from remit.contract.normal import OutputKind
from remit.errors import SettingsError
from remit.events.base import EvidenceType, ObservedBy
from remit.events.inputs import BlockedReason, ErrorClass, ResultStatus
from remit.sdk.registration import load, registration_of
from tests.workers.rig import Rig, handout, offer_of

HEAD = "import remit\n@remit.worker('implement', tools=['git'])\ndef work(attempt):\n"


def argv(folder: Path, body: str) -> list[str]:
    (folder / "mine.py").write_text(HEAD + body, encoding="utf-8")
    return [sys.executable, "-m", "remit.sdk", "mine.py:work", str(folder)]


def test_a_handler_hands_over_files_usage_and_observed_commands(rig: Rig, tmp_path: Path) -> None:
    """The runner runs what the handler asks for and says so; it speaks to no check, and counts as a tool call."""
    body = """
    done = attempt.run(["sh", "-c", "echo seen; exit 3"])
    attempt.usage(model="m", tokens_in=5, tokens_out=2)
    attempt.usage(tokens_in=1)
    attempt.progress("half way")
    note = attempt.artefact("note.md", f"{attempt.objective} {done.exit_status} {done.output.strip()}")
    return remit.Completed({"note": note})
"""
    with rig.working(argv(tmp_path, body)):
        result = rig.result(rig.send(offer_of(handout({"note": OutputKind.DOCUMENT}))))
    assert result.result is not None
    assert result.result.status is ResultStatus.COMPLETED, result.result.message
    assert rig.stored(rig.output(result)["note"]) == b"Do it 3 seen"
    (seen,) = [each for each in result.result.evidence if each.exit_status == 3]
    assert (seen.kind, seen.observed_by, seen.checks) == (EvidenceType.COMMAND, ObservedBy.RUNNER, ())
    assert seen.argv == ("sh", "-c", "echo seen; exit 3")
    usage = result.result.usage
    assert usage is not None
    assert (usage.tokens_in, usage.tokens_out, usage.tool_calls) == (6, 2, 1)


@pytest.mark.parametrize(
    ("body", "status", "error_class"),
    [
        ("    return remit.Failed('no', retryable=False)\n", ResultStatus.FAILED, ErrorClass.PERMANENT_FAILED),
        ("    return remit.Failed('no', retry_after=9)\n", ResultStatus.FAILED, ErrorClass.RETRYABLE_FAILED),
        ("    return remit.NeedsReview('look')\n", ResultStatus.NEEDS_REVIEW, ErrorClass.NEEDS_REVIEW),
        ("    return remit.Blocked('capability')\n", ResultStatus.BLOCKED, ErrorClass.PERMANENT_FAILED),
        ("    return 5\n", ResultStatus.FAILED, ErrorClass.PERMANENT_FAILED),
    ],
)
def test_each_outcome_becomes_its_status(
    rig: Rig, tmp_path: Path, body: str, status: ResultStatus, error_class: ErrorClass
) -> None:
    """What a handler returns is what the result says."""
    with rig.working(argv(tmp_path, body)):
        found = rig.result(rig.send(offer_of(handout()))).result
    assert found is not None
    assert (found.status, found.error_class) == (status, error_class), found.message
    assert (found.blocked_reason is BlockedReason.CAPABILITY) == (status is ResultStatus.BLOCKED)
    assert found.retry_after_seconds == (9 if "retry_after" in body else None)


def test_a_call_that_names_nothing_is_refused(rig: Rig, tmp_path: Path) -> None:
    """It neither ends the runner's side of the line, nor leaves the handler to wait until its deadline."""
    body = """
    try:
        attempt.run([])
    except Exception as error:
        return remit.NeedsReview(str(error))
    return remit.Completed()
"""
    with rig.working(argv(tmp_path, body)):
        found = rig.result(rig.send(offer_of(handout()))).result
    assert found is not None
    assert found.status is ResultStatus.NEEDS_REVIEW
    assert "neither a command nor a tool" in (found.message or "")


def test_a_handler_that_raises_is_called_once(rig: Rig, tmp_path: Path) -> None:
    """IDEM-7 (a), the worker's part: one dispatch, one call."""
    count = tmp_path / "calls"
    body = f"""
    with open({str(count)!r}, "a") as file:
        file.write("x")
    raise RuntimeError("no")
"""
    with rig.working(argv(tmp_path, body)):
        rig.result(rig.send(offer_of(handout())))
    assert count.read_text(encoding="utf-8") == "x"


def test_the_decorator_says_what_the_handler_can(tmp_path: Path) -> None:
    """Capability and tools are read before the worker registers; a missing function is named."""
    argv(tmp_path, "    return remit.Completed()\n")
    said = registration_of(load("mine.py:work", tmp_path))
    assert said is not None
    assert (said.capability, said.tools) == ("implement", ("git",))
    with pytest.raises(SettingsError, match="has no function other"):
        load("mine.py:other", tmp_path)
    with pytest.raises(SettingsError, match="there is no such file"):
        load("absent.py:work", tmp_path)
    for name in ("", ".", "a..b", "json.absent", "absent.deep", "__main__", "a b", f"{'a' * 5_000}"):
        with pytest.raises(SettingsError, match="--module"):
            load(f"{name}:work", tmp_path)
    with pytest.raises(SettingsError, match="no such file"):
        load(f"{'a' * 5_000}.py:work", tmp_path)
