"""A verifier is any worker whose handler does nothing: its runner runs the commands again, in a checkout of its own."""

from pathlib import Path

from msgspec.structs import replace

from remit.contract.normal import EvidenceKind, Permissions
from remit.events.base import ObservedBy
from remit.events.inputs import ResultStatus
from tests.workers.rig import SUITE, Rig, check, evidence, git, git_input, handout, offer_of, repository

RIGHT = {
    "answer.py": "ANSWER = 42\n",
    "test_answer.py": "import answer\n\n\ndef test_it():\n    assert answer.ANSWER == 42\n",
}


def test_true_is_a_verifier(rig: Rig, tmp_path: Path) -> None:
    """`--exec true` yields the runner's evidence for a task without outputs, at the revision that was given to it."""
    source = tmp_path / "source"
    commit = repository(source, RIGHT)
    plain = handout({}, (check("suite.verify", EvidenceKind.TEST_RUN, "suite"),), {"suite": SUITE})
    task = replace(plain.task, verifies="testing", permissions=Permissions(grants={"repository": "execute"}))
    with rig.working(["true"], calls_no_model=True):
        result = rig.result(rig.send(offer_of(replace(plain, task=task), (git_input(source, commit),))))
    body = result.result
    assert body is not None
    assert (body.status, body.output) == (ResultStatus.COMPLETED, "{}"), body.message
    (seen,) = evidence(result, "suite")
    assert (seen.observed_by, seen.exit_status, seen.checks) == (ObservedBy.RUNNER, 0, ("suite.verify",))
    assert seen.passed_cases == ("test_answer::test_it",)
    assert seen.subject is not None
    assert seen.subject.revision == commit
    assert body.usage is not None
    assert (body.usage.tokens_in, body.usage.tokens_out, body.usage.tool_calls) == (0, 0, 1)
    assert git(source, "for-each-ref", "refs/remit") == ""
