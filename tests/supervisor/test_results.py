"""What becomes of a result: fenced, stale, repeated, late, out of bounds, inspected."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from remit.codec import encode
from remit.events.base import Usage
from remit.events.inputs import ErrorClass, Inspection, InspectionKind, Malformed, ResultBody
from remit.events.service import Dispatch, DispatchKind
from remit.events.transitions import StopReason, Transition
from tests.supervisor import bodies
from tests.supervisor.lab import Lab


@pytest.mark.parametrize(
    "said",
    [{"fencing_token": 1}, {"worker_id": "stranger"}, {"incarnation": bodies.STRANGER}],
    ids=["token", "worker", "process"],
)
@pytest.mark.parametrize("malformed", [False, True])
def test_a_foreign_result_changes_nothing(lab: Lab, said: dict[str, Any], malformed: bool) -> None:
    """Lease and token come first: what another sends about a running attempt is stale, malformed or not."""
    offer = lab.start("code")
    version = lab.workflow.version
    (note,) = lab.result(offer, None if malformed else bodies.good(offer, lab), **said)
    assert (note.kind.value, lab.workflow.version, lab.status("code")) == ("stale", version, "running")
    assert lab.finish(offer, bodies.good(offer, lab))[0].kind.value == "result_accepted"


def test_a_result_on_other_inputs_is_stale_and_names_them(lab: Lab) -> None:
    """STATE-1 (b): what differs is named, and the attempt goes on."""
    offer = lab.start("code")
    assert offer.offer is not None
    other = replace(offer.offer.inputs[0], reference=f"repo://svc@commit:{'a' * 40}")
    (note,) = lab.result(offer, bodies.good(offer, lab, input_versions=(other,)))
    assert note.kind.value == "stale"
    assert note.note is not None
    assert note.note.differs == ("input repo: not the version handed out",)
    assert lab.status("code") == "running"


def test_unrelated_progress_is_no_reason_to_refuse(lab: Lab) -> None:
    """STATE-1 (c): a result that read an older version is accepted when its own task and inputs are as they were."""
    lab.finish(lab.start("code"), bodies.good(lab.offer("code"), lab))
    one, other = lab.start("test"), lab.start("lint")
    lab.finish(one, bodies.good(one, lab))
    assert other.state_version < lab.workflow.version - 1
    assert lab.finish(other, bodies.good(other, lab))[0].kind.value == "result_accepted"


def test_a_stale_result_does_not_leave_its_task_hanging(lab: Lab) -> None:
    """A worker that sent a stale result and fell silent loses its lease, and the task is routed again."""
    offer = lab.start("code")
    lab.result(offer, bodies.good(offer, lab, input_versions=()))
    lab.forward(31)
    assert lab.status("code") == "queued"


def test_a_malformed_result_that_is_not_mended_ends_the_attempt_and_is_charged(lab: Lab) -> None:
    """A second malformed envelope is a failed attempt; what the runner knows was used is booked, once."""
    offer = lab.start("code")
    wrong = Malformed(text="{", faults=("status is required",), usage=Usage(tokens_in=10))
    lab.result(offer, None, malformed=wrong)
    (ended,) = lab.result(offer, None, malformed=wrong, submission=2)
    assert (ended.ending and ended.ending.faults) == ("status is required",)
    assert lab.spent()[1] == 10
    assert lab.status("code") == "queued"


def refused_twice(lab: Lab, offer: Dispatch, body: ResultBody) -> Transition:
    """The same form again after it was asked to be mended: what the second one led to."""
    (asked,) = lab.result(offer, body)
    assert asked.kind.value == "correction_requested"
    ended, *_ = lab.result(offer, body, submission=2)
    return ended


def lose(lab: Lab, usage: Usage | None = None) -> Any:
    """A claimed attempt whose worker falls silent."""
    offer = lab.start("code")
    if usage is not None:
        lab.renew(offer, usage)
    lab.forward(31)
    return offer


def test_a_late_result_is_charged_once_and_changes_nothing_else(lab: Lab) -> None:
    """STATE-7, LEASE-4: a result after its lease is a note whose usage replaces what was booked."""
    offer = lose(lab, Usage(tokens_in=1000))
    before = lab.workflow
    (note,) = lab.result(offer, bodies.good(offer, lab, usage=Usage(tokens_in=4000)))
    assert note.kind.value == "late_usage"
    assert lab.spent()[1] == 4000
    assert (lab.workflow.version, lab.status("code")) == (before.version, "queued")
    (again,) = lab.result(offer, bodies.good(offer, lab, usage=Usage(tokens_in=4000)))
    assert again.kind.value == "duplicate"
    assert lab.spent()[1] == 4000


def test_late_usage_is_booked_while_the_next_attempt_is_under_review(lab: Lab) -> None:
    """STATE-7: what an old attempt used is charged whatever its task does meanwhile."""
    old = lose(lab, Usage(tokens_in=1000))
    lab.forward(60)
    new = lab.start("code")
    lab.result(new, bodies.good(new, lab))
    assert lab.status("code") == "awaiting_review"
    (note,) = lab.result(old, bodies.good(old, lab, usage=Usage(tokens_in=1500)))
    assert note.kind.value == "late_usage"
    assert lab.spent()[1] == 1500


def test_a_repeated_result_is_a_duplicate(lab: Lab) -> None:
    """IDEM-1: a second result of the same attempt and submission is recorded as a duplicate and changes nothing."""
    offer = lab.start("code")
    lab.finish(offer, bodies.good(offer, lab))
    version = lab.workflow.version
    (note,) = lab.result(offer, bodies.failed(offer, lab, "PERMANENT_FAILED"))
    assert (note.kind.value, lab.workflow.version) == ("duplicate", version)


OUT_OF_BOUNDS = {
    "nested": '{"revision": ' + "[" * 10_000 + "]" * 10_000 + "}",
    "large": json.dumps({"revision": "x" * 70_000}),
    "twice": '{"revision": "a", "revision": "b"}',
    "no number": '{"revision": NaN}',
    "no object": '["revision"]',
    "no JSON": "done",
}


@pytest.mark.parametrize("output", OUT_OF_BOUNDS.values(), ids=OUT_OF_BOUNDS)
def test_an_output_out_of_bounds_is_refused_and_breaks_nothing(lab: Lab, output: str) -> None:
    """VALID-10: whatever a worker writes as output is judged within bounds; the workflow goes on."""
    offer = lab.start("code")
    ended = refused_twice(lab, offer, bodies.good(offer, lab, output=output))
    assert ended.kind.value == "result_refused"
    assert ended.ending is not None
    assert ended.ending.faults[0].startswith("output")


@pytest.mark.parametrize("usage", [Usage(tokens_in=-1), Usage(tokens_out=2**62), Usage(tool_calls=-5)])
def test_usage_that_can_t_be_is_refused_and_the_reservation_booked(lab: Lab, usage: Usage) -> None:
    """A worker can't earn budget by reporting less than nothing, nor break the books with more than there is."""
    offer = lab.start("code")
    ended = refused_twice(lab, offer, bodies.good(offer, lab, usage=usage))
    assert ended.kind.value == "result_refused"
    assert ended.settlement is not None
    assert ended.settlement.usage.estimated
    assert offer.offer is not None
    assert lab.spent()[1] == offer.offer.remaining.tokens


