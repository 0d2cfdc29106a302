"""Contract versions that a worker drafted: judged with its result, adopted with its acceptance. Pure."""

import json
from collections.abc import Iterator
from typing import Any

from remit import ids
from remit.contract.amend import amend
from remit.contract.normal import Workflow as Contract
from remit.errors import ContractInvalidError, FaultyDocumentError
from remit.events.transitions import AcceptedOutput

from ..amendment import undone
from .unit import Unit
from .versions import next_version, take_effect, unfit

BY_RULE = "rule:only_tightens"


def drafted(unit: Unit, drafts: list[AcceptedOutput], task_id: str) -> list[tuple[Contract, str]]:
    """The next versions with the digests of the task's drafts, each on top of the one before.

    Raises ContractInvalidError naming whatever a draft widens or breaks.
    """
    return list(_versions(unit, drafts, task_id))


def _versions(unit: Unit, drafts: list[AcceptedOutput], task_id: str) -> Iterator[tuple[Contract, str]]:
    contract = unit.workflow.contract
    for draft in drafts:
        document = json.loads(draft.value or "null")
        if not isinstance(document, dict):
            raise ContractInvalidError([f"{draft.name} must be an object"])
        digest = _digest(draft.name, document)
        try:
            contract = amend(contract, document, unit.facts.policy, now=unit.facts.now)
        except FaultyDocumentError as error:
            raise ContractInvalidError([f"{draft.name}.{fault}" for fault in error.faults]) from None
        if faults := _untenable(unit, contract, task_id):
            raise ContractInvalidError([f"{draft.name}.{fault}" for fault in faults])
        yield contract, digest


def _untenable(unit: Unit, contract: Contract, task_id: str) -> list[str]:
    """A draft that voids its own result is drafted anew, and could be so without end."""
    own = undone(unit.workflow, contract, task_id)
    return [*unfit(unit.workflow, contract), *(f"tasks.{each} is what this result itself rests on" for each in own)]


def _digest(name: str, document: dict[str, Any]) -> str:
    try:
        return ids.digest(document)
    except ValueError:
        raise ContractInvalidError([f"{name}: a number is out of range"]) from None


def adopt(unit: Unit, drafts: list[AcceptedOutput], task_id: str, worker_id: str) -> None:
    """Let the drafted versions hold from here on; attempts on a task contract that changed are cancelled."""
    for contract, digest in drafted(unit, drafts, task_id):
        record = next_version(
            unit.workflow, contract, content_digest=digest, proposed_by=worker_id, approved_by=BY_RULE
        )
        take_effect(unit, contract, record, task_id=task_id)
