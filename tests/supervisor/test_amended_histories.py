"""Random histories with amendments and proposed tasks in them: no law is broken, and each comes to an end."""

import json
from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from remit.events.service import Dispatch
from tests.supervisor import bodies
from tests.supervisor.lab import Lab, document
from tests.supervisor.test_amendment import MORE_CHECKS, WITHOUT_LINT, amend, decide
from tests.supervisor.test_histories import FAILING, GOOD, WORKERS, WORKING, History, check, to_its_end

LINT = {"id": "lint", "task": "lint", "kind": "command", "command": "lint", "holds_at": "own"}
EXTRA = {
    "task_type": "test",
    "depends_on": ["code"],
    "inputs": {"revision": "task://code/revision"},
    "permissions": {"repository": "execute"},
}
AMENDMENTS: tuple[dict[str, Any], ...] = (
    MORE_CHECKS,
    WITHOUT_LINT,
    {"tasks": {"code": {"limits": {"max_tokens": 9000}}}},
    {"tasks": {"code": {"limits": {"max_attempts": 4}}}, "limits": {"max_attempts": 4}},
    {"tasks": {"code": {"objective": "Mend it otherwise"}}},
    {"tasks": {"code": {"permissions": {"paths": ["src/a/**"]}}}},
    {"tasks": {"extra": EXTRA, "review": {"depends_on": ["test", "lint", "extra"]}}},
    {"tasks": {"review": {"depends_on": ["test"]}}},
    {"limits": {"deadline_seconds": 5000, "max_workers": 1}},
    {"checks": {"lint is clean": [LINT, {**LINT, "id": "again"}]}},
    {"owner": "user:zoe"},
    {"constraints": {"language": "Python >=3.11"}},
    {"tasks": {"extra": EXTRA | {"depends_on": ["lint"]}}},
)
a_version = st.sampled_from([0, 0, 0, 1])
CHANGING = {
    "amend": st.tuples(st.just("amend"), st.sampled_from(AMENDMENTS), a_version),
    "decide": st.tuples(st.just("decide"), st.sampled_from(["approve", "approve", "refuse"])),
    "spawning": st.tuples(st.just("spawning"), st.integers(0, 2), st.integers(0, 3)),
}
STOPPING = {"cancel": st.tuples(st.just("cancel"), st.just("lint"))}
NAMES = [*sorted(WORKING) * 6, *["work"] * 20, *sorted(FAILING), *sorted(CHANGING) * 8, *sorted(STOPPING) * 2]
moves = st.sampled_from(NAMES).flatmap((WORKING | FAILING | CHANGING | STOPPING).__getitem__)


class Amended(History):
    """Histories in which the contract moves on, by clients, people and workers."""

    def __init__(self) -> None:
        super().__init__()
        self.lab = Lab()
        for worker_id, pool in WORKERS.items():
            self.lab.register(worker_id, pool, slots=3)
        wanted = document()
        for task in wanted["tasks"].values():
            task["spawn"] = {"types": ["code", "test", "review"], "max_subtasks": 2}
        wanted["limits"] = {"max_depth": 2, "max_tasks": 8}
        wanted["checks"]["noted"] = [{"id": "noted", "kind": "document", "output": "note", "holds_at": "own"}]
        wanted["tasks"]["review"]["definition_of_done"] = ["noted"]
        wanted["tasks"]["review"]["outputs"]["note"] = "document"
        self.lab.submit(wanted)

    def amend(self, said: dict[str, Any], behind: int) -> None:
        amend(self.lab, said, base=self.lab.workflow.contract_version - behind)

    def decide(self, kind: str) -> None:
        if self.lab.workflow.proposed:
            decide(self.lab, kind)

    def result(self, offer: Dispatch, kind: str) -> None:
        """No command stands behind what the tasks show that came later."""
        if offer.task_id not in document()["tasks"]:
            self.meets.add(offer.attempt_id)
        super().result(offer, kind)

    def spawning(self, number: int, many: int) -> None:
        """A worker's good result, with further tasks in it."""
        if not self.lab.offers:
            self.lab.assign()
        if not self.lab.offers:
            return
        offer = self.lab.offers[-1 - number % len(self.lab.offers)]
        proposed = [self._proposal(offer.task_id, each) for each in range(many)]
        self.meets.add(offer.attempt_id)
        self.lab.lease(offer, "claim")
        self.lab.finish(offer, bodies.good(offer, self.lab, subtasks=json.dumps(proposed)))
        self.lab.assign()

    @staticmethod
    def _proposal(task_id: str, number: int) -> dict[str, Any]:
        return {
            "id": f"{task_id}-{number}"[:100],
            "task_type": "review",
            "objective": f"Look at {number}",
            "outputs": {"note": "document"},
            "permissions": {"repository": "read-only"},
            "definition_of_done": ["noted"],
        }


def test_the_moves_reach_what_they_are_for() -> None:
    """The histories below are no empty promise: children are taken up, versions follow, evidence is voided."""
    history = Amended()
    history.lab.assign()
    history.spawning(0, 3)
    assert {"code-0", "code-1"} <= history.lab.workflow.tasks.keys()
    history.amend(AMENDMENTS[4], 0)
    history.decide("approve")
    assert (history.lab.status("code"), history.lab.status("code-0")) == ("queued", "waiting")
    history.lab.assign()
    history.spawning(0, 3)
    assert history.lab.workflow.tasks["code"].status.value == "completed"
    refused = [each.accepted.refused_subtasks for each in history.lab.history if each.accepted][-1]
    assert {each.reason for each in refused} == {"task_limit"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(moves, max_size=25), st.data())
def test_no_amended_history_breaks_a_law(played: list[tuple[Any, ...]], data: st.DataObject) -> None:
    """Laws 1 to 7 and 10 hold while contracts change under the work; left to good workers, all comes to an end."""
    history = Amended()
    for move in played:
        history.play(move)
    to_its_end(history, lambda: data.draw(st.sampled_from([GOOD, GOOD, "defect"])))
    note(" ".join(history.lab.kinds))
    check(history)
    assert not history.lab.workflow.open or history.lab.workflow.status.value == "escalated"
