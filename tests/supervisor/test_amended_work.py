"""What an amendment leaves as it is: ends that people moved, counts, defects that were found, and who was stopped."""

from typing import Any

from remit.events import inputs as events
from supervisor.inbox import inbox
from tests.supervisor import bodies
from tests.supervisor.lab import Lab, document
from tests.supervisor.test_amendment import LESS_TOKENS, amend


def staffed(wanted: dict[str, Any]) -> Lab:
    """A bench with a worker for each task, and this workflow."""
    lab = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers", "t2": "testers", "r1": "reviewers"}.items():
        lab.register(worker_id, pool)
    lab.submit(wanted)
    return lab


# Ends.


def answer(lab: Lab) -> None:
    """Have the owner let the one open item's task be tried again."""
    (item,) = inbox(lab.workflow)
    said = {"person": "user:priya", "resolution": "retry", "reason": "yes", "content_sha256": item.content_sha256}
    lab.receive(events.Decision, "decisions", kind=events.DecisionKind.RESOLVE, item_id=item.item_id, **said)


def test_a_deadline_that_a_wait_for_a_person_moved_bars_no_amendment() -> None:
    """The document still names the instant from before the wait, of workflow and task; another one is judged."""
    wanted = document(limits={"deadline": "2026-03-01T13:00:00Z"})
    wanted["tasks"]["lint"]["limits"] = {"deadline": "2026-03-01T13:00:00Z"}
    lab = staffed(wanted)
    offer = lab.start("code")
    lab.finish(offer, bodies.needs_review(offer, lab))
    lab.forward(7200)
    answer(lab)
    ends = lab.workflow.deadline_at
    assert ends is not None
    assert ends > lab.now
    (amended,) = amend(lab, LESS_TOKENS)
    assert amended.kind.value == "contract_amended"
    assert lab.workflow.deadline_at == ends
    (note,) = amend(lab, {"limits": {"deadline": "2026-03-01T12:59:59Z"}}, base=2)
    assert note.rejection is not None
    assert note.rejection.faults == ("limits.deadline lies in the past",)