def test_undeclared_outputs_are_out_of_scope(lab: Lab) -> None:
    """Only declared outputs are accepted."""
    offer = lab.start("code")
    said = bodies.output(offer) | {"extra": 1}
    ended = refused_twice(lab, offer, bodies.good(offer, lab, output=json.dumps(said)))
    assert ended.ending is not None
    assert ended.ending.faults == ("output.extra is not declared (out_of_scope)",)


# inspection


def under_review(lab: Lab, **changed: Any) -> Any:
    offer = lab.start("code")
    lab.result(offer, bodies.good(offer, lab, **changed))
    assert lab.status("code") == "awaiting_review"
    return offer


def test_what_is_missing_refuses_and_is_tried_again(lab: Lab) -> None:
    """A commit that is not there refuses the result, retryable."""
    under_review(lab)
    (ended,) = lab.inspect("missing", only="commit")
    assert (ended.kind.value, lab.status("code")) == ("result_refused", "backing_off")


def test_a_commit_outside_its_paths_is_refused(lab: Lab) -> None:
    """A commit that touches what it may not is refused, and costs the attempt."""
    under_review(lab)
    (ended,) = lab.inspect("mismatch", only="paths")
    assert ended.ending is not None
    assert ended.ending.faults == ("inspection paths: mismatch",)


def test_a_secret_quarantines_and_whoever_else_runs_is_cancelled_and_booked(lab: Lab) -> None:
    """REDACT-3's last line: a secret that slipped through quarantines the workflow; nothing runs on unbooked."""
    lab.finish(lab.start("code"), bodies.good(lab.offer("code"), lab))
    test, lint = lab.start("test"), lab.start("lint")
    lab.renew(lint, Usage(tokens_in=700))
    lab.result(test, bodies.good(test, lab))
    lab.inspect("mismatch", only="secrets")
    assert (lab.workflow.status.value, lab.workflow.stop_reason) == ("quarantined", StopReason.UNTRUSTED_STATE)
    assert [(each.kind, each.task_id) for each in lab.told] == [
        (DispatchKind.CANCEL, "lint"),
        (DispatchKind.CANCEL, "test"),
    ]
    assert lab.spent()[1] == 1500 * 2 + 700


def test_an_inspector_that_can_t_look_is_asked_again_after_a_wait(lab: Lab) -> None:
    """Unreachable costs no attempt and is asked again with back-off; the fifth time the owner has it, all booked."""
    under_review(lab)
    for tries in range(1, 5):
        (retried,) = lab.inspect("unreachable")
        assert (retried.reason, retried.request and retried.request.tries) == ("unreachable", tries)
        (_, phase) = lab.reviews()[0]
        assert phase.ask_until > lab.now
        lab.forward(60)
    (ended,) = lab.inspect("unreachable")
    assert (ended.kind.value, ended.reason) == ("task_escalated", "inspection_unreachable")
    task = lab.workflow.tasks["code"]
    assert (task.attempts_started, task.spent.tokens, task.attempts[0].open) == (1, 1500, False)


