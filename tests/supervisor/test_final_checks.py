"""A check that must hold at the end speaks of the last revision, or the workflow is not accepted."""

from typing import Any

import pytest

from supervisor.decide.acceptance import Standing, standing
from tests.supervisor import bodies
from tests.supervisor.lab import Lab, document
from tests.supervisor.test_rework import accept


def checks_of(lab: Lab) -> dict[str, Standing]:
    """Where every check stands."""
    contract = lab.workflow.contract
    every = (check for requirement in contract.requirements for check in requirement.checks)
    return {check.id: standing(lab.workflow, check) for check in every}


@pytest.fixture
def fixed(older_gate: None) -> Lab:  # noqa: ARG001
    """Tests, lint and review were made on r1; then a fix at r2 was accepted."""
    lab = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers", "t2": "testers", "r1": "reviewers"}.items():
        lab.register(worker_id, pool)
    wanted: dict[str, Any] = document()
    wanted["tasks"]["fix"] = wanted["tasks"]["code"] | {
        "inputs": {"repo": "task://code/revision"},
        "depends_on": ["review"],
    }
    found = lab.submit(wanted)
    assert found[0].kind.value == "contract_accepted", found[0].rejection
    accept(lab, "code", "test", "lint", "review", "fix")
    return lab


def test_each_final_check_is_listed_with_both_revisions_and_own_ones_stay_valid(fixed: Lab) -> None:
    """VALID-8: the gate is not passed; what was made on r1 says so and names r2; a check held at `own` still holds."""
    first, last = (bodies.revision_of(fixed.offer(each)) for each in ("code", "fix"))
    assert fixed.workflow.status.value == "escalated"
    assert fixed.workflow.development_acceptance == "pending"
    assert checks_of(fixed) == {
        "committed": Standing("committed", "final", (first,), (last,), held=False),
        "suite": Standing("suite", "final", (first,), (last,), held=False),
        "lint": Standing("lint", "own", (first,), (first,), held=True),
        "review": Standing("review", "final", (first,), (last,), held=False),
    }


def test_once_every_final_check_was_made_on_the_last_revision_it_is_accepted(lab: Lab) -> None:
    """VALID-8: a defect makes r2; nothing is accepted until test and review, too, were made on r2."""
    accept(lab, "code")
    first = bodies.revision_of(lab.offer("code"))
    offer = lab.start("test")
    lab.finish(offer, bodies.defect(offer, lab))
    accept(lab, "code")
    last = bodies.revision_of(lab.offer("code"))
    assert last != first
    for task_id in ("test", "lint", "review"):
        assert "workflow_accepted" not in lab.kinds
        accept(lab, task_id)
    assert lab.kinds[-1] == "workflow_accepted"
    assert {each.made_on for each in checks_of(lab).values()} == {(last,)}
    assert all(each.held for each in checks_of(lab).values())
