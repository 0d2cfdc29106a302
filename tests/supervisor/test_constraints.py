"""Versions that a contract asks for, what a retry is given, and a task's own absolute deadline."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from remit.events.base import ObservedBy
from supervisor.checks.envelope import version_fits
from tests.supervisor import bodies
from tests.supervisor.lab import START, Lab, document


@pytest.mark.parametrize(
    ("found", "wanted", "fits"),
    [
        ("3.11.7", ">=3.11", True),
        ("3.11.7", "3.11", True),
        ("3.11.7", "3.12", False),
        ("3.12.0rc1", "3.12", True),
        ("5.2.19", ">=5.2,<6", True),
        ("6.0", "<6", False),
        ("not a version", "3.12", False),
        ("3.11", "not a specifier", False),
    ],
)
def test_a_version_meets_a_specifier_or_a_prefix(found: str, wanted: str, *, fits: bool) -> None:
    """A bare version stands for all that begin with it; what can't be compared doesn't fit."""
    assert version_fits(found, wanted) is fits


def staffed(wanted: dict[str, Any]) -> Lab:
    """A bench with a worker for each kind of task, and this workflow."""
    lab = Lab()
    for worker_id, pool in {"c1": "coders", "t1": "testers", "r1": "reviewers"}.items():
        lab.register(worker_id, pool)
    lab.submit(wanted)
    return lab


def alone() -> dict[str, Any]:
    """One task that tests its own work, so that nobody upstream could mend it."""
    wanted = document(definition_of_done=["tests pass"])
    wanted["checks"] = {"tests pass": [{"id": "suite", "task": "code", "kind": "test_run", "command": "suite"}]}
    wanted["tasks"] = {"code": wanted["tasks"]["code"]}
    return wanted


def test_versions_are_judged_together_with_the_evidence() -> None:
    """A result made with another language version is refused, and every other fault is told with it."""
    lab = staffed(alone() | {"constraints": {"language": "Python 3.12"}})
    offer = lab.start("code")
    body = bodies.with_evidence(offer, lab, observed_by=ObservedBy.WORKER)
    ended = lab.finish(offer, replace(body, environment={"python": "3.11.7"}))[0].ending
    assert ended is not None
    assert ended.faults[0] == "constraints.language: the runner found Python 3.11.7, the contract asks for 3.12"
    assert any("not observed by the runner" in fault for fault in ended.faults)


def test_a_worker_s_own_record_does_not_mend_what_the_runner_saw(lab: Lab) -> None:
    """VALID-7: a complete record that the agent wrote itself counts for nothing beside a failing observed one."""
    lab.finish(lab.start("code"), bodies.good(lab.offer("code"), lab))
    offer = lab.start("test")
    seen = bodies.with_evidence(offer, lab, exit_status=1)
    own = bodies.with_evidence(offer, lab, observed_by=ObservedBy.WORKER).evidence
    ended = lab.finish(offer, replace(seen, evidence=(*seen.evidence, *own)))[0].ending
    assert ended is not None
    assert any(fault.endswith("what the worker wrote itself is no evidence") for fault in ended.faults)


def test_a_retry_without_rework_is_given_what_failed() -> None:
    """A task that nobody upstream could mend gets the failing evidence with its next attempt."""
    lab = staffed(alone())
    offer = lab.start("code")
    ended = lab.finish(offer, bodies.defect(offer, lab))[0].ending
    assert ended is not None
    assert ended.recovery.value == "retry"
    lab.forward(120)
    again = lab.start("code")
    assert again.offer is not None
    assert [each.failed_cases for each in again.offer.rework] == [("tests.test_it::test_expired",)]


def test_a_task_ends_at_its_own_absolute_deadline() -> None:
    """The earliest of the workflow's end, the task's seconds and the task's absolute deadline is the hard end."""
    wanted = document()
    wanted["tasks"]["code"]["limits"] = {"deadline": (START + timedelta(seconds=90)).isoformat().replace("+00:00", "Z")}
    lab = staffed(wanted)
    lab.start("code")
    assert lab.workflow.tasks["code"].deadline_at == START + timedelta(seconds=90)
