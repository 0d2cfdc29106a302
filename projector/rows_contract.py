"""Rows of a contract, of its requirements at the final gate, and a policy's rate for people's time. Pure."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec

from remit.contract.normal import Limits, Workflow, decode
from remit.documents import parse
from remit.errors import PolicyInvalidError
from remit.events.transitions import ContractAccepted, Transition, WorkflowGate
from remit.policy.model import Prices

from .tables import Row, Values


class ContractUnreadableError(ValueError):
    """The embedded contract is not a normal form that this build knows."""


def readable(accepted: ContractAccepted) -> Workflow:
    """The contract in its typed form, or ContractUnreadableError."""
    try:
        return decode(accepted.document)
    except msgspec.DecodeError as error:
        raise ContractUnreadableError(type(error).__name__) from None


def rows(names: Values, accepted: ContractAccepted, contract: Workflow) -> Iterator[Row]:
    """Rows of a contract that a transition brings."""
    version = {"contract_version": accepted.contract_version}
    yield Row("workflows", {**names, **version, **_header(accepted, contract)})
    for ordinal, task in enumerate(contract.tasks.values(), 1):
        yield Row(
            "tasks",
            {
                **names,
                **version,
                "task_id": task.task_id,
                "ordinal": ordinal,
                "task_type": task.task_type,
                "capability": task.capability,
                "pool": task.pool,
                "objective": task.objective,
                "risk_class": task.risk_class,
                "depends_on": task.depends_on,
                **_budget(task.limits),
                "max_attempts": task.limits.max_attempts,
                "deadline_seconds": task.limits.deadline_seconds,
            },
        )
    for requirement in contract.requirements:
        yield Row(
            "requirements",
            {
                **names,
                **version,
                "requirement_id": requirement.id,
                "text": requirement.text,
                "source": requirement.source,
                "mandatory": requirement.mandatory,
                "security": requirement.security,
                "checks": [check.id for check in requirement.checks],
                "tasks": sorted({check.task for check in requirement.checks}),
            },
        )


def judged(names: Values, event: Transition, gate: WorkflowGate) -> Iterator[Row]:
    """What the final gate found of each requirement."""
    for each in gate.requirements:
        found = {"requirement_id": each.requirement_id, "held": each.held, "judged_at": event.decided_at}
        yield Row("requirements", {**names, **found})


def _header(accepted: ContractAccepted, contract: Workflow) -> dict[str, Any]:
    return {
        "workflow_type": contract.workflow_type,
        "owner": contract.owner,
        "objective": contract.objective,
        "data_classification": contract.data_classification,
        "contract_sha256": accepted.contract_sha256,
        "content_digest": accepted.content_digest,
        "submitter": accepted.submitter,
        "proposed_by": accepted.proposed_by,
        "approved_by": accepted.approved_by,
        "submitted_at": accepted.submitted_at,
        "deadline_at": accepted.deadline_at,
        **_budget(contract.limits),
    }


def _budget(limits: Limits) -> dict[str, Any]:
    return {
        "max_cost_gbp": limits.max_cost_gbp,
        "max_tokens": limits.max_tokens,
        "max_tool_calls": limits.max_tool_calls,
    }


def human_minute(document: str) -> tuple[Decimal | None, str | None]:
    """Pounds per minute of a person's time and the environment, by a policy's text; None where it can't be read."""
    try:
        policy = parse(document, is_json=False, error=PolicyInvalidError)
        prices = Prices.model_validate(policy.get("prices", {}))
    except (PolicyInvalidError, ValueError):
        return None, None
    environment = policy.get("environment")
    return prices.human_minute, environment if isinstance(environment, str) else None