def test_an_inspection_that_nobody_answers_ends_too(lab: Lab) -> None:
    """Five requests of 60 s without an answer: escalated, no attempt counted beyond the first."""
    under_review(lab)
    lab.forward(60 * 5 + 1)
    for _ in range(5):
        lab.forward(61)
    assert lab.status("code") == "escalated"
    assert lab.kinds.count("inspection_retried") == 4


def test_a_second_answer_is_stale(lab: Lab) -> None:
    """The fold takes the first answer to a request."""
    under_review(lab)
    _, phase = lab.reviews()[0]
    lab.inspect()
    said = {"request_id": phase.request_id, "task_id": "code", "attempt_id": phase.attempt_id}
    found = lab.receive(Inspection, "inspections", kind=InspectionKind.INSPECTED, **said)
    assert [each.kind.value for each in found] == ["stale"]


STORED = bodies.stored("the whole output")


def test_a_stored_output_that_can_t_be_read_is_refused(lab: Lab) -> None:
    """An output that lies in the store and is missing refuses the result: it is not asked for for ever."""
    under_review(lab, output=None, artefact_ref=STORED)
    (ended,) = lab.inspect("missing", only="output")
    assert ended.kind.value == "result_refused"
    assert ended.ending is not None
    assert "output: the stored object can't be read" in ended.ending.faults


def test_a_stored_output_with_another_hash_quarantines(lab: Lab) -> None:
    """Bytes that are not what was said leave the state in doubt, those of the output too."""
    under_review(lab, output=None, artefact_ref=STORED)
    lab.inspect("mismatch", only="artefact")
    assert lab.workflow.status.value == "quarantined"


def test_what_could_not_be_verified_sends_nobody_to_mend_it(lab: Lab) -> None:
    """A failing run whose report is missing is no reproducible defect: upstream keeps its work."""
    lab.finish(lab.start("code"), bodies.good(lab.offer("code"), lab))
    offer = lab.start("test")
    lab.result(offer, bodies.defect(offer, lab))
    (ended,) = lab.inspect("missing", only="artefact")
    assert (ended.ending and ended.ending.recovery.value) == "retry"
    assert lab.status("code") == "completed"


@pytest.mark.parametrize(
    ("reason", "error_class"), [("capability", ErrorClass.NEEDS_REVIEW), ("ambiguity", ErrorClass.PERMANENT_FAILED)]
)
def test_a_blocked_reason_names_its_own_class(lab: Lab, reason: str, error_class: ErrorClass) -> None:
    """Capability and permission are permanent, input and ambiguity a person's: another class is refused."""
    offer = lab.start("code")
    body = replace(bodies.blocked(offer, lab, reason), error_class=error_class)
    ended = refused_twice(lab, offer, body)
    assert ended.ending is not None
    assert ended.ending.faults == ("error_class does not go with status and blocked_reason",)


@pytest.mark.parametrize("place", ["output", "message", "case"])
def test_a_secret_in_the_words_of_a_result_quarantines_and_is_not_copied(lab: Lab, place: str) -> None:
    """REDACT-2: what a foreign writer let through stops the workflow; no transition repeats it."""
    secret = "ghp_" + "a1B2" * 9
    offer = lab.start("code")
    body = bodies.good(offer, lab)
    leaked = {
        "output": lambda: replace(body, output=json.dumps({"revision": secret})),
        "message": lambda: replace(body, message=f"pushed with {secret}"),
        "case": lambda: replace(body, evidence=tuple(replace(e, passed_cases=(secret,)) for e in body.evidence)),
    }[place]()
    found = lab.result(offer, leaked)
    assert (found[-1].kind.value, found[-1].reason) == ("workflow_quarantined", "secret_found")
    assert lab.workflow.status.value == "quarantined"
    assert secret.encode() not in b"".join(encode("transitions", each) for each in lab.history)


def test_a_result_read_before_its_claim_tells_of_both(lab: Lab) -> None:
    """Claims and results lie on different topics: whichever is read first, the attempt is counted once and accepted."""
    lab.assign()
    offer = lab.offer("code")
    found = lab.result(offer, bodies.good(offer, lab))
    assert [each.kind.value for each in found] == ["claimed", "inspection_requested"]
    assert lab.lease(offer, "claim") == ()
    lab.inspect()
    task = lab.workflow.tasks["code"]
    assert (task.status.value, task.attempts_started) == ("completed", 1)


def test_a_stale_result_read_before_its_claim_begins_nothing(lab: Lab) -> None:
    """It is noted; the claim that follows begins the attempt as ever."""
    lab.assign()
    offer = lab.offer("code")
    body = replace(bodies.good(offer, lab), input_versions=())
    (note,) = lab.result(offer, body)
    assert note.kind.value == "stale"
    assert [each.kind.value for each in lab.lease(offer, "claim")] == ["claimed"]
