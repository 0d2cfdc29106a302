"""Effective limits: never unlimited, shared by the tasks, and within one another."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.contract.limits import SHARED
from remit.contract.normal import Workflow
from remit.policy.model import LimitsModel, Policy

LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "deadline_seconds": st.integers(1, 2_592_000),
        "max_tokens": st.integers(1, 200_000),
        "max_tool_calls": st.integers(1, 1000),
        "max_cost_gbp": st.decimals("0.01", 50, places=4).map(str),
        "max_attempts": st.integers(1, 5),
    },
)


def test_what_is_left_out_comes_from_the_policy(
    small: dict[str, Any], policy: Policy, normal_form: Callable[..., Workflow]
) -> None:
    """VALID-5: a contract without limits gets each of the policy's defaults, none is missing."""
    limits = msgspec.structs.asdict(normal_form(small).limits)
    for field in LimitsModel.model_fields:
        assert limits[field] == getattr(policy.limits.default, field)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(limits=LIMITS, tasks=st.integers(1, 20))
def test_shares_never_pass_the_whole(
    limits: dict[str, Any], tasks: int, small: dict[str, Any], normal_form: Callable[..., Workflow]
) -> None:
    """Every task has a limit of each kind, at least 1, and the shares add up to the workflow's or one each."""
    document = {**small, "limits": limits, "tasks": {f"t{number}": {"task_type": "shell"} for number in range(tasks)}}
    document["checks"] = {"it ran": [{"id": "ran", "kind": "command", "command": "run", "task": "t0"}]}
    workflow = normal_form(document)
    for field in SHARED:
        whole = getattr(workflow.limits, field)
        shares = [getattr(task.limits, field) for task in workflow.tasks.values()]
        assert all(share is not None and share > 0 for share in shares)
        assert sum(shares) <= max(whole, tasks if isinstance(whole, int) else Decimal(0))
    assert all(task.limits.max_attempts == workflow.limits.max_attempts for task in workflow.tasks.values())


@pytest.mark.parametrize(("own", "expected"), [(4, 4), (None, 3)])
def test_a_task_may_ask_for_more_attempts_than_the_default(
    own: int | None, expected: int, small: dict[str, Any], normal_form: Callable[..., Workflow]
) -> None:
    """A ceiling per task that the workflow leaves out is the policy's default, lifted to what a task asks for."""
    small["tasks"]["a"]["limits"] = {} if own is None else {"max_attempts": own}
    workflow = normal_form(small)
    assert (workflow.limits.max_attempts, workflow.tasks["a"].limits.max_attempts) == (expected, expected)
