"""The one request to mend an envelope: same worker, attempt and lease, once in the life of a task."""

from datetime import timedelta

from remit.events.base import Usage
from remit.events.inputs import Malformed
from remit.events.service import DispatchKind
from tests.supervisor import bodies
from tests.supervisor.lab import Lab
from tests.supervisor.test_rework import accept

WRONG = Malformed(text="{", faults=("status is required",), usage=Usage(tokens_in=10))


def test_a_malformed_envelope_is_asked_to_be_mended_and_then_accepted(lab: Lab) -> None:
    """The worker is told the faults; its second submission is judged as any other, and no attempt more is counted."""
    offer = lab.start("code")
    (asked,) = lab.result(offer, None, malformed=WRONG)
    assert (asked.kind.value, lab.status("code")) == ("correction_requested", "correcting")
    told = lab.told[-1]
    assert (told.kind, told.attempt_id, told.fencing_token, told.faults) == (
        DispatchKind.CORRECTION, offer.attempt_id, offer.fencing_token, ("status is required",),
    )  # fmt: skip
    lab.result(offer, bodies.good(offer, lab), submission=2)
    lab.inspect(task_id="code")
    assert lab.status("code") == "completed"
    assert lab.workflow.tasks["code"].attempts_started == 1


def test_the_second_malformed_envelope_goes_to_another_worker(lab: Lab) -> None:
    """RETRY-3: one correction in the life of the task; then it is reassigned, away from who sent it if it can be."""
    lab.register("coders1", "coders")
    offer = lab.start("code")
    lab.result(offer, None, malformed=WRONG)
    (ended,) = lab.result(offer, None, malformed=WRONG, submission=2)
    assert ended.ending is not None
    assert (ended.ending.outcome, ended.ending.recovery.value) == ("malformed", "reassign")
    second = lab.start("code")
    assert second.worker_id != offer.worker_id
    (again,) = lab.result(second, None, malformed=WRONG)
    assert again.ending is not None
    assert (again.ending.recovery_reason, lab.kinds.count("correction_requested")) == ("attempts_exhausted", 1)


def test_a_later_round_has_no_second_correction(lab: Lab) -> None:
    """It is the task's life that counts, not its round."""
    accept(lab, "code")
    offer = lab.start("test")
    lab.result(offer, None, malformed=WRONG)
    lab.result(offer, bodies.defect(offer, lab), submission=2)
    lab.inspect(task_id="test")
    accept(lab, "code")
    offer = lab.start("test")
    (ended,) = lab.result(offer, None, malformed=WRONG)
    assert ended.kind.value == "attempt_failed"
    assert (ended.round, lab.workflow.tasks["test"].corrected) == (2, True)


def test_a_correction_that_never_comes_loses_the_attempt(lab: Lab) -> None:
    """The wait has an end; what was told with the malformed envelope is booked, the rest held for a while."""
    offer = lab.start("code")
    (asked,) = lab.result(offer, None, malformed=WRONG)
    assert asked.correction is not None
    assert asked.correction.until == lab.now + timedelta(seconds=60)
    lab.forward(61)
    assert (lab.history[-1].reason, lab.status("code")) == ("correction", "queued")
    assert lab.spent()[1] == 10
    assert lab.told[-1].kind is DispatchKind.LEASE_LOST
    late = lab.result(offer, bodies.good(offer, lab), submission=2)
    assert late[0].kind.value == "late_usage"


def test_the_first_submission_again_is_a_duplicate(lab: Lab) -> None:
    """While the mended one is awaited, the refused one from the spool changes nothing."""
    offer = lab.start("code")
    lab.result(offer, None, malformed=WRONG)
    (note,) = lab.result(offer, None, malformed=WRONG)
    assert (note.kind.value, lab.status("code")) == ("duplicate", "correcting")


def test_a_new_process_of_the_worker_ends_the_wait(lab: Lab) -> None:
    """The process that was asked is gone: another attempt begins at once."""
    offer = lab.start("code")
    lab.result(offer, None, malformed=WRONG)
    lab.register(offer.worker_id, "coders")
    lab.forward(0)
    assert (lab.history[-1].reason, lab.status("code")) == ("incarnation", "queued")


def test_a_takeover_goes_on_waiting(lab: Lab) -> None:
    """What is folded is enough: the same end, and the mended envelope is still taken."""
    offer = lab.start("code")
    lab.result(offer, None, malformed=WRONG)
    lab.restart()
    lab.result(offer, bodies.good(offer, lab), submission=2)
    assert lab.status("code") == "awaiting_review"


def test_a_correction_of_one_attempt_opens_no_second_submission_of_another(lab: Lab) -> None:
    """What was booked for an accepted result can't be rewritten by a submission that nobody asked for."""
    offer = lab.start("code")
    for submission in (1, 2):
        lab.result(offer, None, malformed=WRONG, submission=submission)
    lab.forward(60)
    second = lab.start("code")
    lab.finish(second, bodies.good(second, lab))
    spent = lab.spent()
    (note,) = lab.result(second, bodies.good(second, lab, usage=Usage()), submission=2)
    assert (note.kind.value, lab.spent()) == ("stale", spent)
