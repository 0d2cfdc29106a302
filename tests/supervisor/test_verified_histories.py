"""Random histories under a policy that verifies: the laws hold, and no test rests on one worker alone."""

from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from remit.events.transitions import TransitionKind
from tests.supervisor.lab import Lab
from tests.supervisor.test_histories import WORKERS, History, check, gentle, moves
from tests.supervisor.test_verification import VERIFYING


class Verified(History):
    """The bench, with testers that verify each other."""

    def __init__(self) -> None:
        self.lab = Lab(text=VERIFYING.replace(", limits: {max_tokens: 1}", ""))
        self.meets = set()
        for worker_id, pool in (WORKERS | {"t3": "testers"}).items():
            self.lab.register(worker_id, pool, slots=2)
        self.lab.submit()


def seen_twice(lab: Lab) -> None:
    """Whoever verified did not make it, and did it on the same subject; what is accepted was verified."""
    tasks = lab.workflow.tasks
    for task in lab.workflow.contract.tasks.values():
        if task.verifies is None:
            continue
        verified, verification = tasks[task.verifies], tasks[task.task_id]
        if verification.status.value == "completed":
            assert verification.author not in {verified.author, tasks["code"].author, None}
            assert verification.subject == verified.subject
    if "workflow_accepted" in lab.kinds:
        assert {task_id for task_id in tasks if task_id.endswith(".verify")} == {"test.verify", "lint.verify"}
        assert all(task.status.value == "completed" for task in tasks.values())
    told = [each for each in lab.history if each.ending and each.ending.outcome == "disagreed"]
    assert all((each.task_id or "").endswith(".verify") for each in told)
    assert not [each for each in told if each.kind is TransitionKind.RESULT_ACCEPTED]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(gentle, gentle, moves), max_size=60))
def test_no_history_breaks_a_law_or_goes_round_a_verifier(played: list[tuple[Any, ...]]) -> None:
    """Laws 1 to 7 and 10, with verifications among the tasks; each that is accepted is another worker's."""
    history = Verified()
    for move in played:
        history.play(move)
    note(" ".join(history.lab.kinds))
    check(history)
    seen_twice(history.lab)
