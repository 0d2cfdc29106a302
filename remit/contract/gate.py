"""The contract gate: what a submitted document must be before anything is dispatched.

Pure; supervisor and CLI call it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from remit.contract import normal
from remit.policy.model import Policy


def normalise(
    document: Mapping[str, Any],
    policy: Policy,
    *,
    now: datetime,
    workflow_id: str | None = None,
    tenant_id: str | None = None,
    resolved: bool = False,
) -> normal.Workflow:
    """The normal form of a workflow file, bare contract or task envelope; raises ContractInvalidError with all faults.

    `now` is the record's append time (aware). `workflow_id` and `tenant_id` are those of the record's key, if it has
    one: a document that names others is invalid. With `resolved`, references that `submit` resolves are refused.
    """
    raise NotImplementedError


def amend(current: normal.Workflow, draft: Mapping[str, Any], policy: Policy, *, now: datetime) -> normal.Workflow:
    """The normal form of a drafted next version; raises ContractInvalidError naming whatever widens."""
    raise NotImplementedError
