"""The contract gate: what a submitted document must be before anything is dispatched.

Pure; supervisor and CLI call it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NoReturn

from remit.contract import normal
from remit.contract.bare import Expanded, expand_contract, expand_envelope, kind_of
from remit.contract.build import build
from remit.contract.file import TaskContractFile, TaskEnvelopeFile, WorkflowFile
from remit.contract.filled import Filled
from remit.contract.repair import Reading, read
from remit.contract.rules import RULES, Rule, limits
from remit.contract.verification import with_verifications
from remit.errors import ContractInvalidError
from remit.faults import Fault, lines
from remit.ids import digest
from remit.instants import aware
from remit.policy.model import Policy

MAX_NORMAL_BYTES = 1024 * 1024  # leaves room for a transition around it in a 2 MiB record
_UNNAMED = 12


def normalise(
    document: Mapping[str, Any],
    policy: Policy,
    *,
    now: datetime,
    workflow_id: str | None = None,
    tenant_id: str | None = None,
    resolved: bool = False,
    approved: normal.Workflow | None = None,
) -> normal.Workflow:
    """The normal form of a workflow file, bare contract or task envelope; raises ContractInvalidError with all faults.

    `now` is the record's append time (aware). `workflow_id` and `tenant_id` are those of the record's key, if it has
    one: a document that names others is invalid. A workflow without any id is named by its content. With `resolved`,
    references that `submit` resolves are refused. `approved` is the version in force that this one follows: a deadline
    that stays as it is there need not lie ahead, for a wait for a person moves the end and not the document.
    """
    aware(now, "now")
    reading, expanded = _understand(document, policy)
    if expanded is None:
        _refuse(reading.faults, document)
    is_bare = not isinstance(reading.model, WorkflowFile)
    filled = Filled(expanded.file, policy, now, is_bare=is_bare, resolved=resolved, approved=approved)
    faults = [
        *_key_faults(filled, workflow_id, tenant_id),
        *(fault for rule in _rules(filled) for fault in rule(filled)),
    ]
    placed = [Fault(expanded.place(fault.path), fault.text) for fault in faults]
    found = [*reading.faults, *(fault for fault in placed if not reading.concerns_doubtful(fault.path))]
    if found:
        _refuse(found, document)
    workflow = build(
        filled,
        workflow_id or filled.file.workflow_id or f"workflow-{digest(document)[:_UNNAMED]}",
        tenant_id or filled.file.tenant_id or policy.default_tenant,
        expanded.workflow_type,
    )
    workflow = with_verifications(workflow, filled)
    _check_size(workflow)
    return workflow


def _understand(document: Mapping[str, Any], policy: Policy) -> tuple[Reading[Any], Expanded | None]:
    """What the document says, and the workflow that it stands for (None where too little is left of it)."""
    model = kind_of(document)
    if isinstance(model, Fault):
        return Reading(None, (model,), frozenset()), None
    reading = read(document, model)
    expanded = _expand(reading.model, policy)
    if isinstance(expanded, Fault):
        found = () if reading.concerns_doubtful(expanded.path) else (expanded,)
        return Reading(None, (*reading.faults, *found), reading.doubtful), None
    return reading, expanded


def _expand(model: object, policy: Policy) -> Expanded | Fault | None:
    match model:
        case WorkflowFile():
            return Expanded(model, model.workflow_type or "workflow", lambda path: path)
        case TaskContractFile():
            return expand_contract(model, policy)
        case TaskEnvelopeFile():
            return expand_envelope(model, policy)
    return None


def _rules(filled: Filled) -> Iterable[Rule]:
    """All rules; for more tasks than any workflow may have only the one that says so, for others compare pairs."""
    most = filled.policy.limits.max.max_tasks
    return RULES if most is None or len(filled.tasks) <= most else (limits.faults,)


def _key_faults(filled: Filled, workflow_id: str | None, tenant_id: str | None) -> list[Fault]:
    keys = (("workflow_id", workflow_id, filled.file.workflow_id), ("tenant_id", tenant_id, filled.file.tenant_id))
    return [
        Fault((field,), "is not the one that it was submitted under")
        for field, key, named in keys
        if key is not None and named is not None and key != named
    ]


def _check_size(workflow: normal.Workflow) -> None:
    size = len(normal.encode(workflow).encode())
    if size > MAX_NORMAL_BYTES:
        raise ContractInvalidError([f"size: {size} bytes in normal form, at most {MAX_NORMAL_BYTES}"])


def _refuse(faults: Iterable[Fault], document: Mapping[str, Any]) -> NoReturn:
    raise ContractInvalidError(lines(faults, document))
